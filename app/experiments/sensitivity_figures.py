"""The two figures of the sensitivity experiment: output change against N, β² along one stack."""

from __future__ import annotations

import math
from dataclasses import replace

from app.experiments import laws
from app.experiments.sensitivity_answers import DEEPEST, Answers
from app.experiments.tables import rows_at
from app.nn.wirings import BASE
from app.ui.figures import NEUTRAL, Chart
from app.ui.scales import apart, finite, layer_ticks, nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import SERIES, Series

KINDS = ("attention", "ffn")
LEGEND_ROW = 24  # pixels
MARK = Series(NEUTRAL, (), "star", size=16)


class Changes(Chart):
    """Mean-square output change over δ² against N: theory, estimate, measurement, and the law
    that is a straight line on the chosen axis."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=420)
        self.say = say
        self.upright("depth")
        for wiring in BASE:
            series = SERIES[wiring]
            self.line(f"{wiring}_theory", series["theory"])
            self.line(f"{wiring}_fit", series["linear"])
            self.line(f"{wiring}_estimate", series["estimate"])
            self.points(f"{wiring}_estimates", series["estimate"])
            self.spread(f"{wiring}_spread", series["measured"])
            self.spread(f"{wiring}_error", series["measured"], line_width=5)
            self.points(f"{wiring}_measured", series["measured"])
            self.labels(f"{wiring}_label", series["measured"].color)
        self.points("mark", MARK)
        self.points("no_mark", MARK, line_alpha=0, fill_alpha=0)  # Pre-LN has none
        self.legend(
            {
                "theory": (*pair("theory"), say("sensitivity.figure.theory")),
                "estimate": (*pair("estimate", "estimates"), say("sensitivity.figure.estimate")),
                "measured": (*pair("spread", "measured"), say("sensitivity.figure.measured")),
                "fit": (*pair("fit"), ""),  # says up to which N, once there is one
                "mark": (["mark"], ["no_mark"], say("sensitivity.figure.mark")),
            }
        )

    def draw(self, answers: Answers) -> None:
        heights = [
            height
            for wiring in BASE
            for height in (
                *self._draw_curves(answers, wiring),
                *self._draw_measured(answers, wiring),
            )
        ]
        for wiring in BASE:
            self._draw_fit(answers, wiring)
        heights += self._draw_mark(answers)
        top = nice_ceiling(max(heights, default=0.0) * 1.04)
        self._draw_frame(answers, top)
        self._draw_words(answers)

    def _draw_curves(self, answers: Answers, wiring: str) -> list[float]:
        """Theory and estimate; returns the heights that the axis has to reach."""
        result = answers.estimate
        theory, curve = answers.theory(result, wiring), answers.center(result, wiring)
        x = [answers.place(depth) for depth in result.columns["depth"]]
        self.show(f"{wiring}_theory", x=x if theory else [], y=theory)
        self.show(f"{wiring}_estimate", x=x, y=curve)
        points = [answers.place(depth) for depth in answers.depths]
        self.show(f"{wiring}_estimates", x=points, y=answers.at_depths(result, wiring))
        return finite(theory, curve)

    def _draw_measured(self, answers: Answers, wiring: str) -> list[float]:
        """Points, their errors and spread; returns the heights that the axis has to reach."""
        result = answers.measured
        if result is None:
            self.show(f"{wiring}_measured", x=[], y=[])
            for bars in ("spread", "error"):
                self.show(f"{wiring}_{bars}", x=[], low=[], high=[])
            return []
        rows = rows_at(result.columns["depth"], answers.depths)
        low, high, error = (
            [result.columns[f"{wiring}_{name}"][row] for row in rows]
            for name in ("p10", "p90", "se")
        )
        if not answers.wide:  # the error is that of the plain mean, which is not shown
            error = [math.nan] * len(rows)
        x, center = [answers.place(n) for n in answers.depths], answers.at_depths(result, wiring)
        self.show(f"{wiring}_measured", x=x, y=center)
        self.show(f"{wiring}_spread", x=x, low=low, high=high)
        self.show(
            f"{wiring}_error",
            x=x,
            low=[c - e for c, e in zip(center, error, strict=True)],
            high=[c + e for c, e in zip(center, error, strict=True)],
        )
        ceiling = 2 * max(finite(center), default=0.0)  # one wild seed is not to set the scale
        return finite(center) + [min(height, ceiling) for height in finite(high)]

    def _draw_fit(self, answers: Answers, wiring: str) -> None:
        """The law fitted up to N is carried on to the deepest stack: it either foretells what is
        there or misses it."""
        fit, law = answers.laws[wiring], "log" if answers.logarithmic else "linear"
        ends = [] if fit is None else [1, DEEPEST]
        self.show(
            f"{wiring}_fit",
            x=[answers.place(depth) for depth in ends],
            y=[laws.at(fit, law, depth) for depth in ends] if fit else [],
        )

    def _draw_mark(self, answers: Answers) -> list[float]:
        """What the reader expects at N; returns the heights that the axis has to reach."""
        marked = finite([answers.mark_height()])
        self.show("mark", x=[answers.place(answers.depth) for _ in marked], y=marked)
        self.show("no_mark", x=[], y=[])
        self.visible(bool(marked), row="mark")
        return marked

    def _draw_frame(self, answers: Answers, top: float) -> None:
        first, last = answers.place(1), answers.place(DEEPEST)
        margin = 0.03 * (last - first)
        self.limits(x=(first - margin, last + margin), y=(0, top))
        if answers.logarithmic:
            depths = [*(2**k for k in range(6)), DEEPEST]
            self.ticks({answers.place(depth): str(depth) for depth in depths})
        else:
            self.ticks(layer_ticks(DEEPEST))
        self.mark("depth", answers.place(answers.depth))
        curves = [
            answers.theory(answers.estimate, w) or answers.center(answers.estimate, w) for w in BASE
        ]
        ends = apart([curve[-1] for curve in curves], top * 0.07)
        for wiring, y in zip(BASE, ends, strict=True):
            self.show(f"{wiring}_label", x=[last], y=[y], text=[self.say(f"wiring.{wiring}")])

    def _draw_words(self, answers: Answers) -> None:
        say, measured = self.say, answers.measured is not None
        self.visible(not measured, *(f"{wiring}_estimates" for wiring in BASE))
        self.visible(measured, row="measured")
        self.visible(answers.has_theory, row="theory")
        self.visible(any(answers.laws.values()), row="fit")
        center = "measured" if answers.wide else "measured_geomean"
        self.reword("measured", say(f"sensitivity.figure.{center}"))
        law = "fit_log" if answers.logarithmic else "fit_linear"
        self.reword("fit", say(f"sensitivity.figure.{law}", depth=answers.depth))
        layers = "layers_log" if answers.logarithmic else "layers"
        self.axis_labels(x=say(f"sensitivity.figure.{layers}"), y=say("sensitivity.figure.change"))


class Shares(Chart):
    """β² of each sublayer of a stack of N layers; attention and FFN stand apart in each layer."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=420 - LEGEND_ROW)  # so that both frames are of one height
        self.say = say
        for wiring in BASE:
            series = SERIES[wiring]["estimate"]
            for kind in KINDS:
                self.line(f"{wiring}_{kind}_theory", SERIES[wiring]["theory"], line_width=1.5)
                self.spread(f"{wiring}_{kind}_spread", series, line_width=1, line_alpha=0.6)
                self.points(f"{wiring}_{kind}", replace(series, filled=kind == "attention"))
            self.labels(f"{wiring}_label", series.color)
        self.legend(
            {
                "attention": (*pair("attention"), say("sensitivity.figure.attention")),
                "ffn": (*pair("ffn"), say("sensitivity.figure.ffn")),
                "theory": (
                    *pair("attention_theory", "ffn_theory"),
                    say("sensitivity.figure.theory"),
                ),
            }
        )

    def draw(self, answers: Answers) -> None:
        say, depth = self.say, answers.depth
        heights, ends = [], []
        for wiring in BASE:
            drawn = [self._draw_kind(answers, wiring, kind) for kind in KINDS]
            heights += [height for each, _ in drawn for height in each]
            ends.append(sum(end for _, end in drawn) / len(drawn))
        top = min(nice_ceiling(max(heights, default=0.0) * 1.02), 1.0)
        for wiring, y in zip(BASE, apart(ends, top * 0.08), strict=True):
            self.show(f"{wiring}_label", x=[depth + 0.5], y=[y], text=[say(f"wiring.{wiring}")])
        self.visible(answers.has_theory, row="theory")
        self.limits(x=(0.5, depth + 0.5), y=(0, top))
        self.ticks(layer_ticks(depth))
        self.axis_labels(x=say("sensitivity.figure.layer"), y=say("sensitivity.figure.share"))

    def _draw_kind(self, answers: Answers, wiring: str, kind: str) -> tuple[list[float], float]:
        """One kind of sublayer; returns the heights that the axis has to reach, and the last."""
        result, name = answers.beta, f"{wiring}_{kind}"
        second = KINDS.index(kind)
        rows = range(second, 2 * answers.depth, len(KINDS))
        x = [row // 2 + (1.2 if second else 0.8) for row in rows]
        center, low, high = (
            [column[row] for row in rows]
            for column in (
                answers.center(result, wiring),
                result.columns[f"{wiring}_p10"],
                result.columns[f"{wiring}_p90"],
            )
        )
        theory = answers.theory(result, wiring)
        curve = [theory[row] for row in rows] if theory else []
        self.show(name, x=x, y=center)
        self.show(f"{name}_spread", x=x, low=low, high=high)
        self.show(f"{name}_theory", x=x if theory else [], y=curve)
        self.size(name, max(4, min(10, 150 / answers.depth)))
        return finite(center, high, curve), (curve or center)[-1]


def pair(*glyphs: str) -> tuple[list[str], list[str]]:
    """The glyphs of a legend's row, for Post-LN and for Pre-LN."""
    left, right = ([f"{wiring}_{glyph}" for glyph in glyphs] for wiring in BASE)
    return left, right
