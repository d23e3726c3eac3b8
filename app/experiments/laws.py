"""Linear or logarithmic in the depth N? Both laws on the same points, and what can be said."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from app.probes.statistics import fits
from app.ui.markup import Table
from app.ui.numbers import r_squared, significant
from app.ui.strings import Strings

SHALLOW = 4  # up to this N no measurement tells N from ln N
FITS, CLOSE, POOR = 0.98, 0.03, 0.93  # of R²: a law fits from here; as good as equal; fits badly
# So wide, because a few seeds scatter so far that the wrong law would now and then be named.

LAWS = ("linear", "log")
Fit = dict[str, Any]
"""By law: {slope, intercept, r2}."""


def fit_up_to(
    depth: int, depths: Sequence[int], values: Mapping[str, Sequence[float]]
) -> dict[str, Fit | None]:
    """Per wiring both laws over the depths up to `depth`, left out where a value is not finite.
    None for a wiring with fewer than three such depths."""
    fitted = {}
    for wiring, column in values.items():
        points = zip(depths, column, strict=True)
        good = [(n, value) for n, value in points if n <= depth and math.isfinite(value)]
        fitted[wiring] = fits([n for n, _ in good], [value for _, value in good])
    return fitted


def verdict(fit: Fit) -> Literal["linear", "log", "both", "neither"]:
    """Which law a fit of both speaks for."""
    linear, log = fit["linear"]["r2"], fit["log"]["r2"]
    if max(linear, log) < POOR:
        return "neither"
    if min(linear, log) >= FITS or abs(linear - log) < CLOSE:
        return "both"
    return "linear" if linear > log else "log"


def at(fit: Fit, law: str, depth: float) -> float:
    """A fitted law's value at N = `depth`."""
    x = math.log(depth) if law == "log" else depth
    return float(fit[law]["slope"] * x + fit[law]["intercept"])


def sentence(say: Strings, depth: int, fitted: Mapping[str, Fit | None]) -> str:
    """Which law Post-LN and Pre-LN follow up to N, or that they cannot be told apart."""
    post, pre = fitted["post_ln"], fitted["pre_ln"]
    if depth <= SHALLOW or post is None or pre is None:
        return say("laws.too_shallow", depth=depth)
    if verdict(post) == verdict(pre) == "both":
        return say(
            "laws.undecided",
            depth=depth,
            post_linear=r_squared(post["linear"]["r2"]),
            post_log=r_squared(post["log"]["r2"]),
            pre_linear=r_squared(pre["linear"]["r2"]),
            pre_log=r_squared(pre["log"]["r2"]),
        )
    return say(
        "laws.sentence",
        depth=depth,
        post=_clause(say, "post_ln", post),
        pre=_clause(say, "pre_ln", pre),
    )


def table(say: Strings, depth: int, fitted: Mapping[str, Fit | None], source: str) -> Table:
    """Slopes, intercepts and R² of both laws; `source` says what was fitted."""
    names = ("wiring", "law", "slope", "intercept", "r2")
    return Table(
        name="fits",
        caption=say("laws.table.caption", depth=depth, source=source),
        columns=[(name, say(f"laws.table.{name}")) for name in names],
        rows=[
            [
                say(f"wiring.{wiring}"),
                say(f"laws.table.{law}"),
                significant(fit[law]["slope"]),
                significant(fit[law]["intercept"]),
                r_squared(fit[law]["r2"]),
            ]
            for wiring, fit in fitted.items()
            if fit is not None
            for law in LAWS
        ],
    )


def _clause(say: Strings, wiring: str, fit: Fit) -> str:
    return say(
        f"laws.clause.{verdict(fit)}",
        wiring=say(f"wiring.{wiring}"),
        linear=r_squared(fit["linear"]["r2"]),
        log=r_squared(fit["log"]["r2"]),
    )
