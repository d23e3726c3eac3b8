"""The answers of the sensitivity experiment at one state, as figures and sentences read them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from app.experiments import laws
from app.experiments.tables import rows_at
from app.nn.wirings import BASE
from app.probes.options import OPTIONS
from app.probes.result import Result

DEEPEST = int(OPTIONS["depth"].high or 0)
DEPTHS: tuple[int, ...] = OPTIONS["depths"].default  # where points are drawn and laws are fitted
WIDE = 128  # from this width on, means over seeds; below, the mean is heavy-tailed: geometric means
MARKS = (1, 2, 4, 8, 16)  # how many times as much the reader can expect of Post-LN


@dataclass(frozen=True)
class Answers:
    """`estimate` and `measured` hold every depth from 1 to the deepest, `beta` its sublayers."""

    values: Mapping[str, Any]
    estimate: Result
    beta: Result
    measured: Result | None

    @property
    def depth(self) -> int:
        return int(self.values["depth"])

    @property
    def kind(self) -> Literal["estimate", "measured"]:
        """What sentence and fits rest on: the measurement, as soon as there is one."""
        return "estimate" if self.measured is None else "measured"

    @property
    def source(self) -> Result:
        return self.measured or self.estimate

    @property
    def wide(self) -> bool:
        return bool(self.values["width"] >= WIDE)

    @property
    def has_theory(self) -> bool:
        return f"{BASE[0]}_theory" in self.estimate.columns

    @property
    def logarithmic(self) -> bool:
        """Is N spaced by its logarithm?"""
        return bool(self.values["axis"] == "log2")

    @cached_property
    def depths(self) -> list[int]:
        """The depths that are drawn as points, listed and fitted: the usual ones, and N."""
        return sorted({*DEPTHS, self.depth})

    @cached_property
    def laws(self) -> dict[str, laws.Fit | None]:
        """Both laws, fitted up to N."""
        columns = {wiring: self.at_depths(self.source, wiring) for wiring in BASE}
        return laws.fit_up_to(self.depth, self.depths, columns)

    def center(self, result: Result, wiring: str) -> list[float]:
        """The column that stands for all seeds."""
        column: list[float] = result.columns[wiring if self.wide else f"{wiring}_geomean"]
        return column

    def at_depths(self, result: Result, wiring: str) -> list[float]:
        center = self.center(result, wiring)
        return [center[row] for row in rows_at(result.columns["depth"], self.depths)]

    def theory(self, result: Result, wiring: str) -> list[float]:
        """The curve, or nothing for softmax attention."""
        curve: list[float] = result.columns.get(f"{wiring}_theory", [])
        return curve

    def ratio(self) -> tuple[float, float]:
        """Post over Pre at N and its standard error, from the same seeds."""
        columns = self.source.columns
        row = columns["depth"].index(self.depth)
        name = "ratio" if self.wide else "ratio_geomean"
        return columns[name][row], columns[f"{name}_se"][row]

    @property
    def mark(self) -> int | None:
        """How many times as much as Pre-LN's the reader expects Post-LN's change to be at N."""
        expected = self.values["expected"]
        return None if expected == "none" else int(expected)

    def mark_height(self) -> float:
        """The mean-square change of Post-LN that the reader's mark comes to; NaN without one."""
        pre = self.center(self.source, BASE[1])[self.depth - 1]
        return math.nan if self.mark is None else self.mark * pre

    def nearest_mark(self) -> int | None:
        """The mark nearest to Post over Pre at N, as a factor; None if that is no number."""
        ratio, _ = self.ratio()
        if not (math.isfinite(ratio) and ratio > 0):
            return None
        return min(MARKS, key=lambda mark: abs(math.log(mark / ratio)))

    def first(self, wiring: str, condition: Any, depths: Sequence[int] | None = None) -> int | None:
        """The least depth at which the value meets a condition."""
        center = self.center(self.source, wiring)
        every = self.source.columns["depth"]
        for row in range(len(every)) if depths is None else rows_at(every, depths):
            if condition(center[row]):
                return int(every[row])
        return None

    def place(self, depth: float) -> float:
        """Where N stands on the axis of depths."""
        return math.log2(depth) if self.logarithmic else float(depth)
