"""The theorem's figure: the last layer against L, and which part of it each sign stands for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from app.experiments.gradients_answers import power_law
from app.experiments.gradients_figures import LastLayer, pair
from app.nn.wirings import BASE
from app.probes import gradients
from app.probes.result import Result
from app.ui.figures import NEUTRAL
from app.ui.scales import finite
from app.ui.theme import SERIES, Series

EXPONENT = {"post_ln": 0.0, "pre_ln": -0.5}  # of L in the bounds (Xiong et al. 2020, Theorem 1)

SLOPE = Series(NEUTRAL, (), "triangle", width=2.5)
_TRIANGLE = (6, 18)  # the L from and to which the slope is drawn
_FAINT = 0.3

# What lights up for each sign, by wiring and by itself; everything else is drawn faintly.
_OF_WIRING = ("measured", "spread", "theory", "fit", "label")
_POINTS = {f"{wiring}_{glyph}" for wiring in BASE for glyph in ("measured", "label")}
LIT: Mapping[str, set[str]] = {
    "post_ln": {f"post_ln_{glyph}" for glyph in _OF_WIRING},
    "pre_ln": {f"pre_ln_{glyph}" for glyph in _OF_WIRING},
    "norm": {*_POINTS, "heights"},
    "gradient": _POINTS,
    "bound": {*_POINTS, *(f"{w}_{glyph}" for w in BASE for glyph in ("bound", "below"))},
    "width": {*_POINTS, *(f"{w}_{glyph}" for w in BASE for glyph in ("theory", "wider"))},
    "depth": {"pre_ln_measured", "pre_ln_fit", "pre_ln_label", "slope", "slope_label"},
    "start": {*_POINTS, *(f"{wiring}_theory" for wiring in BASE)},
    "probability": {*_POINTS, *(f"{wiring}_spread" for wiring in BASE)},
}
# What is there only while its sign is pressed.
_ONLY_LIT = {
    *("heights", "slope", "slope_label"),
    *(f"{wiring}_{glyph}" for wiring in BASE for glyph in ("below", "wider")),
}


class Bounds(LastLayer):
    """The last layer's gradient, the shapes that the bounds have, and what a pressed sign means."""

    def declare(self) -> None:
        for wiring in BASE:
            self.area(f"{wiring}_below", SERIES[wiring]["measured"])
            bound = replace(SERIES[wiring]["log"], width=2.5)
            self.line(f"{wiring}_bound", bound)
            self.line(f"{wiring}_wider", SERIES[wiring]["estimate"])
        self.line("heights", Series(NEUTRAL, (3, 3), "dash", width=1.5))
        self.line("slope", SLOPE)
        self.labels("slope_label", NEUTRAL)
        super().declare()

    def rows(self) -> dict[str, tuple[Any, ...]]:
        say = self.say
        return {
            **super().rows(),
            "bound": (*pair("bound"), say("theorem.figure.bound")),
            "wider": (*pair("wider"), say("theorem.figure.wider")),
        }

    def draw_theorem(self, last: Result, term: str) -> None:
        depths = last.columns["depth"]
        heights: list[float] = []
        for wiring in BASE:
            bound = bound_shape(last, wiring)
            self.show(f"{wiring}_bound", x=depths, y=bound)
            nothing = [0.0] * len(depths)  # as deep as the axis goes
            self.show(f"{wiring}_below", x=depths, low=nothing, high=bound)
            wider = wider_theory(last, wiring)
            self.show(f"{wiring}_wider", x=depths if wider else [], y=wider)
            heights += finite(bound, wider)
        self._draw_slope(last)
        self._draw_heights(last)
        self.draw(last, None, heights)
        self._light(last, term)

    def _draw_slope(self, last: Result) -> None:
        """A triangle above Pre-LN's points whose long side has the slope −½."""
        first = last.columns["depth"].index(_TRIANGLE[0])
        x = [float(depth) for depth in _TRIANGLE]
        top = 1.25 * max(power_law(last, "pre_ln")[first], last.columns["pre_ln_p90"][first])
        bottom = top * (x[1] / x[0]) ** EXPONENT["pre_ln"]
        self.show("slope", x=[x[0], x[1], x[1], x[0]], y=[top, top, bottom, top])
        middle = math.sqrt(top * bottom) if top > 0 else math.nan
        self.show("slope_label", x=[x[1]], y=[middle], text=["−½"])

    def _draw_heights(self, last: Result) -> None:
        """From the frame to the deepest stack's points: how long these gradients are."""
        depths = last.columns["depth"]
        heights = [last.columns[f"{wiring}_geomean"][-1] for wiring in BASE]
        across = [depths[0] / 1.1, depths[-1]]
        self.show("heights", x=[*across, math.nan, *across], y=two_levels(heights))

    def _light(self, last: Result, term: str) -> None:
        lit = LIT[term]
        for name in self._glyphs:
            named = name in lit or name.endswith("_label")
            self.strength(name, 1.0 if named else _FAINT)
            self.visible(name in lit or name not in _ONLY_LIT, name)
        for wiring in BASE:
            self.size(f"{wiring}_measured", 13 if term == "gradient" else 9)
        self.visible(term == "width" and bool(wider_theory(last, "pre_ln")), row="wider")


def bound_shape(last: Result, wiring: str) -> list[float]:
    """c·L^e, e the bound's exponent. The theorem leaves the constant open: this is the smallest c
    with nine seeds of ten below the line at every L."""
    depths, exponent = last.columns["depth"], EXPONENT[wiring]
    constants = [
        height / depth**exponent
        for depth, height in zip(depths, last.columns[f"{wiring}_p90"], strict=True)
    ]
    return [max(constants) * depth**exponent for depth in depths]


def wider_theory(last: Result, wiring: str) -> list[float]:
    """The curve at twice the width; nothing where there is no curve."""
    if not gradients.has_curve(wiring, last.config):
        return []
    config = {**last.config, "width": 2 * last.config["width"]}
    return [gradients.curve(wiring, config, depth)[-1] for depth in last.columns["depth"]]


def two_levels(heights: Sequence[float]) -> list[float]:
    """Two level lines in one curve, with a gap between them."""
    first, second = heights
    return [first, first, math.nan, second, second]
