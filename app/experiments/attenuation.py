"""Does Post-LN lose a factor √d of the gradient per layer? The claim, and a backward pass."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from app.experiments.attenuation_figures import NORMS_PER_LAYER, Claim, Measured
from app.experiments.profiles import (
    Profiles,
    View,
    depth_slider,
    stack_controls,
    stack_of,
)
from app.experiments.tables import result_table
from app.experiments.work import Run, State
from app.probes import attenuation
from app.probes.options import OPTIONS
from app.probes.result import Result
from app.probes.statistics import told_apart
from app.ui.controls import Control, switch
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant, with_error

DEEPEST = 48
WIDTHS = (32, 64, 128, 256)
WIDE = 768  # the width of the article that makes the claim, and of BERT base
WIDE_SEEDS = 4
LOSS = replace(OPTIONS["loss"], default="linear")


def _config(state: State) -> dict[str, Any]:
    return stack_of(state, depth=state["depth"], loss=state["loss"])


class Attenuation(Profiles):
    name = "attenuation"
    first = ("depth", "width")
    runs = (
        Run("measured", attenuation.measure, _config),
        Run(
            "wide",
            attenuation.measure,
            lambda state: {**_config(state), "width": WIDE, "seeds": WIDE_SEEDS},
            action="widen",
        ),
    )

    def build_controls(self) -> list[Control]:
        return [
            depth_slider(self.say, range(1, DEEPEST + 1), 24),
            *stack_controls(self.say, widths=WIDTHS, width=128, attention="softmax", seeds=16),
            switch(LOSS, self.say, key="attenuation.option.loss"),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.claim, self.measured = Claim(self.say, y_log=True), Measured(self.say, y_log=True)
        return {"claim": self.claim, "measured": self.measured}

    def draw(self) -> None:
        result = self.answer("measured")
        assert result is not None
        self.result, self.wide = result, self.answer("wide")
        layers = result.columns["layer"]
        x = [float(layer) for layer in layers]
        view = View(result, range(len(layers)), x, "_geomean")
        self.claim.draw(view)
        self.measured.draw(view, self.values["tokens"], result.summary["norms_passed"], self.wide)

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, depth, width = self.say, self.values["depth"], self.values["width"]
        post, claim = self._whole("post_ln")["geomean"], self.result.columns["claim"][0]
        return [
            *self.caveats("measured", range(depth + 1)),
            say(
                "attenuation.post",
                depth=depth,
                width=width,
                post=self._ratio(self.result, "post_ln"),
                claim=significant(claim, 2),
                orders=significant(math.log10(post / claim), 2),
                seeds=self.seeds_of("measured"),
            ),
            *self._falls(),
            say("attenuation.pre", pre=self._ratio(self.result, "pre_ln")),
            self._alone(),
            *self._compared(),
        ]

    def _alone(self) -> str:
        """What as many LayerNorms as the stack has would leave, with nothing between them."""
        left, whole = (self.result.summary[name] for name in ("norms_passed", "norms_in_a_row"))
        count = min(NORMS_PER_LAYER * self.values["depth"], len(left) - 1)
        return self.say(
            "attenuation.alone",
            count=count,
            left=with_error(whole["mean"], whole["se"])
            if count == len(left) - 1
            else significant(left[count]),
            first=significant(left[1]),
        )

    def _falls(self) -> list[str]:
        """Where Post-LN's gradient is shortest, if that is neither at the first nor the last, and
        there are positions to average over."""
        column = self.result.columns["post_ln_geomean"]
        least = min(range(len(column)), key=lambda row: column[row])
        if self.values["tokens"] == 1 or not 0 < least < len(column) - 1:
            return []
        return [
            self.say(
                "attenuation.falls",
                layer=least,
                least=significant(column[least], 2),
                floor=significant(1 / math.sqrt(self.values["tokens"]), 2),
            )
        ]

    def _compared(self) -> list[str]:
        """The stack of the article's width beside this one."""
        if self.wide is None:
            return []
        here, there = (r.summary["whole"]["post_ln"] for r in (self.result, self.wide))
        error = math.hypot(here["geomean_se"], there["geomean_se"])
        told = told_apart(there["geomean"] - here["geomean"], error)
        return [
            self.say(
                f"attenuation.{'wide' if told else 'wide_same'}",
                width=WIDE,
                here=self.values["width"],
                post=self._ratio(self.wide, "post_ln"),
                pre=self._ratio(self.wide, "pre_ln"),
                claim=significant(self.wide.columns["claim"][0], 2),
                seeds=self.seeds_of("wide"),
            )
        ]

    def _whole(self, wiring: str) -> dict[str, float]:
        whole: dict[str, float] = self.result.summary["whole"][wiring]
        return whole

    def _ratio(self, result: Result, wiring: str) -> str:
        whole = result.summary["whole"][wiring]
        return with_error(whole["geomean"], whole["geomean_se"])

    def tables(self) -> list[Table]:
        say, layers = self.say, range(self.values["depth"] + 1)
        tables = []
        for name, result in (("measured", self.result), ("wide", self.wide)):
            if result is not None:
                caption = say(
                    "attenuation.table.measured",
                    width=result.config["width"],
                    seeds=self.seeds_of(name),
                )
                tables.append(result_table(result, say, name=name, caption=caption, rows=layers))
        left = self.result.summary["norms_passed"]
        return [
            *tables,
            Table(
                name="alone",
                caption=say("attenuation.table.alone", seeds=self.seeds_of("measured")),
                columns=[(c, say(f"attenuation.table.{c}")) for c in ("passed", "left")],
                rows=[[str(passed), significant(value, 4)] for passed, value in enumerate(left)],
            ),
        ]

    def details(self) -> list[tuple[str, str]]:
        say = self.say
        return self.about(
            self.result,
            ("attenuation.details.loss", say(f"attenuation.details.{self.values['loss']}")),
            ("attenuation.details.what", say("attenuation.details.what_text")),
            ("attenuation.details.claim", say("attenuation.details.claim_text")),
            center="geomean",
        )
