"""A lesson as an ordinary Panel app, for its authors: `panel serve lessons/warmup/lesson.py --dev`.

The lesson's text with its experiments in between, computed natively, in a window that loads itself
anew when a file changes. An address may hold a language and a state, as a page's: `?lang=zh-Hans`,
`?depth=24`, `?sensitivity.depth=24`. What a page makes of the same, with its own script and style,
is seen with `build.py serve`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

import panel
from bokeh.document import Document

from app import text
from app.experiments.served_view import Served, html_pane, tex
from app.nn.wirings import WIRINGS
from app.text import Directive
from app.ui import diagram, theme
from app.ui.strings import FOLDER, LANGUAGES, WRITTEN, Strings, strings

pn: Any = panel  # which has no types

_PAGE = "body { background: var(--nl-paper); color: var(--nl-ink); }"
_CUT = re.compile(r"<!--experiment (\w+)-->")


def serve(file: str) -> None:
    """Show the lesson of this `lesson.py` in the session that runs it.

    Raises TextError for whatever is wrong with the lesson's text; Panel shows it in the page.
    """
    pn.extension("mathjax")
    folder = Path(file).parent
    if pn.config.autoreload:
        strings.cache_clear()
        for path in (*folder.glob("*.md"), *Path(str(FOLDER)).rglob("*.toml")):
            pn.io.reload.watch(str(path))
    arguments = {name: values[-1].decode() for name, values in pn.state.session_args.items()}
    wanted = arguments.pop("lang", LANGUAGES[0])
    language = wanted if wanted in LANGUAGES else LANGUAGES[0]
    known = [each for each in LANGUAGES if each in (language, *WRITTEN)]
    document = text.read_lesson(folder, known)[language]
    pump = Pump()
    say = strings(language)
    pieces: list[Any] = [html_pane(f"<h1>{escape(document.meta['title'])}</h1>")]
    for html, name in _pieces(document, folder, say):
        if html.strip():
            pieces.append(html_pane(html, as_on_site=True))
        if name:
            served = Served(name, language, arguments, pump.wake)
            pump.add(served)
            pieces.append(served.view())
    pn.config.raw_css = [theme.css() + _PAGE]
    column = pn.Column(*pieces, max_width=1100, margin=(0, 24))
    column.servable(title=document.meta["title"])
    pn.state.onload(pump.wake)  # not before somebody looks


class Pump:
    """Computes in slices, between a session's own events: what was touched last comes first."""

    def __init__(self) -> None:
        self.document: Document | None = pn.state.curdoc
        self.order: list[Served] = []
        self.due = False

    def add(self, served: Served) -> None:
        self.order.append(served)

    def wake(self, first: Served | None = None) -> None:
        if first is not None:
            self.order.remove(first)
            self.order.insert(0, first)
        if not self.due and self.document is not None and self.document.session_context:
            self.due = True
            self.document.add_next_tick_callback(self.slice)

    def slice(self) -> None:
        self.due = False
        for served in self.order:
            if served.working:
                served.step()
                break
        if any(served.working for served in self.order):
            self.wake()


# ---------------------------------------------------------------------------- text


def _pieces(document: text.Document, folder: Path, say: Strings) -> Iterator[tuple[str, str]]:
    """The text cut where experiments stand: (HTML, the experiment that follows it, or "").

    A cut may go through a list or a box; browsers close and open those by themselves.
    """

    def formula(directive: Directive) -> str:
        (name,) = directive.arguments
        title = escape(say(f"wiring.{name}"))
        return f"<p>{title}: {tex(diagram.formula(WIRINGS[name]))}</p>"

    rendered = text.render(
        document,
        formulas=lambda formula: tex(formula.tex, formula.display),
        directives={
            "experiment": lambda directive: f"<!--experiment {directive.arguments[0]}-->",
            "formula": formula,
        },
        sources=text.read_sources(folder.parent / "sources.toml"),
    )
    cut = [*_CUT.split(rendered.html), ""]
    yield from zip(cut[::2], cut[1::2], strict=True)
