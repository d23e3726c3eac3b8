"""Traditional Chinese from Simplified, at build time: OpenCC's profile s2twp and our exceptions.

Only words are converted. Formulas, code, addresses, the names of directives and whatever stands in
another language are left as they are.
"""

from __future__ import annotations

import re
import tomllib
from copy import deepcopy
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from markdown_it.token import Token

from app.text.markdown import Document

LANGUAGE, SOURCE = "zh-Hant", "zh-Hans"
EXCEPTIONS = Path(__file__).with_suffix(".toml")

_LEFT_ALONE = r"\$[^$\n]*\$"  # a formula in a string of the interface


def convert(text: str) -> str:
    """A plain text, or a whole file of strings (its keys are Latin): all but its formulas."""
    words, pattern = _exceptions()
    done, end = [], 0
    for found in pattern.finditer(text):
        done += [_open_cc().convert(text[end : found.start()]), words.get(found[0], found[0])]
        end = found.end()
    return "".join([*done, _open_cc().convert(text[end:])])


def convert_document(document: Document) -> Document:
    """A lesson's text. Its path stays the source's: that is where a mistake is to be mended."""
    return replace(
        document,
        meta={key: convert(value) for key, value in document.meta.items()},
        tokens=[_converted(token) for token in document.tokens],
    )


def _converted(token: Token) -> Token:
    token = deepcopy(token)
    match token.type:
        case "text":
            token.content = convert(token.content)
        case "citation":
            token.meta["locator"] = convert(token.meta["locator"])
        case "container_box_open":
            name, blank, title = token.info.strip().partition(" ")
            token.info = name + blank + convert(title)
    if "title" in token.attrs:
        token.attrs["title"] = convert(str(token.attrs["title"]))
    if token.children is not None:
        token.children = [_converted(child) for child in token.children]
    return token


@cache
def _exceptions() -> tuple[dict[str, str], re.Pattern[str]]:
    words: dict[str, str] = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["words"]
    longest_first = sorted(words, key=len, reverse=True)
    return words, re.compile("|".join([_LEFT_ALONE, *map(re.escape, longest_first)]))


@cache
def _open_cc() -> Any:
    from opencc import OpenCC  # here: a build brings it, a lesson that runs need not have it

    return OpenCC("s2twp")
