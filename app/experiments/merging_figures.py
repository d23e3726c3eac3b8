"""The two figures of the merging experiment: the output's error, and the groups of layers."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from bokeh.models import FixedTicker

from app.experiments.profiles import RULE, LayerChart, View, state_ticks
from app.nn.wirings import BASE
from app.probes.result import Result
from app.ui.figures import Chart
from app.ui.numbers import significant
from app.ui.scales import finite, nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import SERIES

UNRELATED = math.sqrt(2)  # ‖a − b‖/‖b‖ of two unrelated vectors of one length
HEIGHTS = {"post_ln": 2, "pre_ln": 1}


class Errors(LayerChart):
    """The output's error against the layer that is merged or left out, the chosen one lit; and the
    error with all pairs merged, to the right of the last layer."""

    def behind(self) -> dict[str, tuple[Any, ...]]:
        self.line("unrelated", RULE)
        self.upright("layer")
        for wiring in BASE:
            series = SERIES[wiring]["measured"]
            self.points(f"{wiring}_chosen", replace(series, marker="circle", filled=False), size=20)
            self.points(f"{wiring}_pairs", series, size=13)
        return {"unrelated": (*self.only("unrelated"), self.say("merging.figure.unrelated"))}

    def draw(self, view: View, row: int, quantity: str, depth: int) -> None:
        say, summary = self.say, view.result.summary["pairs"]
        pairs = {w: summary[w]["mean"] for w in BASE} if quantity == "merge" else {}
        place = len(view.x) + 0.1 * depth
        right = place + 0.06 * depth if pairs else len(view.x) - 0.5
        top = nice_ceiling(max(finite(self.profile(view), pairs.values(), [UNRELATED])) * 1.02)
        for wiring in BASE:
            chosen = view.column(wiring)[row]
            self.show(f"{wiring}_chosen", x=[view.x[row]], y=[chosen])
            self.show(
                f"{wiring}_pairs",
                x=[place] if pairs else [],
                y=[pairs[wiring]] if pairs else [],
            )
        self.mark("layer", view.x[row])
        self.show("unrelated", x=[-0.5, right], y=[UNRELATED, UNRELATED])
        self.limits(x=(-0.5, right), y=(0, top))
        all_pairs = {place: say("merging.figure.all")} if pairs else {}
        self.ticks({**state_ticks(len(view.x)), **all_pairs})
        self.visible(False, row="theory")  # there is none for the output
        ends = pairs or {wiring: view.column(wiring)[-1] for wiring in BASE}
        self.name(right, ends, (0, top))
        self.axis_labels(x=say(f"merging.figure.{quantity}"), y=say("merging.figure.error"))


class Groups(Chart):
    """The layers of the first seed's stacks, those that are merged into one step in one box."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=260)
        self.say = say
        for wiring in HEIGHTS:
            self.boxes(wiring, SERIES[wiring]["measured"])
            self.labels(f"{wiring}_label", SERIES[wiring]["measured"].color)
        names: dict[float | str, Any] = {
            float(height): say(f"wiring.{wiring}") for wiring, height in HEIGHTS.items()
        }
        self.plot.yaxis[0].ticker = FixedTicker(ticks=list(HEIGHTS.values()))
        self.plot.yaxis[0].major_label_overrides = names
        self.plot.ygrid.visible = False

    def draw(self, result: Result, depth: int) -> None:
        for wiring, height in HEIGHTS.items():
            sizes = result.summary["groups"][wiring]
            ends = [sum(sizes[: place + 1]) for place in range(len(sizes))]
            self.show(
                wiring,
                left=[end - size - 0.42 for end, size in zip(ends, sizes, strict=True)],
                right=[end - 0.58 for end in ends],
                low=[height - 0.3] * len(sizes),
                high=[height + 0.3] * len(sizes),
            )
            of = result.summary["effective_depth"][wiring]
            mean = significant(of["mean"])  # the label has no room for the error
            x = [depth - 0.5 if sizes else math.nan]
            self.show(f"{wiring}_label", x=x, y=[height], text=[mean])
        self.limits(x=(-0.5, depth - 0.5), y=(0.4, 2.6))
        self.ticks(state_ticks(depth))
        self.axis_labels(x=self.say("merging.figure.layer"), y="")
