"""A parsed text → HTML: one rule per kind of token that is not CommonMark's own."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import Any

from markdown_it.renderer import RendererHTML
from markdown_it.token import Token

from app import lines
from app.text.errors import TextError
from app.text.formulas import Formula
from app.text.markdown import PARSER, Directive, Document, directive_of, walk
from app.text.sources import Citation, Source


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


def render(
    document: Document,
    *,
    formulas: Callable[[Formula], str],
    directives: Mapping[str, Callable[[Directive], str]],
    sources: Mapping[str, Source],
) -> Rendered:
    """HTML of a text. Raises TextError for an unknown directive, source or broken formula."""
    context = _Context(document, formulas, directives, sources)
    html = PARSER.renderer.render(document.tokens, PARSER.options, {"context": context})
    return Rendered(html, list(context.citations.values()))


# ------------------------------------------------------------------ rules

_Rule = Callable[[RendererHTML, Sequence[Token], int, Any, Any], str]


_NAMED = re.compile(r'<a [^>]*data-source="([^"]+)"')  # a source that an experiment names


def _render_directive(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    context: _Context = env["context"]
    line = (tokens[index].map or [0])[0] + 1
    directive = replace(
        directive_of(tokens[index], context.document.path, line), level=_level_below(tokens[:index])
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
    if display:
        return f'<div class="formula">{html}</div>\n'
    return lines.glued(html, _apart(tokens, index - 1)[2], _apart(tokens, index + 1)[0])


def _render_text(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, _env: Any
) -> str:
    return lines.unbroken(escape(_apart(tokens, index)[1]))


def _apart(tokens: Sequence[Token], index: int) -> tuple[str, str, str]:
    """The words of a token, and of them what belongs to the formulas on either side."""
    if not 0 <= index < len(tokens) or tokens[index].type != "text":
        return "", "", ""
    after, before = (
        0 <= place < len(tokens) and tokens[place].type == "math_inline"
        for place in (index - 1, index + 1)
    )
    return lines.apart(tokens[index].content, after=after, before=before)


def _render_citation(
    _renderer: RendererHTML, tokens: Sequence[Token], index: int, _options: Any, env: Any
) -> str:
    context: _Context = env["context"]
    key, locator = tokens[index].meta["key"], tokens[index].meta["locator"]
    line = next((line for t, line in walk(context.document.tokens) if t is tokens[index]), None)
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

for _name, _rule in _RULES.items():
    PARSER.add_render_rule(_name, _rule)
