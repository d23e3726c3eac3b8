"""What the training experiment shows at one state: the runs themselves, and those before them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal

from app.nn.training import COLLAPSED, CUT_OFF
from app.probes.options import Option
from app.probes.result import Result
from app.probes.training import LOOKS

RUNS = ("post_ln", "post_ln_warm", "pre_ln")
"""The three runs, by the name that the probe `contrast` gives them."""

Source = Literal["recorded", "trained"]


@dataclass(frozen=True)
class Quantity:
    """What can be looked at besides the loss; all of it on a logarithmic axis.

    `floor`: what is smaller is drawn there; `limit`: below it, the verdict may be "stuck".
    """

    floor: float = 0.0
    limit: float | None = None


QUANTITIES = {
    "cosine": Quantity(floor=1e-6, limit=1 - COLLAPSED),  # shown as its distance to 1
    "lower": Quantity(floor=1e-7, limit=CUT_OFF),
    "gradient": Quantity(),
    "logit": Quantity(),
}
WHAT = Option("what", "choice", "cosine", choices=tuple(QUANTITIES))


def seen(what: str, numbers: list[float]) -> list[float]:
    """The numbers of a quantity as they are drawn."""
    floor = QUANTITIES[what].floor
    distances = [1 - number for number in numbers] if what == "cosine" else numbers
    return [max(x, floor) if isfinite(x) else x for x in distances]


@dataclass(frozen=True)
class Shown:
    """The three runs, and where they come from."""

    result: Result
    source: Source

    @property
    def steps(self) -> list[float]:
        return list(self.result.columns["step"])

    @property
    def done(self) -> bool:
        return self.result.done >= self.result.total

    @property
    def unigram(self) -> float:
        return float(self.result.summary["unigram"])

    def column(self, run: str, name: str = "") -> list[float]:
        return list(self.result.columns[f"{run}_{name}" if name else run])

    @property
    def rows(self) -> list[int]:
        """The rows at which the probe looked at the validation split."""
        every = max(1, self.result.config["steps"] // LOOKS)
        return [i for i, n in enumerate(self.steps) if n % every == 0 or n == self.result.total]

    def looks(self, run: str) -> tuple[list[float], list[float]]:
        """After how many steps that was, 0 among them, and the losses."""
        losses, start = self.column(run, "validation"), self.result.summary[run]["start"]
        return [0.0, *(self.steps[i] for i in self.rows)], [start, *(losses[i] for i in self.rows)]

    def verdict(self, run: str) -> str:
        return str(self.result.summary[run]["verdict"])

    def loss(self, run: str) -> float:
        """The last one over the validation split."""
        return float(self.result.summary[run]["validation"])

    def last(self, run: str, name: str) -> float:
        return self.column(run, name)[-1]


@dataclass(frozen=True)
class Answers:
    """`now` are the runs at the present settings, `before` others that they are compared with."""

    values: Mapping[str, Any]
    now: Shown | None
    before: Shown | None
    running: bool = False

    @property
    def steps(self) -> int:
        return int(self.values["steps"])

    @property
    def warmup(self) -> int:
        return int(self.values["warmup"])
