"""How much does a layer change the stream? Neighbouring layers' states, compared."""

from __future__ import annotations

from typing import Any

from app.experiments.profiles import (
    LayerChart,
    Profiles,
    View,
    depth_slider,
    stack_controls,
    stack_of,
    state_ticks,
)
from app.experiments.tables import result_table
from app.experiments.work import Run, State
from app.nn.wirings import BASE
from app.probes import neighbours
from app.probes.statistics import told_apart
from app.ui.controls import Control
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.scales import nice_ceiling

DEEPEST = 48
WIDTHS = (32, 64, 128, 256)
QUANTITIES = ("change", "cosine")


def _run(quantity: str) -> Run:
    """One answer for all depths: a deeper stack begins with the layers of the shallower one."""

    def config(state: State) -> dict[str, Any]:
        return stack_of(state, depth=DEEPEST, quantity=quantity)

    return Run(quantity, neighbours.measure, config)


class Depth(Profiles):
    name = "depth"
    runs = tuple(_run(quantity) for quantity in QUANTITIES)

    def build_controls(self) -> list[Control]:
        return [
            depth_slider(self.say, range(2, DEEPEST + 1), 24),
            *stack_controls(self.say, widths=WIDTHS, width=64),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.neighbours = {quantity: Neighbours(self.say) for quantity in QUANTITIES}
        return {**self.neighbours}

    def draw(self) -> None:
        depth = self.values["depth"]
        for quantity, chart in self.neighbours.items():
            result = self.answer(quantity)
            assert result is not None
            chart.draw(View(result, range(depth), [float(layer) for layer in range(depth)]))
            chart.axis_labels(
                x=self.say("depth.figure.layer"), y=self.say(f"depth.figure.{quantity}")
            )

    def sentences(self) -> list[str]:
        last = self.values["depth"] - 1
        return [
            *self.caveats("change", range(last + 1)),
            self.say(
                "depth.change",
                depth=last + 1,
                seeds=self.seeds_of("change"),
                pre=self._value("change", "pre_ln", last),
                pre_first=self._value("change", "pre_ln", 0),
                post=self._value("change", "post_ln", last),
                post_first=self._value("change", "post_ln", 0),
            ),
            self.say(
                "depth.cosine",
                pre=self._value("cosine", "pre_ln", last),
                post=self._value("cosine", "post_ln", last),
                verdict=self.say(f"depth.{self._verdict(last)}"),
            ),
        ]

    def _value(self, quantity: str, wiring: str, row: int) -> str:
        result = self.answer(quantity)
        assert result is not None
        return self.value(result, wiring, row)

    def _verdict(self, last: int) -> str:
        """Do the last two states of Pre-LN resemble each other more than those of Post-LN?"""
        result = self.answer("cosine")
        assert result is not None
        pre, post = (result.columns[wiring][last] for wiring in ("pre_ln", "post_ln"))
        errors = (result.columns[f"{wiring}_se"][last] for wiring in BASE)
        error = sum(one**2 for one in errors) ** 0.5
        return "alike" if pre > post and told_apart(pre - post, error) else "undecided"

    def tables(self) -> list[Table]:
        tables = []
        for quantity in QUANTITIES:
            result = self.answer(quantity)
            assert result is not None
            caption = self.say(f"depth.table.{quantity}", seeds=self.seeds_of(quantity))
            rows = range(self.values["depth"])
            tables.append(result_table(result, self.say, name=quantity, caption=caption, rows=rows))
        return tables

    def details(self) -> list[tuple[str, str]]:
        result = self.answer("change")
        assert result is not None
        return self.about(result, ("depth.details.what", self.say("depth.details.what_text")))


class Neighbours(LayerChart):
    """A quantity from x_l to x_{l+1}."""

    def draw(self, view: View) -> None:
        top = nice_ceiling(max(self.profile(view), default=0.0) * 1.02)
        last = view.x[-1] + 0.5
        self.limits(x=(-0.5, last), y=(0, top))
        self.ticks(state_ticks(len(view.x)))
        self.name_at_ends(last, view, (0, top))
