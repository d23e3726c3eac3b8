"""Every word that an experiment shows, by language: `strings("en")("sensitivity.sentence", n=3)`.

The words stand in `strings/<language>/`, one folder per language, the same files and keys in each:
one file per experiment, and what they share in `options`, `experiment` and `page`. {places} are
filled in. A text may have plural forms; its table then holds `one` and `other`, and `n` chooses.

Traditional Chinese has no folder in the repository. It is made from the Simplified files: by the
build for the browser, which has no OpenCC, and by `strings` itself everywhere else.
"""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

WRITTEN = ("en", "zh-Hans")
CONVERTED = "zh-Hant"
LANGUAGES = (*WRITTEN, CONVERTED)

FOLDER = files(__package__) / "strings"
_PLURAL_FORMS = {"one", "other"}


class Strings:
    """The texts of one language, found by dotted key.

    A missing key or a missing value raises KeyError: a hole in a sentence is a bug, and is
    better found by a test than by a reader.
    """

    def __init__(self, language: str, texts: Mapping[str, str | dict[str, str]]) -> None:
        self.language = language
        self._texts = dict(texts)

    def __call__(self, key: str, **values: object) -> str:
        text = self._texts[key]
        if isinstance(text, dict):
            text = text[_plural_form(self.language, values["n"])]
        return text.format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    def names(self) -> set[str]:
        """Every key there is."""
        return set(self._texts)

    def raw(self, key: str) -> str | dict[str, str]:
        """The text as it stands in the file, its places still open."""
        return self._texts[key]

    def table(self, name: str) -> dict[str, str | dict[str, str]]:
        """All texts under one table, by the rest of their key: what the page's JS is given."""
        start = name + "."
        return {k.removeprefix(start): v for k, v in self._texts.items() if k.startswith(start)}


@cache
def strings(language: str) -> Strings:
    if language not in LANGUAGES:
        raise ValueError(
            f"There are no texts in the language {language!r}; there are {', '.join(LANGUAGES)}."
        )
    folder = FOLDER / language
    contents = converted() if language == CONVERTED and not folder.is_dir() else _contents(folder)
    texts: dict[str, Any] = {}
    for name, content in contents.items():
        for key, text in _flat(tomllib.loads(content)):
            if key in texts:
                raise ValueError(f"{language}/{name}: the text {key!r} stands elsewhere too.")
            texts[key] = text
    return Strings(language, texts)


def converted() -> dict[str, str]:
    """The files of Traditional Chinese by name, made from the Simplified ones. Needs OpenCC."""
    from app.text import traditional  # here: what the browser has of us holds no `text`

    contents = _contents(FOLDER / traditional.SOURCE)
    return {name: traditional.convert(content) for name, content in contents.items()}


def _contents(folder: Traversable) -> dict[str, str]:
    found = sorted(folder.iterdir(), key=lambda file: file.name)
    return {file.name: file.read_text(encoding="utf-8") for file in found}


def _flat(tables: Mapping[str, Any], start: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tables.items():
        if isinstance(value, dict) and set(value) != _PLURAL_FORMS:
            yield from _flat(value, f"{start}{name}.")
        else:
            yield start + name, value


def _plural_form(language: str, n: object) -> str:
    """Chinese has one form; both stand in its file so that the keys stay the same."""
    return "one" if n == 1 and language == "en" else "other"
