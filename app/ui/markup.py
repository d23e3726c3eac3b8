"""Small pieces of HTML that an experiment's words are put into. All text is escaped here."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape

from app import lines
from app.ui import references

_BETWEEN_HAN = re.compile(r"(?<=[\u4e00-\u9fff）]) (?=[\u4e00-\u9fff])")
_TIGHT = re.compile(
    r"(?<=\S) (?=[=+±×≤…%] ?)|(?<= [=+±×≤…]) |(?<=R²) |(?<=ln) (?=N)|(?<=\d) (?=[kMGTP]\b)"
)


@dataclass(frozen=True)
class Table:
    """A data table: its columns have a name (the CSV's), a heading and texts, one per row.

    The first column heads its rows. `groups` stand over the headings: (words, how many columns).
    `numbers`: the rows for programs, where texts are shortened for readers.
    """

    name: str
    caption: str
    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[str]]
    groups: Sequence[tuple[str, int]] = ()
    numbers: Sequence[Sequence[str | float]] = ()


@lru_cache(maxsize=2048)  # most words of one answer stand in the next one, too
def text(words: str) -> str:
    """Escaped, and so spaced that no formula breaks at the end of a line. A Chinese word that was
    filled in where a Latin one would stand off gets no spaces. `[@paper]` becomes a link."""
    words = _BETWEEN_HAN.sub("", words)
    escaped = escape(_TIGHT.sub("\N{NO-BREAK SPACE}", words), quote=False)
    return references.linked(lines.unbroken(escaped))


def sentences(texts: Iterable[str], between: str) -> str:
    """Sentences of one paragraph, each its own element: the first can be set larger."""
    return between.join(f"<span>{text(sentence)}</span>" for sentence in texts)


def on_its_way(sentence: str) -> str:
    """In the place of what is not there yet; the page holds the place open meanwhile."""
    return f"<span data-on-its-way>{text(sentence)}</span>"


def paragraphs(sentences: Iterable[str]) -> str:
    return "".join(f"<p>{text(sentence)}</p>" for sentence in sentences)


def descriptions(pairs: Iterable[tuple[str, str]]) -> str:
    inner = "".join(f"<div><dt>{text(t)}</dt><dd>{text(d)}</dd></div>" for t, d in pairs)
    return f"<dl>{inner}</dl>"


def table(data: Table) -> str:
    head = "".join(
        f'<th scope="col" data-column="{escape(name)}">{text(words)}</th>'
        for name, words in data.columns
    )
    groups = "".join(
        f'<th scope="colgroup" colspan="{width}">{text(words)}</th>'
        if words
        else f'<td colspan="{width}"></td>'
        for words, width in data.groups
    )
    rows = "".join(
        f'<tr><th scope="row">{text(row[0])}</th>'
        + "".join(f"<td>{text(cell)}</td>" for cell in row[1:])
        + "</tr>"
        for row in data.rows
    )
    return (
        f'<table data-table="{escape(data.name)}"><caption>{text(data.caption)}</caption><thead>'
        + (f"<tr>{groups}</tr>" if groups else "")
        + f"<tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    )
