"""Is a deep stack a shallow, wide one? How alike neighbouring layers' states are, and what merging
or dropping layers does to the output.

A group of layers is merged into one sequential step by computing the branches of all of them from
the state at the group's start; trunk and norms stay. For layers l and l + 1 in Post-LN, with the
weights of layer l + 1: b₀ = Attn(x_l), b₁ = FFN(LN(x_l + b₀)), x' = LN(LN(x_{l+1} + b₀) + b₁).
All errors are ‖out' − out‖/‖out‖ of the stack's output; √2 is what two unrelated outputs have.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from app.nn.stack import StackConfig, Step, draw_inputs, output
from app.nn.tensor import Array
from app.nn.wirings import WIRINGS, Wiring
from app.probes import theory
from app.probes.backward import length
from app.probes.draws import Layers, course, runs_to_keep, stack_config
from app.probes.neighbours import CURVES, QUANTITIES
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.seeds import Measuring, keys_of, seed_by_seed
from app.probes.statistics import spread, standard_error

TAKES = narrowed(
    ("wiring", "depth", "width", "ff", "attention", "tokens", "seed", "seeds", "start", "quantity"),
    depth={"default": 24},
    width={"default": 64},
)
TOLERANCE = 0.3  # the output error up to which layers may be grouped
MEASURED = (*QUANTITIES, "drop", "merge", "pairs", "begins", "effective_depth")
PART = 2**25  # multiplications, about, of states that go through a sublayer between two pauses

Measured = dict[str, Array]  # by quantity


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per layer, from x_l to x_{l+1}; partial Results as seeds come in.

    Columns: layer (l = 0 …) and for each wiring the `quantity` with its error and spread, and
    `_theory` where there is a curve. "change": ‖x_{l+1} − x_l‖/‖x_l‖; "cosine" of x_l and x_{l+1};
    "merge": error with layers l and l + 1 merged; "drop": error without layer l. Summary: seeds;
    per wiring `pairs`, the error with all pairs of layers merged, and `effective_depth`, the fewest
    sequential steps into which the layers can be grouped, greedily from the output, with an output
    error ≤ 0.3; in `groups` the sizes of the first seed's groups, first layer to last. None: still
    at work. Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    stack = stack_config(config, config["depth"])
    names = [(w, name) for w in config["wiring"] for name in MEASURED]
    yield from seed_by_seed(
        keys_of("depth", config, names, "quantity"),
        config["seeds"],
        lambda start: runs_to_keep(config, stack, start),
        lambda missing, samples: _measured(config, stack, [*{w: w for w, _ in missing}], samples),
        lambda values: _result(config, values),
    )


def _measured(
    config: Mapping[str, Any], stack: StackConfig, wirings: Sequence[str], samples: range
) -> Measuring[tuple[str, str]]:
    """All quantities of a run of samples, per wiring and quantity."""
    layers = Layers(stack, config["seed"], samples)
    x0 = draw_inputs(stack, config["seed"], samples)
    courses = {w: course(config, (w, stack.depth), stack, samples, x0) for w in wirings}
    walks = {w: Walk(WIRINGS[w], of.start, stack.depth) for w, of in courses.items()}
    for index in range(2 * stack.depth):
        matrices = yield from layers.matrices(index)
        for w, walk in walks.items():
            yield from walk.through(courses[w].next(matrices), matrices, ends_layer=index % 2 == 1)
    found: dict[tuple[str, str], Array] = {}
    for w, walk in walks.items():
        found |= {(w, name): of for name, of in walk.measured().items()}
        yield None
    if samples == range(1):  # the groups take as long again, and longer
        yield found
    for w, walk in walks.items():
        begins = yield from groups(walk, layers)
        found |= {(w, "begins"): begins, (w, "effective_depth"): begins.sum(1)}
    return found


class Walk:
    """A wiring's way through a stack, with all the stacks beside it that differ in one respect:
    two layers merged, one dropped, or all pairs merged."""

    def __init__(self, wiring: Wiring, start: Array, depth: int) -> None:
        self.wiring = wiring
        self.steps: list[Step] = []
        self.layers: list[Array] = [start]  # x₀, x₁ … as far as we are
        self._state = start
        self._merging: tuple[Array, Array] | None = None
        # Dropped and merged in turn, as they arise: 2N − 1 of them in the end.
        self._variants = np.empty((2 * depth - 1, *start.shape))
        self._arisen = 0
        self._pairs: tuple[Array, Array] = (start, start)  # where the pair begins, and where we are
        self._pair_source = start

    def through(
        self, step: Step, matrices: list[Array], ends_layer: bool
    ) -> Generator[None, None, None]:
        """The next sublayer, for all of them."""
        if not ends_layer and len(self.layers) > 1:  # this layer's branches from one layer before
            self._merging = (self.layers[-2], self.layers[-1])
        self._state = step(self._state, matrices)
        yield
        if self._merging is not None:
            self._merging = beside(step, matrices, *self._merging)
            yield
        self._take_pairs(step, matrices, ends_layer)
        yield
        positions = self._state.size // self._state.shape[-1]
        rows = max(1, PART // (positions * step.sublayer.size))
        for first in range(0, self._arisen, rows):
            part = slice(first, min(first + rows, self._arisen))
            self._variants[part] = step(self._variants[part], matrices)
            yield
        self.steps.append(step)
        if ends_layer:
            for variant in [self.layers[-1], *([self._merging[1]] if self._merging else [])]:
                self._variants[self._arisen] = variant
                self._arisen += 1
            self.layers.append(self._state)

    def _take_pairs(self, step: Step, matrices: list[Array], ends_layer: bool) -> None:
        source, state = self._pairs
        if len(self.layers) % 2 == 1:  # the first of a pair, as it is
            self._pairs = (source, step(state, matrices))
        else:
            if not ends_layer:
                self._pair_source = source
            self._pair_source, state = beside(step, matrices, self._pair_source, state)
            self._pairs = (state if ends_layer else source, state)

    def measured(self) -> Measured:
        """Every quantity, (samples, rows) or (samples,); of the groups that none is known yet."""
        x = self.layers
        before, after = x[:-1], x[1:]
        depth = len(before)
        error = self.error
        variants = [error(variant) for variant in self._variants]
        # The first layer leaves one variant, each later one two: dropped, then merged.
        dropped = [variants[0], *variants[1::2]]
        alike = {
            name: np.stack([of(a, b) for a, b in zip(before, after, strict=True)], 1)
            for name, of in QUANTITIES.items()
        }
        nothing = np.full(len(x[0]), math.nan)
        return {
            **alike,
            "drop": np.stack(dropped, 1),
            "merge": np.stack([*variants[2::2], nothing][:depth], 1),
            "pairs": error(self._pairs[1]),
            "begins": np.zeros((len(nothing), depth)),
            "effective_depth": nothing,
        }

    def error(self, state: Array) -> Array:
        """‖out' − out‖/‖out‖ of a last state in place of ours: (samples,)."""
        ours, other = output(self.wiring, self._state), output(self.wiring, state)
        return np.asarray(length(other - ours) / length(ours))


