"""Ranges and ticks, chosen from the data: round, few, and never impossible."""

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from app.ui.numbers import power_of_ten, significant

_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
_MOST = 7  # labels on an axis
_LEAST = 1e-300  # beyond it and its inverse there is no room for a rounder number


def nice_ceiling(highest: float) -> float:
    """The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 × 10ᵏ: a range that seldom jumps."""
    if not math.isfinite(highest) or highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    return next((step * power for step in _STEPS if step * power >= highest), 10 * power)


def layer_ticks(depth: int) -> dict[float, str]:
    """Ticks for layers 1 … depth, in even steps that leave room for their numbers."""
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, depth) if depth / step <= 8)
    layers = {*range(step, depth + 1, step)} | ({1} if step > 2 else set())
    return {float(layer): str(layer) for layer in sorted(layers)}


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Move values (say the heights of labels) so far from each other as `gap`, in their order."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for _ in range(20 * len(places)):  # what is moved may come too near to the next one
        close = False
        for below, above in pairwise(order):
            lack = gap - (moved[above] - moved[below])
            if lack > gap * 1e-3:
                moved[below] -= lack / 2
                moved[above] += lack / 2
                close = True
        if not close:
            break
    return moved


def finite(*columns: Iterable[float]) -> list[float]:
    return [entry for column in columns for entry in column if math.isfinite(entry)]


def sound(low: float, high: float, *, log: bool = False) -> tuple[float, float]:
    """The range itself if an axis can span it; else one around the end that is good, or any."""
    good = [end for end in (low, high) if math.isfinite(end) and (end > 0 or not log)]
    if len(good) == 2 and low < high:
        return low, high
    middle = good[0] if good else 1.0
    if log:
        return middle / 2, middle * 2
    room = abs(middle) / 2 or 1.0
    return middle - room, middle + room


def log_range(*columns: Iterable[float]) -> tuple[float, float]:
    """From the next 1, 2 or 5 × 10ᵏ below all that is positive to the next above: a range that
    seldom jumps. It spans a factor of 4 at least; without data it is 0.1 … 10."""
    values = [min(max(value, _LEAST), 1 / _LEAST) for value in finite(*columns) if value > 0]
    if not values:
        return 0.1, 10.0
    low, high = _round_down(min(values) / 1.05), _round_up(max(values) * 1.05)
    while high / low < 3.9:
        low, high = _round_down(low / 1.1), _round_up(high * 1.1)
    return low, high


def log_ticks(low: float, high: float) -> dict[float, str]:
    """Ticks of a logarithmic axis, and what is written at each: powers of ten where there are
    several, else 1, 2 and 5 of each, else even steps. At least two, at most seven."""
    low, high = sound(low, high, log=True)
    exponents = range(math.floor(math.log10(low)) - 1, math.ceil(math.log10(high)) + 2)
    decades = _within([_power(e) for e in exponents], low, high)
    if len(decades) >= 4:
        step = math.ceil(len(decades) / _MOST)
        decades = [place for place in decades if round(math.log10(place)) % step == 0]
        return _named(decades)
    for leading in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 6, 8)):
        places = _within([float(f"{m}e{e}") for e in exponents for m in leading], low, high)
        if 3 <= len(places) <= _MOST:
            return _named(places)
    if len(decades) >= 2 and high / low > 100:
        return _named(decades)
    return _named(_even(low, high))


def depth_ticks(depths: Sequence[int]) -> dict[float, str]:
    """Ticks for a logarithmic axis of depths: those of the given ones that are twice as deep as
    the one before or more, and the deepest."""
    kept: list[int] = []
    for depth in sorted(set(depths)):
        if not kept or depth >= 2 * kept[-1]:
            kept.append(depth)
    deepest = max(depths, default=1)
    if kept and kept[-1] != deepest:
        if len(kept) > 1 and deepest < 1.4 * kept[-1]:
            kept.pop()
        kept.append(deepest)
    return {float(depth): str(depth) for depth in kept}


# ---------------------------------------------------------------------------- helpers


def _power(exponent: int) -> float:
    return float(f"1e{exponent}")  # 10.0**-5 is not 1e-5


def _round_down(value: float) -> float:
    exponent = math.floor(math.log10(value))
    choices = [float(f"{m}e{e}") for e in (exponent - 1, exponent) for m in (1, 2, 5)]
    return max((c for c in choices if c <= value), default=choices[0])


def _round_up(value: float) -> float:
    exponent = math.floor(math.log10(value))
    choices = [float(f"{m}e{e}") for e in (exponent, exponent + 1) for m in (1, 2, 5)]
    return min((c for c in choices if c >= value), default=choices[-1])


def _within(places: Iterable[float], low: float, high: float) -> list[float]:
    slack = 1e-9
    return [place for place in places if low * (1 - slack) <= place <= high * (1 + slack)]


def _even(low: float, high: float) -> list[float]:
    """Places in even steps of 1, 2 or 5 × 10ᵏ, three to seven of them."""
    exponent = math.floor(math.log10(high - low))
    for m, e in ((5, 0), (2, 0), (1, 0), (5, -1), (2, -1), (1, -1)):
        step = float(f"{m}e{exponent + e}")
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first >= 2:
            digits = max(0, -(exponent + e))
            return [round(k * step, digits + 1) for k in range(first, last + 1)][:_MOST]
    return [low, high]  # closer together than numbers can tell


def _named(places: Sequence[float]) -> dict[float, str]:
    """All written out where that is short, else all as powers of ten where they are."""
    if not places:
        return {}
    if min(places) >= 1e-3 and max(places) < 1e5:
        return {place: f"{place:.6g}" for place in places}
    return {place: power_of_ten(place) or _scientific(place) for place in places}


def _scientific(value: float) -> str:
    digits = next(n for n in range(1, 17) if float(f"{value:.{n - 1}e}") == value)
    return significant(value, digits)
