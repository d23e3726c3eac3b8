"""One word for one thing: texts and strings are held to the glossary of their language."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from app.text import read_lesson, read_sources
from app.text.traditional import convert
from app.ui.strings import FOLDER, LANGUAGES, WRITTEN, converted
from tests.text.texts import FOLDERS, LESSONS

SOURCES = read_sources(LESSONS / "sources.toml")
Piece = tuple[str, str]  # where it stands, what it says


def glossary(language: str) -> dict[str, dict[str, Any]]:
    path = LESSONS / "glossary" / f"{language}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def of_texts(language: str) -> Iterator[Piece]:
    for folder in FOLDERS:
        document = read_lesson(folder, LANGUAGES)[language]
        for words, line in document.words:
            yield f"{document.path.relative_to(LESSONS.parent)}:{line}", words


def of_strings(language: str) -> Iterator[Piece]:
    files = converted() if language not in WRITTEN else {
        path.name: path.read_text(encoding="utf-8")
        for path in (Path(str(FOLDER)) / language).glob("*.toml")
    }  # fmt: skip
    for name, content in files.items():
        for number, line in enumerate(content.splitlines(), start=1):
            yield f"strings/{language}/{name}:{number}", said(line)


def said(line: str) -> str:
    """What a line of TOML says: no comment, no table's name, no key, no place to be filled in."""
    return "" if line.startswith(("#", "[")) else re.sub(r"^[\w.-]+ *= *|\{\w+\}", "", line)


def variant(text: str) -> re.Pattern[str]:
    """As glossary/en.toml says: a whole word, in any case unless it has a capital."""
    edge = r"[\w-]" if text.isascii() else r"(?!)"
    flags = re.IGNORECASE if text == text.lower() else 0
    return re.compile(f"(?<!{edge}){re.escape(text)}(?!{edge})", flags)


def offences(language: str, pieces: Iterator[Piece]) -> list[str]:
    refused = [
        (variant(text), entry["word"])
        for entry in glossary(language).values()
        for text in entry.get("not", [])
    ]
    return [
        f"{place}: “{found[0]}”; say “{word}”"
        for place, text in pieces
        for pattern, word in refused
        if (found := pattern.search(without_titles(text)))
    ]


def without_titles(text: str) -> str:
    """Papers keep their own words."""
    for source in SOURCES.values():
        text = text.replace(source.title, "")
    return text


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts_say_what_the_glossary_says(language: str) -> None:
    assert offences(language, of_texts(language)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_strings_say_what_the_glossary_says(language: str) -> None:
    assert offences(language, of_strings(language)) == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_is_there_in_every_language_and_is_used(language: str) -> None:
    terms = glossary(language)
    assert set(terms) == set(glossary(LANGUAGES[0]))
    everything = "\n".join(text for _, text in (*of_texts(language), *of_strings(language)))
    for term in terms.values():
        words = re.split("[,，、] ?", term["word"])
        assert any(word.lower() in everything.lower() for word in words), term


def test_no_variant_is_a_part_of_a_word_that_is_wanted() -> None:
    for language in LANGUAGES:
        wanted = [term["word"] for term in glossary(language).values()]
        for term in glossary(language).values():
            for text in term.get("not", []):
                assert not any(variant(text).search(word) for word in wanted), text


def test_what_is_converted_is_what_was_looked_at() -> None:
    simplified, traditional = glossary("zh-Hans"), glossary("zh-Hant")
    for key, term in simplified.items():
        assert convert(term["word"]) == traditional[key]["word"]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("en", "A small Step size.", "“Step size”; say “learning rate”"),
        ("en", "in post-LN stacks", "“post-LN”; say “Post-LN”"),
        ("en", "The initial state and the post-normal one", None),
        ("en", "../warmup is an address, warm-up a word", "“warmup”; say “warm-up”"),
        ("en", "On Layer Normalization in the Transformer Architecture", None),
        ("zh-Hans", "这个亚层", "“亚层”; say “子层”"),
        ("zh-Hant", "這個函式", "“函式”; say “函數”"),
    ],
)
def test_an_offence_is_named_with_its_place_and_the_right_word(
    language: str, text: str, found: str | None
) -> None:
    expected = [f"here:1: {found}"] if found else []
    assert offences(language, iter([("here:1", text)])) == expected