def beside(step: Step, matrices: list[Array], source: Array, trunk: Array) -> tuple[Array, Array]:
    """One sublayer whose branch is computed from `source` and put on `trunk`: both afterwards."""
    branch, brought = step.branch(matrices), source

    def computed(h: Array) -> Array:
        nonlocal brought
        brought = np.asarray(branch(h))
        return brought

    after = step.joined(source, computed)
    return np.asarray(after), np.asarray(step.joined(trunk, lambda _: brought))


def groups(walk: Walk, layers: Layers) -> Generator[None, None, Array]:
    """The groups that the layers make, greedily from the output: 1 where a group begins, else 0,
    (samples, N). Their number is the effective depth.

    A group takes in one more layer at its start as long as the output error stays ≤ 0.3, with all
    groups behind it merged as they are; then the next group begins.
    """
    depth, samples = len(walk.layers) - 1, len(walk.layers[0])
    begins = np.zeros((samples, depth), bool)  # does a group begin with this layer?
    begins[:, -1] = True
    for layer in reversed(range(depth - 1)):
        begins[:, layer] = True
        tried = begins.copy()
        tried[:, layer + 1] = False
        state = yield from _grouped(walk, layers, tried, layer)
        fits = walk.error(state) <= TOLERANCE
        begins[fits, layer + 1] = False
    return begins.astype(float)


def _grouped(walk: Walk, layers: Layers, begins: Array, first: int) -> Generator[None, None, Array]:
    """The last state when the layers from `first` on are grouped so, those before as they are."""
    start = state = walk.layers[first]
    shape = (-1, *[1] * (state.ndim - 1))
    for layer in range(first, begins.shape[1]):
        start = np.where(begins[:, layer].reshape(shape), state, start)
        source = start
        for index in (2 * layer, 2 * layer + 1):
            matrices = yield from layers.matrices(index)
            source, state = beside(walk.steps[index], matrices, source, state)
            yield
    return state


def _result(config: dict[str, Any], values: Mapping[tuple[str, str], Array]) -> Result:
    quantity, depth = config["quantity"], config["depth"]
    rows = depth - 1 if quantity == "merge" else depth
    columns: dict[str, list[Any]] = {"layer": list(range(rows))}
    summary: dict[str, Any] = {"pairs": {}, "effective_depth": {}}
    for w in config["wiring"]:
        columns |= spread(w, values[w, quantity][:, :rows])
        if theory.has_curve(w, config["attention"]) and quantity in CURVES:
            columns[f"{w}_theory"] = CURVES[quantity](w, depth, config["ff"], config["tokens"])
        for name in ("pairs", "effective_depth"):
            summary[name][w] = {
                "mean": float(values[w, name].mean()),
                "se": float(standard_error(values[w, name])),
            }
    summary["groups"] = {w: _sizes(values[w, "begins"][0]) for w in config["wiring"]}
    done = len(next(iter(values.values())))
    return Result("depth", config, columns, {"seeds": done, **summary}, done, config["seeds"])


def _sizes(begins: Array) -> list[int]:
    """1 where a group begins → how many layers each group has."""
    places = [*np.flatnonzero(begins).tolist(), len(begins)]
    return [end - start for start, end in pairwise(places)]
