"""The two figures of the gradients experiment: layer by layer, and the last layer against L."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from app.experiments.gradients_answers import Answers, in_words, power_law
from app.nn.wirings import BASE
from app.probes.result import Result
from app.ui.figures import Chart
from app.ui.scales import apart, depth_ticks, finite, layer_ticks, log_range
from app.ui.strings import Strings
from app.ui.theme import SERIES

LEGEND_ROW = 24  # pixels


class OverFirstLayer(Chart):
    """‖∂L/∂W‖ of every layer over the first layer's, so that both wirings begin at 1."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=420 - LEGEND_ROW, y_log=True)  # frames of one height
        self.say = say
        self.level("one")
        for wiring in BASE:
            series = SERIES[wiring]
            self.line(f"{wiring}_theory", series["theory"])
            self.line(f"{wiring}_line", series["measured"], line_width=1)
            self.spread(f"{wiring}_spread", series["measured"], line_width=1, line_alpha=0.7)
            self.spread(f"{wiring}_error", series["measured"], line_width=5, line_alpha=0.7)
            self.points(f"{wiring}_measured", series["measured"])
            self.labels(f"{wiring}_label", series["measured"].color)
        self.line("guide", SERIES["post_ln"]["linear"])
        self.legend(
            {
                "measured": (*pair("line", "measured"), say("gradients.figure.measured")),
                "theory": (*pair("theory"), say("gradients.figure.theory")),
                "guide": (["guide"], [], say("gradients.figure.guide")),
            }
        )

    def draw(self, answers: Answers) -> None:
        say, depth = self.say, answers.depth
        layers = answers.profile.columns["layer"]
        drawn = [self._draw_wiring(answers, wiring) for wiring in BASE]
        slope = answers.decoder_slope
        guide = [] if slope is None else [10 ** (slope * (layer - 1)) for layer in layers]
        self.show("guide", x=layers if guide else [], y=guide)
        self.visible(bool(guide), row="guide")
        self.visible(answers.has_theory, row="theory")
        low, high = log_range(*(heights for heights, _ in drawn), guide, [1.0])
        self.limits(x=(0.5, depth + 0.5), y=(low, high))
        self.ticks(layer_ticks(depth))
        self.mark("one", 1.0)
        ends = log_apart([end for _, end in drawn], low, high)
        for wiring, y in zip(BASE, ends, strict=True):
            self.show(f"{wiring}_label", x=[depth + 0.5], y=[y], text=[say(f"wiring.{wiring}")])
        matrix = in_words(answers.matrix)
        self.axis_labels(
            x=say("gradients.figure.layer", depth=depth),
            y=say("gradients.figure.relative", matrix=matrix),
        )

    def _draw_wiring(self, answers: Answers, wiring: str) -> tuple[list[float], float]:
        """Returns the heights that the axis has to reach, and the last."""
        columns = answers.profile.columns
        center, error, low, high = (
            columns[f"{wiring}_relative{of}"] for of in ("", "_se", "_p10", "_p90")
        )
        x, theory = columns["layer"], answers.relative_theory(wiring)
        self.show(f"{wiring}_theory", x=x if theory else [], y=theory)
        self.show(f"{wiring}_line", x=[] if theory else x, y=[] if theory else center)
        self.show(f"{wiring}_measured", x=x, y=center)
        self.show(f"{wiring}_spread", x=x, low=low, high=high)
        ends = [(c - e, c + e) for c, e in zip(center, error, strict=True)]
        self.show(f"{wiring}_error", x=x, low=[a for a, _ in ends], high=[b for _, b in ends])
        self.size(f"{wiring}_measured", max(4, min(10, 150 / answers.depth)))
        return finite(center, low, high, theory), center[-1]


class LastLayer(Chart):
    """‖∂L/∂W‖ of the last layer against L, both in logarithms: a power of L is a straight line."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=420, x_log=True, y_log=True)
        self.say = say
        self.upright("depth")
        self.declare()
        self.legend(self.rows())

    def declare(self) -> None:
        """All glyphs, those below first."""
        for wiring in BASE:
            series = SERIES[wiring]
            self.line(f"{wiring}_theory", series["theory"])
            self.line(f"{wiring}_fit", series["linear"])
            self.spread(f"{wiring}_spread", series["measured"])
            self.points(f"{wiring}_measured", series["measured"])
            self.labels(f"{wiring}_label", series["measured"].color)

    def rows(self) -> dict[str, tuple[Any, ...]]:
        """The legend's."""
        say = self.say
        return {
            "measured": (*pair("measured"), say("gradients.figure.measured")),
            "theory": (*pair("theory"), say("gradients.figure.theory")),
            "fit": (*pair("fit"), say("gradients.figure.fit")),
        }

    def draw(self, last: Result, mark: int | None = None, *more: Sequence[float]) -> None:
        """`mark`: the L of a stack that is shown elsewhere, if there is one; `more`: further
        heights that the axis has to reach."""
        say, depths = self.say, last.columns["depth"]
        drawn = [self._draw_wiring(last, wiring) for wiring in BASE]
        self.visible("post_ln_theory" in last.columns, row="theory")
        low, high = log_range(*(heights for heights, _ in drawn), *more)
        self.limits(x=(depths[0] / 1.1, depths[-1] * 1.1), y=(low, high))
        self.ticks(depth_ticks(depths))
        within = mark is not None and depths[0] <= mark <= depths[-1]
        self.mark("depth", mark if within else None)
        ends = log_apart([end for _, end in drawn], low, high)
        for wiring, y in zip(BASE, ends, strict=True):
            x = [depths[-1] * 1.1]
            self.show(f"{wiring}_label", x=x, y=[y], text=[say(f"wiring.{wiring}")])
        matrix = in_words(last.config["matrix"])
        self.axis_labels(
            x=say("gradients.figure.depth"), y=say("gradients.figure.last", matrix=matrix)
        )

    def _draw_wiring(self, last: Result, wiring: str) -> tuple[list[float], float]:
        """Returns the heights that the axis has to reach, and the last."""
        x, columns = last.columns["depth"], last.columns
        center, low, high = (columns[f"{wiring}_{of}"] for of in ("geomean", "p10", "p90"))
        theory = columns.get(f"{wiring}_theory", [])
        fit = power_law(last, wiring)
        self.show(f"{wiring}_theory", x=x if theory else [], y=theory)
        self.show(f"{wiring}_fit", x=x, y=fit)
        self.show(f"{wiring}_measured", x=x, y=center)
        self.show(f"{wiring}_spread", x=x, low=low, high=high)
        return finite(center, low, high, theory), center[-1]


def pair(*glyphs: str) -> tuple[list[str], list[str]]:
    """The glyphs of a legend's row, for Post-LN and for Pre-LN."""
    left, right = ([f"{wiring}_{glyph}" for glyph in glyphs] for wiring in BASE)
    return left, right


def log_apart(heights: Sequence[float], low: float, high: float) -> list[float]:
    """Two labels' places on a logarithmic axis from `low` to `high`, moved apart to be readable.
    What is not there stands in the middle."""
    middle = math.sqrt(low * high)
    logs = [math.log(h if 0 < h < math.inf else middle) for h in heights]
    return [math.exp(log) for log in apart(logs, 0.07 * math.log(high / low))]
