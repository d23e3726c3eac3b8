"""What does LayerNorm do to a gradient that goes back through it? Its Jacobian, against ‖x‖."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from app.experiments.experiment import Experiment
from app.experiments.profiles import ALONE, LAW, SEEDS, among, version
from app.experiments.tables import result_table
from app.experiments.work import Run
from app.nn import ops
from app.probes import jacobian
from app.probes.options import OPTIONS
from app.probes.result import Result
from app.ui.controls import Control, number, select, slider
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant, with_error
from app.ui.scales import log_range, log_ticks, nice_ceiling
from app.ui.strings import Strings

WIDTHS = (16, 32, 64, 128, 256)  # all singular values of a wider one take too long for a slice
CLOSE = 1e-3  # relative; ε = 1e-5 beside σ² is far below it


def _picked(*names: str) -> Any:
    def config(state: Mapping[str, Any]) -> dict[str, Any]:
        return {name: state[name] for name in names}

    return config


class Jacobian(Experiment):
    name = "jacobian"
    first = ("scale",)
    runs = (
        Run("norms", jacobian.measure, _picked("width", "seeds", "seed")),
        Run("values", jacobian.singular_values, _picked("width", "seed", "scale")),
    )
    code = (ops.layer_norm,)

    def build_controls(self) -> list[Control]:
        say, width, seeds = self.say, among("width", WIDTHS, 256), among("seeds", SEEDS, 24)
        return [
            slider(OPTIONS["scale"], say, values=jacobian.SCALES, shown="{:g}".format),
            select(width, say, values=WIDTHS, shown=str, key="jacobian.option.width"),
            select(seeds, say, values=SEEDS, shown=str, key="jacobian.option.seeds"),
            number(OPTIONS["seed"], say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.norms, self.spectrum = Norms(self.say), Spectrum(self.say)
        return {"norm": self.norms, "values": self.spectrum}

    def draw(self) -> None:
        norms, values = self.answer("norms"), self.answer("values")
        assert norms is not None
        assert values is not None
        self.measured, self.singular = norms, values
        self.row = jacobian.SCALES.index(self.values["scale"])
        self.norms.draw(norms, self.row)
        self.spectrum.draw(values)

    def sentences(self) -> list[str]:
        say, columns = self.say, self.measured.columns
        product, error = (columns[name][self.row] for name in ("product", "product_se"))
        values, deviation = self.singular.columns["singular"], self.singular.summary["deviation"]
        same = sum(abs(value * deviation - 1) < CLOSE for value in values)
        none = sum(value * deviation < CLOSE for value in values)
        return [
            say(
                "jacobian.product",
                width=self.values["width"],
                scale=f"{self.values['scale']:g}",
                product=with_error(product, error),
                seeds=self.seeds_of("norms"),
            ),
            say("jacobian.slope", slope=f"{self.measured.summary['slope']:.3f}".replace("-", "−")),
            say(
                "jacobian.values",
                width=self.values["width"],
                same=same,
                none=none,
                inverse=significant(1 / deviation),
            ),
            *([say("experiment.one_seed")] if self.measured.total == 1 else []),
        ]

    def tables(self) -> list[Table]:
        rows = range(len(jacobian.SCALES))
        caption = self.say("jacobian.table.norms", seeds=self.seeds_of("norms"))
        values = self.singular.columns
        names = ("index", "singular", "law")
        return [
            result_table(self.measured, self.say, name="norms", caption=caption, rows=rows),
            Table(
                name="values",
                caption=self.say("jacobian.table.values", scale=f"{self.values['scale']:g}"),
                columns=[(name, self.say(f"jacobian.table.{name}")) for name in names],
                rows=[
                    [str(index), *(significant(value, 4) for value in row)]
                    for index, *row in zip(*(values[name] for name in names), strict=True)
                ],
            ),
        ]

    def details(self) -> list[tuple[str, str]]:
        say, state = self.say, self.values
        pairs = [
            ("jacobian.details.input", say("jacobian.details.input_text", width=state["width"])),
            ("experiment.details.seeds", say("jacobian.details.seeds", n=state["seeds"], **state)),
            ("jacobian.details.norm", say("jacobian.details.norm_text", rounds=jacobian.ROUNDS)),
            ("jacobian.details.values", say("jacobian.details.values_text")),
            version(),
        ]
        return [(say(key), text) for key, text in pairs]


class Norms(Chart):
    """The spectral norm against ‖x‖, both on logarithmic axes, on the line √d/‖x‖."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=400, x_log=True, y_log=True)
        self.say = say
        self.upright("scale")
        self.line("law", LAW)
        self.points("chosen", ALONE, size=20, fill_color=None)
        self.points("norms", ALONE)
        self.legend(
            {
                "norms": (["norms"], say("jacobian.figure.norms")),
                "law": (["law"], say("jacobian.figure.law")),
            }
        )

    def draw(self, result: Result, row: int) -> None:
        width, norms, law = (
            result.config["width"],
            result.columns["norm"],
            result.columns["law"],
        )
        x = [math.sqrt(width) / height for height in law]
        self.show("law", x=x, y=law)
        self.show("norms", x=x, y=norms)
        self.show("chosen", x=[x[row]], y=[norms[row]])
        self.mark("scale", x[row])
        ends = x[0] / 1.3, x[-1] * 1.3
        self.limits(x=ends, y=log_range(norms, law))
        self.ticks(log_ticks(*ends))
        self.axis_labels(x=self.say("jacobian.figure.length"), y=self.say("jacobian.figure.norm"))


class Spectrum(Chart):
    """All singular values in order, of the first seed's input."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=400)
        self.say = say
        self.line("law", LAW)
        self.points("values", ALONE)
        self.legend(
            {
                "values": (["values"], say("jacobian.figure.values")),
                "law": (["law"], say("jacobian.figure.inverse")),
            }
        )

    def draw(self, result: Result) -> None:
        index, values, law = (result.columns[name] for name in ("index", "singular", "law"))
        width = len(index)
        self.show("values", x=index, y=values)
        self.show("law", x=index[:-2], y=law[:-2])
        self.size("values", max(4, min(9, 300 / width)))
        self.limits(
            x=(1 - 0.03 * width, 1.03 * width),
            y=(-0.04 * max(values), nice_ceiling(1.1 * max(values))),
        )
        step = width // 4
        self.ticks({1.0: "1", **{float(i): str(i) for i in range(step, width + 1, step)}})
        self.axis_labels(x=self.say("jacobian.figure.index"), y=self.say("jacobian.figure.value"))
