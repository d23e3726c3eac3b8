"""An experiment as a page stores it: run once, natively, with its default state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import panel as pn

from app import live
from app.experiments.experiment import Drawing, Experiment
from app.probes.options import OPTIONS
from app.ui.controls import Control, Pick


class PrerenderError(RuntimeError):
    """An experiment does not come to its end with its default state."""


@dataclass(frozen=True)
class Prerendered:
    """All that the templates need of one experiment; nothing in it can compute any more."""

    name: str
    question: str
    first: Sequence[Control]
    """The controls beside the question: what matters most, and what only chooses how to look."""
    more: Sequence[Control]
    sliders: frozenset[str]
    """Names of the controls that do not show their value themselves."""
    needs: Mapping[str, str]
    """Controls that are shown in some states only, and in which (`boards.shown_when`)."""
    buttons: Sequence[Control]
    figures: Sequence[Figure]
    captions: Mapping[str, str]
    """Of all that can be saved as a picture, by slot: the figures, and drawings among the parts."""
    drawings: Sequence[Drawing]
    parts: Mapping[str, str]
    """HTML of "sentence", "table", "details", "notice"."""
    stored: Mapping[str, Any]
    """What the page stores for its scripts: document, roots, digest, state, options."""


@dataclass(frozen=True)
class Figure:
    slot: str
    caption: str
    height: int
    """Pixels, to be kept free until it is painted."""


_finished: dict[str, Experiment] = {}
"""By name, in whatever language was first: numbers are the same in all of them."""


def prerender(name: str, language: str) -> Prerendered:
    """Build the experiment, run it to its end, keep what it shows.

    Raises PrerenderError when it does not get ready.
    """
    experiment, built = live.fresh(name, language)
    experiment.learn(_finished.setdefault(name, experiment))
    while experiment.step():
        pass
    if experiment.status != "ready":
        raise PrerenderError(
            f"The experiment {name!r} ends as {experiment.status!r} with its default state, "
            "but a page must show it ready."
        )
    controls = list(experiment.controls.values())
    painted = [c for c in controls if not isinstance(c, Pick)]
    first = [c for c in painted if c.name in experiment.first or c.name not in OPTIONS]
    return Prerendered(
        name=name,
        question=experiment.question,
        first=first,
        more=[control for control in painted if control not in first],
        sliders=frozenset(c.name for c in painted if isinstance(c.widget, pn.widgets.IntSlider)),
        needs=experiment.needs,
        buttons=list(experiment.buttons.values()),
        figures=[
            Figure(slot, experiment.captions[slot], int(figure.height or 0))
            for slot, figure in experiment.figures.items()
        ],
        captions=experiment.captions,
        drawings=experiment.drawings,
        parts=experiment.parts(),
        stored={
            **built.stored(),
            "state": experiment.state(),
            "options": [_option(control) for control in controls],
        },
    )


def _option(control: Control) -> dict[str, Any]:
    """As `web/state.js` reads it; `names` are the choices as the page calls them."""
    option = control.option
    assert option is not None
    return {
        "name": option.name,
        "kind": option.kind,
        "low": option.low,
        "high": option.high,
        "choices": list(option.choices) or None,
        "names": [control.named(choice) for choice in option.choices] or None,
        "default": option.format(option.default),
    }
