"""Can layers of a deep stack be merged? The output's error, and the effective depth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from app.experiments.merging_figures import Errors, Groups
from app.experiments.profiles import (
    Profiles,
    View,
    depth_slider,
    stack_controls,
    stack_of,
)
from app.experiments.tables import result_table
from app.experiments.work import Run, State
from app.nn.wirings import BASE
from app.probes import depth
from app.probes.options import OPTIONS, Option
from app.ui.controls import Control, slider, switch
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import with_error

DEPTHS = (4, 6, 8, 12, 16, 24, 32, 48)
WIDTHS = (32, 64, 128)
QUANTITY = replace(OPTIONS["quantity"], default="merge", choices=("merge", "drop"))
TOLERANCE = f"{depth.TOLERANCE:g}"
LAYER = Option("layer", "int", 2, low=0, high=DEPTHS[-1] - 1)


def _config(state: State) -> dict[str, Any]:
    """Both quantities come from one pass, which the probe keeps: the other one takes no time."""
    return stack_of(state, depth=state["depth"], quantity=state["quantity"])


class Merging(Profiles):
    name = "merging"
    first = ("quantity", "layer", "depth")
    runs = (Run("merging", depth.measure, _config),)

    def build_controls(self) -> list[Control]:
        return [
            switch(QUANTITY, self.say, key="merging.option.quantity"),
            slider(LAYER, self.say, key="merging.option.layer"),
            depth_slider(self.say, DEPTHS, 24),
            *stack_controls(self.say, widths=WIDTHS, width=64),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.errors, self.groups = Errors(self.say), Groups(self.say)
        return {"errors": self.errors, "groups": self.groups}

    def draw(self) -> None:
        result = self.answer("merging")
        assert result is not None
        layers = result.columns["layer"]
        self.result = result
        self.row: int = min(self.values["layer"], len(layers) - 1)  # the last, where there is none
        view = View(self.result, range(len(layers)), [float(layer) for layer in layers])
        self.errors.draw(view, self.row, self.values["quantity"], self.values["depth"])
        self.groups.draw(self.result, self.values["depth"])

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, values = self.say, self.values
        layers = self.result.columns["layer"]
        return [
            *self.caveats("merging", range(len(layers))),
            *(
                [say("merging.no_layer", **values, row=self.row)]
                if values["layer"] > self.row
                else []
            ),
            say(
                f"merging.{values['quantity']}",
                layer=self.row,
                next=self.row + 1,
                depth=values["depth"],
                pre=self.value(self.result, "pre_ln", self.row),
                post=self.value(self.result, "post_ln", self.row),
                seeds=self.seeds_of("merging"),
            ),
            *self._where(),
            say(
                "merging.pairs",
                pre=self._summary("pairs", "pre_ln"),
                post=self._summary("pairs", "post_ln"),
            ),
            say(
                "merging.effective",
                depth=values["depth"],
                tolerance=TOLERANCE,
                pre=self._summary("effective_depth", "pre_ln"),
                post=self._summary("effective_depth", "post_ln"),
            ),
        ]

    def _where(self) -> list[str]:
        """From which layer on Pre-LN puts up with it."""
        column = self.result.columns["pre_ln"]
        over = [layer for layer, error in enumerate(column) if not error <= depth.TOLERANCE]
        first = over[-1] + 1 if over else 0
        if not all(map(math.isfinite, column)):
            return []
        if first == len(column):
            return [self.say("merging.nowhere", tolerance=TOLERANCE)]
        key = "everywhere" if first == 0 else "from_layer"
        return [self.say(f"merging.{key}", layer=first, tolerance=TOLERANCE)]

    def _summary(self, name: str, wiring: str) -> str:
        of = self.result.summary[name][wiring]
        if name == "effective_depth" and not of["se"] > 0:
            return f"{of['mean']:g}"  # steps are counted: nothing to round where all agree
        return with_error(of["mean"], of["se"])

    def tables(self) -> list[Table]:
        say, what = self.say, self.values["quantity"]
        layers = range(len(self.result.columns["layer"]))
        caption = say(f"merging.table.{what}", seeds=self.seeds_of("merging"))
        names = ("pairs", "effective_depth")
        summary = Table(
            name="summary",
            caption=say("merging.table.summary", seeds=self.seeds_of("merging")),
            columns=[(name, say(f"merging.table.{name}")) for name in ("wiring", *names, "groups")],
            rows=[
                [
                    say(f"wiring.{wiring}"),
                    *(self._summary(name, wiring) for name in names),
                    " ".join(map(str, self.result.summary["groups"][wiring])),
                ]
                for wiring in BASE
            ],
        )
        return [summary, result_table(self.result, say, name=what, caption=caption, rows=layers)]

    def details(self) -> list[tuple[str, str]]:
        texts = [
            (f"merging.details.{key}", self.say(f"merging.details.{key}_text", tolerance=TOLERANCE))
            for key in ("merged", "error", "effective")
        ]
        return self.about(self.result, *texts, theory=False)
