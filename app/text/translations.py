"""One lesson in its languages: all there, and all saying as much."""

from collections.abc import Sequence
from itertools import zip_longest
from pathlib import Path

from app.text import traditional
from app.text.errors import TextError
from app.text.markdown import Document, read


def read_lesson(folder: Path, languages: Sequence[str]) -> dict[str, Document]:
    """A lesson's texts by language; the first language is the one the others translate.

    Traditional Chinese has no text of its own, it is made from the Simplified one.

    Raises TextError if a language is missing, or if a translation lacks a heading, box,
    directive, displayed formula or source that the first language has, or has one more.
    """
    documents: dict[str, Document] = {}
    for language in languages:
        if language == traditional.LANGUAGE:
            documents[language] = traditional.convert_document(documents[traditional.SOURCE])
            continue
        path = folder / f"{language}.md"
        if not path.is_file():
            raise TextError(path, None, f"the lesson has no text in {language}.")
        documents[language] = read(path)
    original = documents[languages[0]]
    for translation in documents.values():
        check_translation(original, translation)
    return documents


def check_translation(original: Document, translation: Document) -> None:
    """Raises TextError at the first place where the two texts part."""
    for mine, theirs in zip_longest(translation.skeleton, original.skeleton):
        if mine is None:
            raise TextError(
                translation.path,
                None,
                f"the {theirs[0]} of {original.path.name}:{theirs[1]} is not translated.",
            )
        if theirs is None or mine[0] != theirs[0]:
            there = f"line {theirs[1]} has the {theirs[0]}" if theirs else "it ends before"
            raise TextError(
                translation.path,
                mine[1],
                f"here is the {mine[0]}, but in {original.path.name} {there}.",
            )
    for key in sorted(original.cited ^ translation.cited):
        lacking = translation if key in original.cited else original
        raise TextError(lacking.path, None, f"the source @{key} is cited in one language only.")
