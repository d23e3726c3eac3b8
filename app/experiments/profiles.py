"""What the experiments share that draw a quantity layer by layer, for Post-LN and Pre-LN."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from app.experiments.experiment import Experiment
from app.nn.wirings import BASE
from app.probes import NUMBERS_VERSION
from app.probes.options import OPTIONS, Option
from app.probes.result import Result
from app.ui.controls import Control, number, select, slider, switch
from app.ui.figures import NEUTRAL, Chart
from app.ui.numbers import significant, with_error
from app.ui.scales import apart, finite
from app.ui.strings import Strings
from app.ui.theme import SERIES, Series

SEEDS = (1, 2, 4, 8, 16, 24, 48, 96)
TOKENS = (1, 2, 3, 5, 8, 16, 32)
RULE = Series(NEUTRAL, (4, 4), "dash", width=1.5)  # what is claimed or allowed, and belongs to none
LAW = Series(NEUTRAL, (), "dash")
ALONE = Series("#1f8a70", (1, 3), "circle", width=2.5)  # LayerNorm by itself, in neither wiring


def among(name: str, values: Sequence[int], default: int) -> Option:
    """An option of the table, narrowed to some whole numbers."""
    return replace(OPTIONS[name], low=values[0], high=values[-1], default=default, step=1)


def stack_controls(
    say: Strings,
    *,
    widths: Sequence[int],
    width: int,
    tokens: int = 5,
    attention: str = "uniform",
    seeds: int = 24,
) -> list[Control]:
    """Width, positions, attention, number of seeds and seed, with these defaults."""
    return [
        width_of_stacks(say, widths, width),
        select(among("tokens", TOKENS, tokens), say, values=TOKENS, shown=str),
        switch(replace(OPTIONS["attention"], default=attention), say),
        select(among("seeds", SEEDS, seeds), say, values=SEEDS, shown=str),
        number(OPTIONS["seed"], say),
    ]


def width_of_stacks(say: Strings, widths: Sequence[int], width: int) -> Control:
    option, key = among("width", widths, width), "profiles.option.width"
    return select(option, say, values=widths, shown=str, key=key)


def depth_slider(say: Strings, depths: Sequence[int], default: int) -> Control:
    return slider(among("depth", depths, default), say, values=depths)


def state_ticks(count: int) -> dict[float, str]:
    """Ticks for l = 0 … count − 1, in even steps that leave room for their numbers."""
    step = next(step for step in (1, 2, 4, 8, 16) if count / step <= 8)
    return {float(state): str(state) for state in range(0, count, step)}


STACK = ("width", "tokens", "attention", "seeds", "seed")


def stack_of(state: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    """What a probe is computed from: the options of `stack_controls`, and more."""
    return {"wiring": BASE, **{name: state[name] for name in STACK}, **more}


@dataclass(frozen=True)
class View:
    """Some rows of a result, and where they stand on the x axis.

    `center` names the column that stands for all seeds: "" is the mean, "_geomean" the other.
    """

    result: Result
    rows: range
    x: Sequence[float]
    center: str = ""

    def column(self, name: str) -> list[float]:
        column = self.result.columns.get(name)
        return [] if column is None else [column[row] for row in self.rows]


class LayerChart(Chart):
    """A point for each layer and wiring, with the seeds' spread, and the theory's curve.

    A subclass declares in `behind` what lies under them, with rows of the legend for it.
    """

    def __init__(
        self,
        say: Strings,
        *,
        wirings: Sequence[str] = BASE,
        height: int = 400,
        y_log: bool = False,
    ) -> None:
        super().__init__(height=height, y_log=y_log)
        self.say, self.wirings = say, wirings
        rows = self.behind()
        for wiring in wirings:
            series = SERIES[wiring]
            self.line(f"{wiring}_theory", series["theory"])
            self.spread(f"{wiring}_spread", series["measured"])
            self.points(f"{wiring}_measured", series["measured"])
            self.labels(f"{wiring}_label", series["measured"].color)
        self.legend(
            {
                "measured": (*self.each("spread", "measured"), say("profiles.figure.measured")),
                "theory": (*self.each("theory"), say("profiles.figure.theory")),
                **rows,
            }
        )

    def behind(self) -> dict[str, tuple[Any, ...]]:
        return {}

    def each(self, *glyphs: str) -> list[list[str]]:
        """The glyphs of a legend's row, for each wiring."""
        return [[f"{wiring}_{glyph}" for glyph in glyphs] for wiring in self.wirings]

    def only(self, glyph: str) -> list[list[str]]:
        """The same for a glyph that belongs to no wiring: the last sample of the row."""
        return [[] for _ in self.wirings[1:]] + [[glyph]]

    def profile(self, view: View) -> list[float]:
        """Draw all wirings; returns the heights that the axis has to reach."""
        heights = []
        for wiring in self.wirings:
            center = view.column(f"{wiring}{view.center}")
            low, high = (view.column(f"{wiring}_{name}") for name in ("p10", "p90"))
            theory = view.column(f"{wiring}_theory")
            self.show(f"{wiring}_measured", x=view.x, y=center)
            self.show(f"{wiring}_spread", x=view.x, low=low, high=high)
            self.show(f"{wiring}_theory", x=view.x if theory else [], y=theory)
            self.size(f"{wiring}_measured", max(4, min(10, 190 / len(view.x))))
            heights += finite(center, low, high, theory)
        self.visible(f"{self.wirings[0]}_theory" in view.result.columns, row="theory")
        word = "measured_geomean" if view.center else "measured"
        self.reword("measured", self.say(f"profiles.figure.{word}"))
        return heights

    def name_at_ends(self, x: float, view: View, y: tuple[float, float]) -> None:
        """Write the wirings' names beside the ends of their curves, on an axis from y to y."""
        self.name(x, {w: view.column(f"{w}{view.center}")[-1] for w in self.wirings}, y)

    def name(self, x: float, heights: Mapping[str, float], y: tuple[float, float]) -> None:
        """Write the wirings' names at x, as near to these heights as leaves both readable."""
        ends = [heights[wiring] for wiring in self.wirings]
        if self.y_log:
            low, high = math.log(y[0]), math.log(y[1])
            places = apart([math.log(max(end, y[0])) for end in ends], 0.08 * (high - low))
            ends = [math.exp(place) for place in places]
        else:
            ends = apart(ends, 0.08 * (y[1] - y[0]))
        for wiring, end in zip(self.wirings, ends, strict=True):
            self.show(f"{wiring}_label", x=[x], y=[end], text=[self.say(f"wiring.{wiring}")])


