"""The papers that lessons cite: one list, in no language but the papers' own."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from app.text.errors import TextError


@dataclass(frozen=True)
class Source:
    """One entry of `lessons/sources.toml`."""

    key: str
    authors: str
    year: int
    title: str
    where: str
    url: str

    @property
    def language(self) -> str:
        """Of its title, as a screen reader must know it."""
        return "zh-Hans" if re.search("[\u4e00-\u9fff]", self.title) else "en"


@dataclass
class Citation:
    """A source as one text cites it: its number there, and the anchors that lead back."""

    number: int
    source: Source
    anchors: list[str] = field(default_factory=list)


def read_sources(path: Path) -> dict[str, Source]:
    """Raises TextError if an entry lacks a field or its address is no https address."""
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TextError(path, None, f"this is not TOML: {error}.") from error
    return {key: _source(path, key, table) for key, table in tables.items()}


def _source(path: Path, key: str, table: Mapping[str, object]) -> Source:
    try:
        source = Source(key=key, **table)  # type: ignore[arg-type]
    except TypeError as error:
        raise TextError(path, None, f"the source {key!r} is incomplete: {error}.") from error
    if not source.url.startswith("https://"):
        raise TextError(path, None, f"the address of the source {key!r} must be https.")
    return source
