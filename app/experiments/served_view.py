"""One experiment among ordinary Panel widgets, and how its pieces look in a served lesson."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

import panel

from app.experiments import EXPERIMENTS
from app.experiments.experiment import Experiment
from app.nn.wirings import WIRINGS
from app.ui import diagram, markup
from app.ui.controls import Control, Pick

pn: Any = panel  # which has no types

_SHEET = "\n".join(
    (Path(__file__).parents[1] / "web" / name).read_text(encoding="utf-8")
    for name in ("style.css", "experiment.css", "boards.css", "media.css")
)
# Beside the site's own sheet, inside the shadow root of each piece.
_PIECE = """
:host { font-family: var(--nl-font); font-size: 1rem; line-height: 1.55; color: var(--nl-ink); }
.help { color: var(--nl-muted); font-size: 0.875rem; margin: 0; }
table { border-collapse: collapse; font-size: 0.85rem; }
th, td { padding: 0.2rem 0.7rem; border-bottom: 1px solid var(--nl-rule); text-align: end; }
:is(th, td):first-child { text-align: start; }
svg.diagram { width: 13rem; }
.step { list-style: none; }
.step > h3::before { display: none; } /* a piece does not know how many steps came before it */
"""
_FRAME = {"border": "1px solid var(--nl-edge)", "border-radius": "12px", "padding": "16px"}
_PLACES = ("notice", "sentence", "table", "details", "terminal")
_log = logging.getLogger(__name__)


class Served:
    """One experiment among ordinary Panel widgets."""

    def __init__(
        self,
        name: str,
        language: str,
        arguments: Mapping[str, str],
        wake: Callable[[Served], object],
    ) -> None:
        self.experiment: Experiment = EXPERIMENTS[name](language)
        self._take(arguments)
        self.wake = wake
        self.working = True
        self.parts = {place: html_pane("") for place in _PLACES}
        self.extra = pn.Column()  # what else the experiment writes, for a board on the page
        for control in self.experiment.controls.values():
            if not isinstance(control, Pick):
                control.on_change(partial(self._moved, control))
        for action, control in self.experiment.buttons.items():
            control.on_press(partial(self.press, action))

    def set(self, name: str, value: str) -> None:
        self.experiment.set({name: value})
        self._go_on()

    def press(self, action: str) -> None:
        self.experiment.press(action)
        self._go_on()

    def step(self) -> None:
        """One slice; an error ends the work of this experiment and is said in its place."""
        try:
            self.working = self.experiment.step()
        except Exception:  # noqa: BLE001  the other experiments of the page go on
            self.working = False
            _log.exception("the experiment %r broke off", self.experiment.name)
        self._write()

    def _take(self, arguments: Mapping[str, str]) -> None:
        """The state that an address asks for, as far as it concerns this experiment."""
        name, options = self.experiment.name, self.experiment.controls
        general = {key: value for key, value in arguments.items() if key in options}
        own = {
            key.removeprefix(f"{name}."): value
            for key, value in arguments.items()
            if key.startswith(f"{name}.")
        }
        if general | own:
            self.experiment.set(general | own)

    def _moved(self, control: Control, _: Any) -> None:
        self.set(control.name, control.text)

    def _go_on(self) -> None:
        self.working = True
        self._write()
        self.wake(self)

    def _write(self) -> None:
        for place, html in self.experiment.parts().items():
            if place not in self.parts:
                self.parts[place] = html_pane("")
                self.extra.append(self.parts[place])
            if self.parts[place].object != html:
                self.parts[place].object = html

    # ------------------------------------------------------------------ how it looks

    def view(self) -> Any:
        it, say = self.experiment, self.experiment.say
        buttons = [control.widget for control in it.buttons.values()]
        return pn.Column(
            html_pane(f"<h2>{markup.text(it.question)}</h2>"),
            pn.FlexBox(*map(self._control, it.controls.values()), gap="1rem"),
            pn.Row(*buttons),
            self.parts["notice"],
            self.parts["sentence"],
            self.extra,
            pn.FlexBox(*self._figures(), gap="1rem"),
            self._wirings(),
            pn.Card(self.parts["table"], title=say("site.data"), collapsed=True),
            pn.Card(
                self.parts["details"],
                self.parts["terminal"],
                title=say("site.details"),
                collapsed=True,
            ),
            css_classes=[f"experiment-{it.name}"],
            styles=_FRAME,
            margin=(16, 0),
            sizing_mode="stretch_width",
        )

    def _control(self, control: Control) -> Any:
        help = f'<p class="help">{markup.text(control.help)}</p>'
        label = html_pane(f"<strong>{markup.text(control.label)}</strong>")
        if isinstance(control, Pick):
            assert control.option is not None
            widget = pn.widgets.Select(options=list(control.option.choices), value=control.value)
            widget.param.watch(lambda event: self.set(control.name, event.new), "value")
            return pn.Column(label, widget, html_pane(help), width=260)
        said = html_pane("")
        if isinstance(control.widget, pn.widgets.IntSlider):  # the others show their value
            said.object = markup.text(control.said)
            control.on_change(lambda _: said.param.update(object=markup.text(control.said)))
        return pn.Column(pn.Row(label, said), control.widget, html_pane(help), width=260)

    def _figures(self) -> Iterator[Any]:
        captions = self.experiment.captions
        for slot, plot in self.experiment.figures.items():
            yield pn.Column(
                html_pane(markup.text(captions[slot])),
                pn.pane.Bokeh(plot, sizing_mode="stretch_width"),
                styles={"flex": "1 1 460px", "min-width": "340px"},
            )

    def _wirings(self) -> Any:
        drawn = [_wiring(name, self.experiment) for name in self.experiment.wirings]
        return pn.Card(
            pn.FlexBox(*drawn, gap="2rem"),
            title=self.experiment.say("site.wirings"),
            collapsed=True,
            visible=bool(drawn),
        )


def _wiring(name: str, experiment: Experiment) -> Any:
    say, wiring = experiment.say, WIRINGS[name]
    drawn = diagram.diagram(wiring, say, f"{experiment.name}-{name}")
    words = f"<strong>{markup.text(say(f'wiring.{name}'))}</strong>"
    return html_pane(f"{drawn}<p>{words}<br>{tex(diagram.formula(wiring))}</p>", as_on_site=True)


def tex(formula: str, display: bool = False) -> str:
    """A formula for MathJax, which Panel brings along."""
    start, end = (r"\[", r"\]") if display else (r"\(", r"\)")
    return f"{start}{escape(formula, quote=False)}{end}"


def html_pane(html: str, *, as_on_site: bool = False) -> Any:
    """HTML with its formulas; with the site's whole style sheet only where it takes that."""
    return pn.pane.HTML(
        html,
        disable_math=False,
        stylesheets=[_SHEET, _PIECE] if as_on_site else [_PIECE],
        sizing_mode="stretch_width",
        margin=(4, 8),
    )
