"""The two figures of the wirings experiment: output change against N, gradients along a stack.

Post-LN and Pre-LN always stand in them; the third place is the chosen variant's, which takes on
that wiring's colour, dash and marker.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from app.nn.wirings import BASE
from app.probes.result import Result
from app.ui.figures import Chart
from app.ui.scales import apart, depth_ticks, finite, layer_ticks, log_range
from app.ui.strings import Strings
from app.ui.theme import SERIES

LABEL_SPACE = 96  # pixels: the longest of `wirings.label`
PLACES = (*BASE, "variant")


class Compared(Chart):
    """A curve for each of three wirings on logarithmic heights: geometric mean and spread."""

    def __init__(self, say: Strings, *, x_log: bool) -> None:
        super().__init__(height=400, x_log=x_log, y_log=True, label_space=LABEL_SPACE)
        self.say = say
        self.level("one")
        self.upright("depth")
        for place in PLACES:
            series = SERIES[place if place in BASE else "deepnorm"]["measured"]
            self.spread(f"{place}_spread", series)
            self.line(f"{place}_line", series)
            self.points(f"{place}_points", series)
            self.labels(f"{place}_label", series.color)
        samples = [
            [f"{place}_{glyph}" for glyph in ("spread", "line", "points")] for place in PLACES
        ]
        self.legend({"measured": (*samples, say("wirings.figure.measured"))})

    def draw_curves(
        self, result: Result, variant: str, x: Sequence[float], *, center: str, start: str
    ) -> None:
        """Columns `<wiring><center>`, and `<wiring><start>_p10` and `_p90`, at the places x."""
        heights, ends = [], []
        for place, wiring in zip(PLACES, (*BASE, variant), strict=True):
            middle = result.columns[f"{wiring}{center}"]
            low, high = (result.columns[f"{wiring}{start}_{p}"] for p in ("p10", "p90"))
            self.show(f"{place}_line", x=x, y=middle)
            self.show(f"{place}_points", x=x, y=middle)
            self.show(f"{place}_spread", x=x, low=low, high=high)
            for glyph in ("line", "points", "spread"):
                self.restyle(f"{place}_{glyph}", SERIES[wiring]["measured"])
            self.recolor(f"{place}_label", SERIES[wiring]["measured"].color)
            heights += finite(middle, low, high)
            ends.append(middle[-1])
        y = log_range(heights)
        self._name_ends(variant, x[-1], ends, y)
        self.limits(x=self.span(x), y=y)

    def span(self, x: Sequence[float]) -> tuple[float, float]:
        raise NotImplementedError

    def _name_ends(
        self, variant: str, x: float, ends: Sequence[float], y: tuple[float, float]
    ) -> None:
        low, high = (math.log(end) for end in y)
        logs = [math.log(end) if 0 < end < math.inf else math.nan for end in ends]
        good = [place for place in logs if math.isfinite(place)]
        two_lines = "\n" in self.say(f"wirings.label.{variant}")
        moved = iter(apart(good, (0.12 if two_lines else 0.07) * (high - low)))
        for place, wiring, log in zip(PLACES, (*BASE, variant), logs, strict=True):
            height = math.exp(next(moved)) if math.isfinite(log) else math.nan
            self.show(
                f"{place}_label", x=[x], y=[height], text=[self.say(f"wirings.label.{wiring}")]
            )


class Changes(Compared):
    """Mean-square output change over δ² against N."""

    def __init__(self, say: Strings) -> None:
        super().__init__(say, x_log=True)

    def draw(self, result: Result, variant: str, depth: int) -> None:
        depths = [float(n) for n in result.columns["depth"]]
        self.draw_curves(result, variant, depths, center="_geomean", start="")
        self.ticks(depth_ticks(result.columns["depth"]))
        self.mark("depth", depth)
        self.axis_labels(x=self.say("wirings.figure.depth"), y=self.say("wirings.figure.change"))

    def span(self, x: Sequence[float]) -> tuple[float, float]:
        return x[0] / 1.1, x[-1] * 1.1


class Gradients(Compared):
    """Each layer's gradient over the first layer's of the same stack."""

    def __init__(self, say: Strings) -> None:
        super().__init__(say, x_log=False)

    def draw(self, result: Result, variant: str) -> None:
        layers = [float(layer) for layer in result.columns["layer"]]
        self.draw_curves(result, variant, layers, center="_relative", start="_relative")
        for place in PLACES:
            self.size(f"{place}_points", max(5, min(10, 150 / len(layers))))
        self.ticks(layer_ticks(len(layers)))
        self.mark("one", 1.0)
        self.axis_labels(x=self.say("wirings.figure.layer"), y=self.say("wirings.figure.gradient"))

    def span(self, x: Sequence[float]) -> tuple[float, float]:
        return x[0] - 0.5, x[-1] + 0.5
