"""From values per seed to what a table shows: means with errors, spreads, ratios, fits."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from app.nn.tensor import Array


def spread(name: str, values: Array) -> dict[str, list[float]]:
    """The columns of one wiring from its positive `values`, (seeds, rows).

    `name` (mean over seeds), `name_se` (its standard error; NaN from one seed), `name_geomean`,
    `name_p10`, `name_p90` (linear between order statistics).
    """
    low, high = np.percentile(values, [10, 90], axis=0)
    return {
        name: values.mean(0).tolist(),
        f"{name}_se": standard_error(values).tolist(),
        f"{name}_geomean": np.exp(np.log(values).mean(0)).tolist(),
        f"{name}_p10": low.tolist(),
        f"{name}_p90": high.tolist(),
    }


def standard_error(values: Array) -> Array:
    """s/√n along the first axis, s with n − 1; NaN for n = 1."""
    n = len(values)
    if n < 2:
        return np.full(values.shape[1:], math.nan)
    return np.asarray(values.std(0, ddof=1) / math.sqrt(n))


def paired_ratio(above: Array, below: Array) -> tuple[Array, Array]:
    """mean(above)/mean(below) and its standard error, both (rows,), from (seeds, rows) each.

    The seeds are shared, so the error is that of the paired residuals a_i − r·b_i (the ratio
    estimator of survey sampling; Cochran 1977, chapter 6).
    """
    ratio = above.mean(0) / below.mean(0)
    return ratio, standard_error(above - ratio * below) / below.mean(0)


def paired_ratio_of_geomeans(above: Array, below: Array) -> tuple[Array, Array]:
    """geomean(above)/geomean(below) and its standard error, both (rows,), from (seeds, rows) each:
    the mean of the seeds' log ratios, and its error carried over to first order."""
    logs = np.log(above) - np.log(below)
    ratio = np.exp(logs.mean(0))
    return ratio, ratio * standard_error(logs)


CLEAR = 2  # standard errors


def told_apart(difference: float, error: float) -> bool:
    """Whether a difference is more than its standard error allows for: what lies closer is said to
    be the same, or not to be told apart. Not so where there is no error, as from one seed."""
    return abs(difference) > CLEAR * error


def slopes(x: Any, values: Array) -> Array:
    """Each seed's least-squares slope of values against x: (rows,), (seeds, rows) → (seeds,)."""
    dx = np.asarray(x, float) - np.mean(x)
    return np.asarray((dx * values).sum(1) / (dx * dx).sum())


def fits(depths: Sequence[float], values: Sequence[float]) -> dict[str, Any] | None:
    """Least squares of both laws on the same points, value ≈ slope·x + intercept:
    "linear" with x = N, "log" with x = ln N; {slope, intercept, r2} each.

    None for fewer than three depths: a line through two points fits either law.
    """
    if len(set(depths)) < 3:
        return None
    n = np.asarray(depths, float)
    return {"linear": _line(n, values), "log": _line(np.log(n), values)}


def _line(x: Array, values: Sequence[float]) -> dict[str, float]:
    y = np.asarray(values, float)
    dx, dy = x - x.mean(), y - y.mean()
    slope = float((dx * dy).sum() / (dx * dx).sum())
    unexplained = float(((dy - slope * dx) ** 2).sum())
    total = float((dy * dy).sum())
    return {
        "slope": slope,
        "intercept": float(y.mean() - slope * x.mean()),
        "r2": 1.0 - unexplained / total if total > 0 else 1.0,
    }
