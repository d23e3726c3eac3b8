"""Markdown with directives → HTML.

The Markdown is CommonMark with tables; raw HTML is shown as the text it is. Besides:

    ## A heading {#its-address}           every heading has one, the same in all languages
    $x$, $$x$$                            formulas (TeX)
    [@liu2020, Corollary 2]               a citation: numbered, linked to the list of sources
    ::experiment sensitivity              a directive in one line
    :::note A title                       a box, closed by a line `:::`; boxes nest by more colons
    :::answer A question                  a box that opens when its title is pressed
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from app.text.errors import TextError
from app.text.formulas import Formula

_BOXES = ("answer", "note", "question", "steps", "step", "try")
_META = ("title", "short", "description")


@dataclass(frozen=True)
class Directive:
    """`::experiment sensitivity` → name "experiment", arguments ("sensitivity",)."""

    name: str
    arguments: tuple[str, ...]
    path: Path
    line: int
    level: int = 2
    """Of a heading that stands in its place: one below the heading above it, when rendered."""


@dataclass(frozen=True)
class Heading:
    level: int
    id: str
    text: str


@dataclass(frozen=True)
class Document:
    """A parsed text, not yet rendered."""

    path: Path
    meta: Mapping[str, str]
    tokens: Sequence[Token]

    @property
    def formulas(self) -> list[Formula]:
        return [
            Formula(token.content.strip(), token.type == "math_block", self.path, line)
            for token, line in walk(self.tokens)
            if token.type in ("math_inline", "math_block")
        ]

    @property
    def directives(self) -> list[Directive]:
        return [
            directive_of(token, self.path, line)
            for token, line in walk(self.tokens)
            if token.type == "directive"
        ]

    @property
    def headings(self) -> list[Heading]:
        return [
            Heading(int(token.tag[1]), str(token.attrs["id"]), _plain(self.tokens[i + 1]))
            for i, token in enumerate(self.tokens)
            if token.type == "heading_open"
        ]

    @property
    def skeleton(self) -> list[tuple[str, int]]:
        """What a translation must have too, in this order: (what, line)."""
        parts = []
        for token, line in walk(self.tokens):
            match token.type:
                case "heading_open":
                    parts.append((f"heading {token.tag} {{#{token.attrs['id']}}}", line))
                case "directive":
                    parts.append((f"directive ::{token.info}", line))
                case "container_box_open":
                    parts.append((f"box :::{token.info.split()[0]}", line))
                case "math_block":
                    parts.append((f"formula {token.content.strip()}", line))
        return parts

    @property
    def words(self) -> list[tuple[str, int]]:
        """All that a reader reads besides formulas and code, piece by piece: (text, line)."""
        pieces = [(value, 1) for value in self.meta.values()]
        for token, line in walk(self.tokens):
            match token.type:
                case "text":
                    pieces.append((token.content, line))
                case "citation":
                    pieces.append((token.meta["locator"], line))
                case "container_box_open":
                    pieces.append((token.info.strip().partition(" ")[2], line))
        return pieces

    @property
    def links(self) -> list[tuple[str, int]]:
        """The addresses that the text links to: (address, line)."""
        return [
            (str(token.attrs["href"]), line)
            for token, line in walk(self.tokens)
            if token.type == "link_open"
        ]

    @property
    def cited(self) -> set[str]:
        return {t.meta["key"] for t, _ in walk(self.tokens) if t.type == "citation"}


def read(path: Path) -> Document:
    """Parses one text. Raises TextError for whatever does not depend on its surroundings."""
    text = path.read_text(encoding="utf-8")
    tokens = PARSER.parse(text, {"path": path})
    meta = _meta(path, tokens)
    tokens = [token for token in tokens if token.type != "front_matter"]
    _check_boxes(path, tokens, text.splitlines())
    _check_emphasis(path, tokens)
    _address_headings(path, tokens)
    return Document(path, meta, tokens)


# ------------------------------------------------------------------ parsing


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "typographer": True})
    parser.enable(["table", "smartquotes"])  # no "replacements": Figure 3(c) would be 3©
    parser.use(front_matter_plugin)
    parser.use(dollarmath_plugin, allow_labels=False, allow_space=False, allow_digits=False)
    parser.use(container_plugin, "box", validate=lambda _params, _markup: True)
    parser.block.ruler.before(
        "paragraph", "directive", _parse_directive, {"alt": ["paragraph", "list"]}
    )
    parser.inline.ruler.before("link", "citation", _parse_citation)
    return parser


def _parse_directive(state: StateBlock, start: int, _end: int, silent: bool) -> bool:
    """`::name argument …`, alone on its line."""
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    if not line.startswith("::") or line.startswith(":::"):
        return False
    if silent:
        return True
    state.line = start + 1
    token = state.push("directive", "", 0)
    token.info = line[2:].strip()
    token.map = [start, start + 1]
    token.block = True
    return True


_CITATION = re.compile(r"\[@(?P<key>[a-z0-9-]+)(?:[,，]\s*(?P<locator>[^\]]+))?\]")


def _parse_citation(state: StateInline, silent: bool) -> bool:
    found = _CITATION.match(state.src, state.pos)
    if not found:
        return False
    if not silent:
        token = state.push("citation", "", 0)
        token.meta = {"key": found["key"], "locator": found["locator"] or ""}
    state.pos = found.end()
    return True


def _meta(path: Path, tokens: Sequence[Token]) -> dict[str, str]:
    """The front matter: `key: value` lines, all of them required, none evaluated."""
    if not tokens or tokens[0].type != "front_matter":
        raise TextError(path, 1, f"the text must begin with --- and its {', '.join(_META)}.")
    meta = {}
    for offset, line in enumerate(tokens[0].content.splitlines(), start=2):
        key, colon, value = line.partition(":")
        if not colon or key.strip() not in _META:
            raise TextError(path, offset, f"expected one of {', '.join(_META)} and a colon.")
        meta[key.strip()] = value.strip()
    for key in _META:
        if not meta.get(key):
            raise TextError(path, 1, f"the front matter has no {key}.")
    return meta


def _check_boxes(path: Path, tokens: Sequence[Token], written: Sequence[str]) -> None:
    for token in tokens:
        if token.type != "container_box_open" or token.map is None:
            continue
        line = token.map[0] + 1
        name = token.info.split()[0] if token.info.split() else ""
        if name not in _BOXES:
            raise TextError(
                path, line, f'there is no box ":::{name}"; there are {", ".join(_BOXES)}.'
            )
        if name == "answer" and token.info.strip() == name:
            raise TextError(path, line, 'the box ":::answer" needs a title to press.')
        # markdown-it closes an open box at the end of the text without a word.
        last = written[token.map[1]].strip() if token.map[1] < len(written) else ""
        if not re.fullmatch(f":{{{len(token.markup)},}}", last):
            raise TextError(path, line, f'the box ":::{name}" is never closed.')


def _check_emphasis(path: Path, tokens: Sequence[Token]) -> None:
    """CommonMark takes `**` between Chinese punctuation and a Chinese word for plain stars."""
    for token, line in walk(tokens):
        if token.type == "text" and "**" in token.content:
            raise TextError(
                path, line, "here stand two stars; emphasis must not end with punctuation."
            )


_ADDRESS = re.compile(r"\s*\{#([a-z][a-z0-9-]*)\}\s*$")


def _address_headings(path: Path, tokens: Sequence[Token]) -> None:
    """Takes `{#address}` off each heading and makes it the heading's id."""
    seen: set[str] = set()
    for token, inline in pairwise(tokens):
        if token.type != "heading_open":
            continue
        line = (token.map or [0])[0] + 1
        children = inline.children or []
        found = _ADDRESS.search(children[-1].content) if children else None
        if not found:
            raise TextError(path, line, "the heading has no address; end it with {#address}.")
        if found[1] in seen:
            raise TextError(path, line, f"the address {{#{found[1]}}} is taken already.")
        seen.add(found[1])
        children[-1].content = children[-1].content[: found.start()]
        token.attrSet("id", found[1])


def walk(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Every token with its line (counted from 1), inline ones too."""
    for token in tokens:
        line = (token.map or [0])[0] + 1
        yield token, line
        for child in token.children or []:
            yield child, line
            line += child.type in ("softbreak", "hardbreak")


def _plain(inline: Token) -> str:
    return "".join(t.content for t in inline.children or [] if t.type in ("text", "code_inline"))


def directive_of(token: Token, path: Path, line: int) -> Directive:
    name, *arguments = token.info.split() or [""]
    return Directive(name, tuple(arguments), path, line)


PARSER = _parser()
