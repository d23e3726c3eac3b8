"""The learning rate of the original Transformer, step by step: the very function that training
uses. Nothing is random here, and nothing is computed but the rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from app.experiments.experiment import Experiment
from app.experiments.schedule_figures import Rates
from app.experiments.schedule_values import LAST, WARMUPS, Rule
from app.experiments.work import Run
from app.nn.training import linear_schedule, original_schedule
from app.probes.options import Option
from app.ui.controls import Control, slider
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import percent, scientific, whole

WIDTHS = (64, 128, 256, 512, 1024, 2048, 4096)
STEPS = (1, 10, 40, 100, 400, 1000, 2000, 4000, 8000, 16_000, LAST)
WIDTH = Option("width", "int", 512, low=WIDTHS[0], high=WIDTHS[-1])
WARMUP = Option("warmup", "int", 4000, low=WARMUPS[0], high=WARMUPS[-1])
STEP = Option("step", "int", 400, low=STEPS[0], high=STEPS[-1])


class Schedule(Experiment):
    name = "schedule"
    runs: ClassVar[Sequence[Run]] = ()
    first = ("width", "warmup")
    code = (original_schedule, linear_schedule)

    def build_controls(self) -> list[Control]:
        say = self.say
        return [
            slider(WIDTH, say, values=WIDTHS, shown=whole, key="schedule.option.width"),
            slider(WARMUP, say, values=WARMUPS, shown=whole, key="schedule.option.warmup"),
            slider(STEP, say, values=STEPS, shown=whole, key="schedule.option.step"),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.linear, self.log = Rates(self.say), Rates(self.say, log=True)
        return {"linear": self.linear, "log": self.log}

    def draw(self) -> None:
        values = self.values
        self.rule = Rule(values["width"], values["warmup"], values["step"])
        self.linear.draw(self.rule)
        self.log.draw(self.rule)

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, rule = self.say, self.rule
        known: dict[str, Any] = {
            "width": whole(rule.width),
            "warmup": whole(rule.warmup),
            "peak": scientific(rule.peak),
            "first": scientific(rule.rate(1)),
            "step": whole(rule.step),
            "rate": scientific(rule.rate(rule.step)),
            "share": self.percent(rule.rate(rule.step) / rule.peak),
            "half": whole(rule.half_after),
        }
        if rule.warmup == 0:
            return [say("schedule.undefined", **known), say("schedule.at", **known)]
        return [
            say("schedule.sentence", **known, times=whole(round(rule.peak / rule.rate(1)))),
            say("schedule.at", **known),
            say("schedule.half", **known, rising=whole(rule.half_before)),
            say("schedule.linear", **known),
        ]

    def tables(self) -> list[Table]:
        say, rule = self.say, self.rule
        steps = sorted({*STEPS, rule.peak_step, rule.half_after, rule.step})
        names = ("step", "original", "linear", "share")
        return [
            Table(
                name="rates",
                caption=say(
                    "schedule.table.caption", width=whole(rule.width), warmup=whole(rule.warmup)
                ),
                columns=[(name, say(f"schedule.table.{name}")) for name in names],
                rows=[
                    [
                        whole(step),
                        scientific(rule.rate(step), 4),
                        scientific(rule.linear(step), 4),
                        percent(rule.rate(step) / rule.peak),
                    ]
                    for step in steps
                ],
            )
        ]

    def details(self) -> list[tuple[str, str]]:
        say = self.say
        return [
            (say(f"schedule.details.{name}"), say(f"schedule.details.{name}_text"))
            for name in ("rule", "linear", "random")
        ]
