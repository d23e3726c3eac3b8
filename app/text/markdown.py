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
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token
from mdit_py_plugins.container import container_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.front_matter import front_matter_plugin

from app import lines
from app.text.errors import TextError
from app.text.formulas import Formula
from app.text.sources import Citation, Source

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
            for token, line in _walk(self.tokens)
            if token.type in ("math_inline", "math_block")
        ]

    @property
    def directives(self) -> list[Directive]:
        return [
            _directive(token, self.path, line)
            for token, line in _walk(self.tokens)
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
        for token, line in _walk(self.tokens):
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
        for token, line in _walk(self.tokens):
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
            for token, line in _walk(self.tokens)
            if token.type == "link_open"
        ]

    @property
    def cited(self) -> set[str]:
        return {t.meta["key"] for t, _ in _walk(self.tokens) if t.type == "citation"}


@dataclass(frozen=True)
class Rendered:
    html: str
    citations: Sequence[Citation]


@dataclass
class _Context:
    """What the renderer's rules need to know; travels in markdown-it's `env`."""

    document: Document
    formulas: Callable[[Formula], str]
    directives: Mapping[str, Callable[[Directive], str]]
    sources: Mapping[str, Source]
    citations: dict[str, Citation] = field(default_factory=dict)
    steps: int = 0

    def cite(self, key: str, line: int | None) -> Citation:
        """The source of that key with its number: the next one, if it was not cited before."""
        if key not in self.sources:
            raise TextError(self.document.path, line, f'there is no source "@{key}".')
        return self.citations.setdefault(key, Citation(len(self.citations) + 1, self.sources[key]))


def read(path: Path) -> Document:
    """Parses one text. Raises TextError for whatever does not depend on its surroundings."""
    text = path.read_text(encoding="utf-8")
    tokens = _PARSER.parse(text, {"path": path})
    meta = _meta(path, tokens)
    tokens = [token for token in tokens if token.type != "front_matter"]
    _check_boxes(path, tokens, text.splitlines())
    _check_emphasis(path, tokens)
    _address_headings(path, tokens)
    return Document(path, meta, tokens)


def render(
    document: Document,
    *,
    formulas: Callable[[Formula], str],
    directives: Mapping[str, Callable[[Directive], str]],
    sources: Mapping[str, Source],
) -> Rendered:
    """HTML of a text. Raises TextError for an unknown directive, source or broken formula."""
    context = _Context(document, formulas, directives, sources)
    html = _PARSER.renderer.render(document.tokens, _PARSER.options, {"context": context})
    return Rendered(html, list(context.citations.values()))


# Parsing


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
    for name, rule in _RULES.items():
        parser.add_render_rule(name, rule)
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
    for token, line in _walk(tokens):
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


def _walk(tokens: Sequence[Token]) -> Iterator[tuple[Token, int]]:
    """Every token with its line (counted from 1), inline ones too."""
    for token in tokens:
        line = (token.map or [0])[0] + 1
        yield token, line
        for child in token.children or []:
            yield child, line
            line += child.type in ("softbreak", "hardbreak")


def _plain(inline: Token) -> str:
    return "".join(t.content for t in inline.children or [] if t.type in ("text", "code_inline"))


def _directive(token: Token, path: Path, line: int) -> Directive:
    name, *arguments = token.info.split() or [""]
    return Directive(name, tuple(arguments), path, line)


# Rendering: one rule per kind of token

_Rule = Callable[[RendererHTML, Sequence[Token], int, Any, Any], str]


_NAMED = re.compile(r'<a [^>]*data-source="([^"]+)"')  # a source that an experiment names


