"""What the gradients experiments compute, and what can be read from the answers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from app.nn.stack import StackConfig
from app.nn.wirings import BASE
from app.probes.gradients import LAST_TAKES
from app.probes.options import Option
from app.probes.result import Result
from app.probes.statistics import told_apart

DEPTHS: tuple[int, ...] = LAST_TAKES["depths"].default  # the L at which the last layer is measured

# The kinds of stack to choose from, as the probes' `stack` and `memory`: one choice, for without a
# decoder there is no memory.
STACKS = {
    "encoder": ("encoder", "encoder"),
    "decoder": ("decoder", "encoder"),
    "decoder_iid": ("decoder", "iid"),
}
STACK = Option("stack", "choice", "encoder", choices=tuple(STACKS))

Verdict = Literal["flat", "rises", "falls", "unknown"]


def shared_config(values: Mapping[str, Any]) -> dict[str, Any]:
    """What both probes are computed from; the depth N is the profile's alone."""
    stack, memory = STACKS[values["stack"]]
    names = ("width", "ff", "attention", "tokens", "loss", "seed", "seeds")
    return {
        "wiring": BASE,
        "stack": stack,
        "memory": memory,
        "matrix": present(values),
        **{name: values[name] for name in names},
    }


def profile_config(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**shared_config(values), "depth": values["depth"]}


def last_config(values: Mapping[str, Any]) -> dict[str, Any]:
    return {**shared_config(values), "depths": DEPTHS}


def present(values: Mapping[str, Any]) -> str:
    """The chosen matrix, or the one that takes its place in a stack that has none of this name.

    With uniform attention W_O is merged into W_V, and W_Q and W_K are zero; cross-attention is
    there in decoders only.
    """
    wanted = str(values["matrix"])
    stack, _ = STACKS[values["stack"]]
    there = StackConfig(1, attention=values["attention"], stack=stack).matrices
    own = wanted.removeprefix("cross_")
    of = wanted.removesuffix(own)
    return next(name for name in (wanted, own, f"{of}W_V", "W_V") if name in there)


def verdict(slope: Mapping[str, float]) -> Verdict:
    """Whether a slope can be told from zero, and if so, which way it goes."""
    mean, error = slope["mean"], slope["se"]
    if not (math.isfinite(mean) and math.isfinite(error)):
        return "unknown"
    if not told_apart(mean, error):
        return "flat"
    return "rises" if mean > 0 else "falls"


@dataclass(frozen=True)
class Answers:
    """`profile`: a row per layer of one stack. `last`: the last layer's gradient, a row per L."""

    profile: Result
    last: Result

    @property
    def depth(self) -> int:
        return int(self.profile.config["depth"])

    @property
    def matrix(self) -> str:
        return str(self.profile.config["matrix"])

    @property
    def has_theory(self) -> bool:
        return f"{BASE[0]}_theory" in self.profile.columns

    def relative_theory(self, wiring: str) -> list[float]:
        """The curve over its own first layer; nothing where there is none."""
        curve: list[float] = self.profile.columns.get(f"{wiring}_theory", [])
        return [value / curve[0] for value in curve]

    def ratio(self, wiring: str) -> Mapping[str, float]:
        """Last layer over first: {mean, se, geomean, geomean_se}."""
        ratio: Mapping[str, float] = self.profile.summary["ratio"][wiring]
        return ratio

    def per_layer(self, wiring: str) -> Mapping[str, float]:
        """The slope of log₁₀ of the norm per layer: {mean, se}."""
        slope: Mapping[str, float] = self.profile.summary["slope"][wiring]
        return slope

    @property
    def decoder_slope(self) -> float | None:
        """What theory says of that slope for Post-LN, where cross-attention looks at a collapsed
        memory."""
        slope: float | None = self.profile.summary.get("slope_theory", {}).get("post_ln")
        return slope

    def exponent(self, wiring: str) -> Mapping[str, float]:
        """The power of L with which the last layer's norm goes: {mean, se, theory if there is}."""
        return exponent(self.last, wiring)


def exponent(last: Result, wiring: str) -> Mapping[str, float]:
    slope: Mapping[str, float] = last.summary["slope"][wiring]
    return slope


def power_law(last: Result, wiring: str) -> list[float]:
    """The fitted power of L at each L: through the middle of the geometric means, whose slope in
    logarithms is the mean of the seeds' slopes."""
    logs = [math.log(depth) for depth in last.columns["depth"]]
    heights = [_log(value) for value in last.columns[f"{wiring}_geomean"]]
    middle, height = sum(logs) / len(logs), sum(heights) / len(heights)
    slope = exponent(last, wiring)["mean"]
    return [math.exp(height + slope * (log - middle)) for log in logs]


def _log(value: float) -> float:
    return math.log(value) if 0 < value < math.inf else math.nan


def in_words(matrix: str) -> str:
    """A matrix as figures and sentences write it: W₂, W_V, cross-W_V."""
    return matrix.replace("W_1", "W₁").replace("W_2", "W₂").replace("cross_", "cross-")