class Profiles(Experiment):
    """An experiment on stacks of both wirings, layer by layer."""

    def value(self, result: Result, column: str, row: int) -> str:
        """A mean over seeds with its standard error."""
        return with_error(result.columns[column][row], result.columns[f"{column}_se"][row])

    def caveats(self, run: str, rows: Sequence[int]) -> list[str]:
        """What has to be said before a number is believed: overflow, or a single seed."""
        result, work = self.answer(run), self.works[run]
        assert result is not None
        said = []
        for wiring in BASE:
            column = result.columns[wiring]
            bad = next((row for row in rows if not math.isfinite(column[row])), None)
            if bad is not None:
                said.append(
                    self.say(
                        "profiles.not_finite",
                        wiring=self.say(f"wiring.{wiring}"),
                        layer=result.columns["layer"][bad],
                        value="NaN" if math.isnan(column[bad]) else significant(column[bad]),
                    )
                )
        if result.done == 1 and not work.running:
            said.append(self.say("experiment.one_seed"))
        return said

    def about(
        self,
        result: Result,
        *more: tuple[str, str],
        center: str = "mean",
        theory: bool = True,
    ) -> list[tuple[str, str]]:
        """Details that all of these have, and more of the experiment's own before the last."""
        say, config = self.say, result.config
        pairs = [
            ("experiment.details.stacks", self.stack_in_words(config)),
            ("experiment.details.attention", self.attention_in_words(config, curves=True)),
            ("experiment.details.seeds", self.seeds_in_words(config)),
            *more,
            ("profiles.details.center", say(f"profiles.details.center_{center}")),
        ]
        if theory and config["attention"] == "uniform":
            pairs.append(("profiles.details.theory", say("profiles.details.theory_text")))
        return [(say(key), text) for key, text in (*pairs, version())]


def version() -> tuple[str, str]:
    return "experiment.details.version", NUMBERS_VERSION
