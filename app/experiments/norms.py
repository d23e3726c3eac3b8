"""How long is the residual stream, layer by layer? Against the bounds of Xiong et al., Lemma 2."""

from __future__ import annotations

from typing import Any

from app.experiments.profiles import (
    RULE,
    LayerChart,
    Profiles,
    View,
    depth_slider,
    stack_controls,
    stack_of,
)
from app.experiments.tables import result_table
from app.experiments.work import Run
from app.probes import norms
from app.ui.controls import Control
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant
from app.ui.scales import finite, layer_ticks, nice_ceiling

DEEPEST = 24
WIDTHS = (64, 128, 256, 512)
THREE_HALVES = 1.5  # Lemma 2, for the sum before a Post-LN layer's last norm


class Norms(Profiles):
    name = "norms"
    # One answer for all depths: a deeper stack begins with the layers of the shallower one.
    runs = (Run("norms", norms.measure, lambda state: stack_of(state, depth=DEEPEST)),)

    def build_controls(self) -> list[Control]:
        return [
            depth_slider(self.say, range(1, DEEPEST + 1), 12),
            *stack_controls(self.say, widths=WIDTHS, width=256, tokens=8),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.streams, self.sums = Streams(self.say), Sums(self.say, wirings=("post_ln",))
        return {"norms": self.streams, "post": self.sums}

    def draw(self) -> None:
        result = self.answer("norms")
        assert result is not None
        depth = self.values["depth"]
        self.result, self.row = result, depth - 1
        view = View(result, range(depth), [float(layer) for layer in range(1, depth + 1)])
        self.streams.draw(view)
        self.sums.draw(view)

    def sentences(self) -> list[str]:
        say, columns, row = self.say, self.result.columns, self.row
        softmax = self.values["attention"] == "softmax"
        return [
            *self.caveats("norms", range(row + 1)),
            say(
                "norms.pre",
                layers=say("option.depth.words", n=row + 1, value=row + 1),
                mean=self.value(self.result, "pre_ln", row),
                lower=f"{columns['lower'][row]:g}",
                upper=f"{columns['upper'][row]:g}",
                inside=self.percent(columns["pre_ln_inside"][row]),
                seeds=self.seeds_of("norms"),
            ),
            say(
                "norms.post" if self.result.done > 1 else "norms.post_once",
                depth=row + 1,
                mean=self.value(self.result, "post_ln", row),
                low=significant(columns["post_ln_p10"][row]),
                high=significant(columns["post_ln_p90"][row]),
            ),
            *([say("norms.alike")] if self.values["tokens"] > 1 else []),
            *([say("norms.softmax")] if softmax else []),
        ]

    def tables(self) -> list[Table]:
        caption = self.say("norms.table", seeds=self.seeds_of("norms"))
        rows = range(self.row + 1)
        return [result_table(self.result, self.say, name="norms", caption=caption, rows=rows)]

    def details(self) -> list[tuple[str, str]]:
        return self.about(self.result, ("norms.details.what", self.say("norms.details.what_text")))


class Streams(LayerChart):
    """‖x‖²/d after each layer, in the band that the lemma allows Pre-LN."""

    def behind(self) -> dict[str, tuple[Any, ...]]:
        self.area("bounds", RULE)
        return {"bounds": (*self.only("bounds"), self.say("norms.figure.bounds"))}

    def draw(self, view: View) -> None:
        lower, upper = view.column("lower"), view.column("upper")
        self.show("bounds", x=view.x, low=lower, high=upper)
        top = nice_ceiling(max(*self.profile(view), *upper) * 1.02)
        first, last = view.x[0], view.x[-1]
        self.limits(x=(first - 0.5, last + 0.5), y=(0, top))
        self.ticks(layer_ticks(len(view.x)))
        self.name_at_ends(last + 0.5, view, (0, top))
        self.axis_labels(x=self.say("profiles.figure.layer"), y=self.say("norms.figure.square"))


class Sums(LayerChart):
    """Post-LN's sum before a layer's last norm, close by."""

    def draw(self, view: View) -> None:
        heights = finite(self.profile(view), [THREE_HALVES])
        far = nice_ceiling(1.05 * max(abs(height - THREE_HALVES) for height in heights))
        low, high = THREE_HALVES - far, THREE_HALVES + far
        last = view.x[-1] + 0.5
        self.limits(x=(view.x[0] - 0.5, last), y=(low, high))
        self.ticks(layer_ticks(len(view.x)))
        self.name_at_ends(last, view, (low, high))
        self.axis_labels(x=self.say("profiles.figure.layer"), y=self.say("norms.figure.sum"))
