"""The two figures of the attenuation experiment: the claim beside the measurement, and the
measurement close by."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.experiments.profiles import ALONE, RULE, LayerChart, View, state_ticks
from app.nn.wirings import BASE
from app.probes.result import Result
from app.ui.scales import log_range
from app.ui.theme import SERIES

NORMS_PER_LAYER = 2


class Layers(LayerChart):
    """‖∂L/∂x_l‖/‖∂L/∂x_N‖ against l, on a logarithmic axis."""

    def frame(self, view: View, *more: Sequence[float]) -> None:
        low, high = log_range(self.profile(view), *more)
        last = view.x[-1] + 0.3
        self.limits(x=(-0.3, last), y=(low, high))
        self.ticks(state_ticks(len(view.x)))
        # All curves meet at l = N; where they begin they stand apart.
        self.name_at_ends(last, view, (low, high))
        self.axis_labels(
            x=self.say("attenuation.figure.layer"), y=self.say("attenuation.figure.ratio")
        )


class Claim(Layers):
    """With the claim, d^(−(N−l)/2)."""

    def behind(self) -> dict[str, tuple[Any, ...]]:
        self.line("claim", RULE)
        return {"claim": (*self.only("claim"), self.say("attenuation.figure.claim"))}

    def draw(self, view: View) -> None:
        claim = view.column("claim")
        self.show("claim", x=view.x, y=claim)
        self.frame(view, claim)


class Measured(Layers):
    """Without it: beside what averaging over positions does, what LayerNorms alone leave, two per
    layer, and the stack of the article's width."""

    def behind(self) -> dict[str, tuple[Any, ...]]:
        self.line("floor", RULE)
        self.line("alone", ALONE)
        for wiring in BASE:
            series = SERIES[wiring]["estimate"]
            self.line(f"{wiring}_wide_line", series)
            self.points(f"{wiring}_wide", series)
        return {
            "wide": (*self.each("wide_line", "wide"), self.say("attenuation.figure.wide")),
            **{
                name: (*self.only(name), self.say(f"attenuation.figure.{name}"))
                for name in ("floor", "alone")
            },
        }

    def draw(self, view: View, tokens: int, alone: Sequence[float], wide: Result | None) -> None:
        depth, floor = int(view.x[-1]), 1 / math.sqrt(tokens)
        passed = list(alone[::NORMS_PER_LAYER][: depth + 1])
        self.show("floor", x=[view.x[0], view.x[-1]], y=[floor, floor])
        self.show("alone", x=[depth - layers for layers in range(len(passed))], y=passed)
        heights = [floor, *passed]
        for wiring in BASE:
            column = wide.columns[f"{wiring}_geomean"] if wide else []
            for glyph in ("wide", "wide_line"):
                self.show(f"{wiring}_{glyph}", x=view.x if wide else [], y=column)
            self.size(f"{wiring}_wide", max(5, min(10, 190 / len(view.x))))
            heights += column
        self.visible(wide is not None, row="wide")
        self.frame(view, heights)
