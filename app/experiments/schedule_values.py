"""One schedule, asked at any step; all rates come from the functions that training uses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache

from app.nn.training import linear_schedule, original_schedule

LAST = 40_000  # the last step that is drawn
WARMUPS = (0, 100, 200, 500, 1000, 2000, 4000, 8000, 16_000)
_EXACT = 1 + 1e-12  # rounding may leave half a peak a little above itself


@dataclass(frozen=True)
class Rule:
    """The original rule at a width d and w steps of warm-up, and a step t that is looked at.

    Without warm-up the rule would divide by zero: what is shown then is its limit,
    d^(−1/2)·t^(−1/2).
    """

    width: int
    warmup: int
    step: int

    def rate(self, step: int) -> float:
        return original_schedule(step, self.width, self.warmup)

    def linear(self, step: int) -> float:
        """A linear warm-up to the same peak, then constant."""
        return linear_schedule(step, self.peak, self.warmup)

    def without(self, step: int) -> float:
        """What the rule gives without a ramp."""
        return original_schedule(step, self.width, 0)

    @property
    def peak_step(self) -> int:
        return max(self.warmup, 1)

    @property
    def peak(self) -> float:
        return self.rate(self.peak_step)

    @cached_property
    def half_before(self) -> int:
        """The first step with half of the peak's rate, on the way up."""
        low, high = 0, self.peak_step
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.rate(middle) * _EXACT >= self.peak / 2
            low, high = (low, middle) if enough else (middle, high)
        return high

    @cached_property
    def half_after(self) -> int:
        """The first step behind the peak with no more than half of its rate."""
        low, high = self.peak_step, 2 * self.peak_step
        while self.rate(high) > self.peak / 2 * _EXACT:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.rate(middle) <= self.peak / 2 * _EXACT
            low, high = (low, middle) if enough else (middle, high)
        return high

    @cached_property
    def curves(self) -> Curves:
        return _curves(self.width, self.warmup)


@dataclass(frozen=True)
class Curves:
    """The three rates along the steps at which they are drawn."""

    steps: Sequence[int]
    original: Sequence[float]
    linear: Sequence[float]
    without: Sequence[float]


@lru_cache(maxsize=1)  # for both figures, and for another step of the same rule
def _curves(width: int, warmup: int) -> Curves:
    rule, steps = Rule(width, warmup, 1), _steps()
    return Curves(
        steps,
        [rule.rate(step) for step in steps],
        [rule.linear(step) for step in steps],
        [rule.without(step) for step in steps],
    )


@cache
def _steps() -> list[int]:
    """Evenly in the step's logarithm, and wherever curves may turn: for every rule the same, so
    that the next one's are not sent anew. Between the turns all curves are powers of the step."""
    growing = {round(LAST ** (i / 120)) for i in range(121)}
    return sorted(growing | {max(warmup, 1) for warmup in WARMUPS})


def decades() -> list[int]:
    """1, 10, 100 … as far as steps are drawn."""
    return [10**k for k in range(int(math.log10(LAST)) + 1)]
