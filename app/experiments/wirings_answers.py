"""The answers of the wirings experiment at one state, as sentences and tables read them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from app.experiments import laws
from app.nn.wirings import BASE
from app.probes.result import Result
from app.probes.statistics import told_apart

SAME = 1e-4  # relative: closer is one and the same, but for the ε of a final norm over a sum

Estimate = Mapping[str, float]
Verdict = Literal["same", "falls", "flat", "like_pre", "like_post", "slower", "between", "faster"]


@dataclass(frozen=True)
class Answers:
    """`changes`: a row per N, of `probes.wirings`; `profile`: a row per layer."""

    variant: str
    changes: Result
    profile: Result

    @property
    def wirings(self) -> tuple[str, ...]:
        """The variant first, then Post-LN and Pre-LN."""
        return (self.variant, *BASE)

    def exponents(self) -> list[Estimate]:
        """Of N, in the mean-square change over the whole range of depths: mean and error."""
        return [self.changes.summary["exponent"][wiring] for wiring in self.wirings]

    def ratios(self) -> list[Estimate]:
        """The last layer's gradient over the first's, in length: geometric mean and error."""
        return [self.profile.summary["ratio"][wiring] for wiring in self.wirings]

    def fits(self) -> dict[str, laws.Fit | None]:
        """Both laws on the geometric means."""
        depths: list[int] = self.changes.columns["depth"]
        columns = {w: self.changes.columns[f"{w}_geomean"] for w in self.wirings}
        return laws.fit_up_to(depths[-1], depths, columns)

    def not_finite(self) -> tuple[str, int] | None:
        """The first wiring and N whose change is no number that could be drawn."""
        for wiring in self.wirings:
            column = self.changes.columns[f"{wiring}_geomean"]
            for depth, value in zip(self.changes.columns["depth"], column, strict=True):
                if not (math.isfinite(value) and value > 0):
                    return wiring, int(depth)
        return None

    def verdict(self) -> Verdict | None:
        """How the variant's change depends on N, beside the other two; None without errors."""
        if self._is_pre_ln():
            return "same"
        variant, post, pre = self.exponents()
        if not all(math.isfinite(power["se"]) for power in (variant, post, pre)):
            return None
        if not told_apart(variant["mean"], variant["se"]):
            return "flat"
        if variant["mean"] < 0:
            return "falls"
        if _close(variant, pre):
            return "like_pre"
        if _close(variant, post):
            return "like_post"
        low, high = sorted((post["mean"], pre["mean"]))
        if variant["mean"] < low:
            return "slower"
        return "between" if variant["mean"] < high else "faster"

    def _is_pre_ln(self) -> bool:
        columns = (self.changes.columns[f"{w}_geomean"] for w in (self.variant, "pre_ln"))
        return all(abs(one / other - 1) < SAME for one, other in zip(*columns, strict=True))


def _close(one: Estimate, other: Estimate) -> bool:
    """No further apart than their errors allow. The seeds are shared, so this is cautious."""
    return not told_apart(one["mean"] - other["mean"], math.hypot(one["se"], other["se"]))