def _render_directive(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    context: _Context = env["context"]
    line = (tokens[index].map or [0])[0] + 1
    directive = replace(
        _directive(tokens[index], context.document.path, line), level=_level_below(tokens[:index])
    )
    if directive.name not in context.directives:
        raise TextError(
            context.document.path,
            line,
            f'there is no directive "::{directive.name}"; '
            f"there are {', '.join(context.directives)}.",
        )
    html = context.directives[directive.name](directive)
    for key in dict.fromkeys(_NAMED.findall(html)):
        context.cite(key, line).anchors.append(directive.arguments[0])
    return html


def _level_below(tokens: Sequence[Token]) -> int:
    """The level of a heading below the last of these. A step's title is one of the third level."""
    for token in reversed(tokens):
        if token.type == "heading_open":
            return int(token.tag[1]) + 1
        if token.type == "container_box_open" and token.info.split()[0] == "step":
            return 4
    return 2


def _render_formula(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    context: _Context = env["context"]
    token = tokens[index]
    display = token.type == "math_block"
    line = token.map[0] + 1 if token.map else None
    html = context.formulas(Formula(token.content.strip(), display, context.document.path, line))
    return f'<div class="formula">{html}</div>\n' if display else html


def _render_text(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    after, before = (
        0 <= place < len(tokens) and tokens[place].type == "math_inline"
        for place in (index - 1, index + 1)
    )
    words = lines.glued(tokens[index].content, after=after, before=before)
    return lines.unbroken(escape(words))


def _render_citation(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    context: _Context = env["context"]
    key, locator = tokens[index].meta["key"], tokens[index].meta["locator"]
    line = next((line for t, line in _walk(context.document.tokens) if t is tokens[index]), None)
    citation = context.cite(key, line)
    anchor = f"cite-{citation.number}-{len(citation.anchors) + 1}"
    citation.anchors.append(anchor)
    label = f"{citation.number}, {locator}" if locator else str(citation.number)
    title = f"{citation.source.authors} ({citation.source.year}), {citation.source.title}"
    return (
        f'<a class="cite" id="{anchor}" href="#source-{citation.number}"'
        f' title="{escape(title)}">[{escape(label)}]</a>'
    )


def _open_link(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    """A link to another page, or to a setting, takes the reader's colours along (web/shell.js). A
    place on this page needs none: with them it would be another address, and be loaded anew."""
    if not re.match(r"#|[a-z]+:", str(tokens[index].attrs["href"])):
        tokens[index].attrSet("data-carries", "itself")
    return renderer.renderToken(tokens, index, options, env)


def _open_box(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    name, _, title = tokens[index].info.strip().partition(" ")
    title = escape(title.strip())
    match name:
        case "steps":
            env["context"].steps = 0
            return '<ol class="steps flow wide">\n'
        case "step":
            env["context"].steps += 1
            return f'<li class="step flow wide"><h3 id="step-{env["context"].steps}">{title}</h3>\n'
        case "answer":
            return f'<details class="box answer"><summary>{title}</summary>\n'
        case _:
            head = f'<p class="box-title">{title}</p>\n' if title else ""
            return f'<div class="box {name}" role="note">{head}'


def _close_box(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    depth = 1
    for token in reversed(tokens[:index]):
        depth += (token.type == "container_box_close") - (token.type == "container_box_open")
        if depth == 0:
            name = token.info.split()[0]
            return _CLOSINGS.get(name, "</div>\n")
    raise AssertionError("a box is closed that was never opened")


_CLOSINGS = {"answer": "</details>\n", "step": "</li>\n", "steps": "</ol>\n"}


def _open_table(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    """A table may be wider than a phone: it scrolls by itself, with the keyboard too."""
    above = (t.attrs["id"] for t in reversed(tokens[:index]) if t.type == "heading_open")
    label = next((f' aria-labelledby="{address}"' for address in above), "")
    return f'<div class="text-table" role="region" tabindex="0"{label}>\n<table>\n'


def _close_table(
    _renderer: RendererHTML, _tokens: Sequence[Token], _index: int, _options: Any, _env: Any
) -> str:
    return "</table>\n</div>\n"


_RULES: dict[str, _Rule] = {
    "directive": _render_directive,
    "math_inline": _render_formula,
    "math_block": _render_formula,
    "citation": _render_citation,
    "text": _render_text,
    "link_open": _open_link,
    "container_box_open": _open_box,
    "container_box_close": _close_box,
    "table_open": _open_table,
    "table_close": _close_table,
}

_PARSER = _parser()
