"""The learning rate against the step: once as it is, once in logarithms."""

from __future__ import annotations

from app.experiments.schedule_values import LAST, Curves, Rule, decades
from app.ui.figures import NEUTRAL, Chart
from app.ui.numbers import scientific, whole
from app.ui.scales import log_range, nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import Series

RATE = Series("#16867a", (), "circle", width=2.5)
LINEAR = Series("#8a63d2", (8, 4), "square", filled=False)
WITHOUT = Series(NEUTRAL, (2, 3), "cross", filled=False, width=1.5)
THOUSANDTHS = 1000  # a linear axis counts them: its numbers stay short


class Rates(Chart):
    """The original rule, a linear warm-up to the same peak, and the rule without its ramp."""

    def __init__(self, say: Strings, *, log: bool = False) -> None:
        super().__init__(height=400, x_log=log, y_log=log)
        self.say, self.is_log = say, log
        self._drawn: Curves | None = None
        self.upright("step")
        self.line("without", WITHOUT)
        self.line("linear", LINEAR)
        self.line("original", RATE)
        self.points("at", RATE, fill_color=None)
        self.points("peak", RATE)
        self.labels("peak_label", RATE.color)
        self.legend(
            {
                "original": (["original"], say("schedule.figure.original")),
                "linear": (["linear"], say("schedule.figure.linear")),
                "without": (["without"], say("schedule.figure.without")),
                "at": (["at"], ""),  # says which step, once it is known
            }
        )

    def draw(self, rule: Rule) -> None:
        say, scale = self.say, 1 if self.is_log else THOUSANDTHS
        if rule.curves is not self._drawn:
            self._drawn = curves = rule.curves
            for name in ("original", "linear", "without"):
                rates = [scale * rate for rate in getattr(curves, name)]
                self.show(name, x=curves.steps, y=rates)
            self.visible(rule.warmup > 0, "linear", "without", row="linear")
            self.visible(rule.warmup > 0, row="without")
        self.show("at", x=[rule.step], y=[scale * rule.rate(rule.step)])
        self.mark("step", rule.step)
        self.reword("at", say("schedule.figure.at", step=whole(rule.step)))
        peak = scale * rule.peak
        self.show("peak", x=[rule.peak_step], y=[peak])
        above = (2.0 if self.is_log else 1.04) * peak
        self.show("peak_label", x=[rule.peak_step], y=[above], text=[scientific(rule.peak)])
        if self.is_log:
            low, high = log_range(rule.curves.original, [3 * peak])
            self.limits(x=(1 / 1.3, LAST * 1.3), y=(low, high))
            self.ticks({float(step): whole(step) for step in decades()[::2]})
        else:
            self.limits(x=(0, LAST), y=(0, nice_ceiling(1.1 * peak)))
            self.ticks({float(step): whole(step) for step in range(0, LAST + 1, LAST // 2)})
        unit = "log" if self.is_log else "linear"
        self.axis_labels(
            x=say(f"schedule.figure.step_{unit}"), y=say(f"schedule.figure.rate_{unit}")
        )
