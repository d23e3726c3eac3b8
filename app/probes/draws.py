"""How a forward-only probe goes through seeds and layers: a run of seeds at a time, within a byte
budget, each sublayer drawn into the memory of the one before it. All wirings go through the same
sublayers side by side; one that depends on N in several stacks at once, one for every N."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.nn.stack import (
    Course,
    Purpose,
    StackConfig,
    Sublayer,
    connection_noise,
    empty_matrices,
    fill,
    generators,
)
from app.nn.tensor import Array
from app.nn.wirings import WIRINGS

# A wiring, and the N of the stack it goes through.
Lane = tuple[str, int]

RUN = 2**18  # numbers in one layer of all samples of a run: some milliseconds of drawing


def stack_config(config: Mapping[str, Any], depth: int) -> StackConfig:
    """The stack that a validated config describes, N layers deep."""
    return StackConfig(depth, config["width"], config["ff"], config["attention"], config["tokens"])


def lanes(config: Mapping[str, Any], depths: Sequence[int]) -> list[Lane]:
    """The passes that measure all wirings at all depths: one of the deepest stack, which holds all
    shallower ones, or where the wiring depends on N one for each."""
    deepest = max(depths)
    return [
        (wiring, depth)
        for wiring in config["wiring"]
        for depth in (depths if WIRINGS[wiring].depends_on_depth else (deepest,))
    ]


def course(
    config: Mapping[str, Any], lane: Lane, stack: StackConfig, samples: range, x0: Array
) -> Course:
    """A lane's way through its stack; `start` in the config perturbs hyper-connections."""
    wiring, depth = lane
    noise = connection_noise(config.get("start", 0.0), config["seed"], samples)
    return Course(WIRINGS[wiring], replace(stack, depth=depth), x0, noise=noise)


def at_depths(values: Mapping[Lane, Array], depths: Sequence[int]) -> dict[str, Array]:
    """From what was measured per lane after each of its layers, (seeds, N), to what holds for
    stacks of these depths: (seeds, depths) per wiring."""
    together: dict[str, list[Array]] = {}
    for (wiring, lane_depth), measured in values.items():
        own = WIRINGS[wiring].depends_on_depth
        chosen = [lane_depth - 1] if own else [depth - 1 for depth in depths]
        together.setdefault(wiring, []).append(measured[:, chosen])
    return {wiring: np.concatenate(parts, axis=1) for wiring, parts in together.items()}


def runs(stack: StackConfig, start: int, seeds: int) -> Iterator[range]:
    """Samples start … seeds − 1 in runs short enough for a time slice, and so for 64 MB.

    A run of several samples holds at most `RUN` numbers, 2 MB, in a layer's matrices; a single
    sample at most 38 MB, in an FFN of d = 768 and d_ff = 4d.
    """
    size = max(1, RUN // sum(sublayer.size for sublayer in stack.sublayers))
    for first in range(start, seeds, size):
        yield range(first, min(first + size, seeds))


@dataclass(frozen=True)
class Drawn:
    """A sublayer with its matrices, (samples, m, n) each; `layer` and `index` count from 0."""

    layer: int
    index: int
    sublayer: Sublayer
    matrices: list[Array]

    @property
    def begins_layer(self) -> bool:
        return self.index % 2 == 0

    @property
    def ends_layer(self) -> bool:
        return self.index % 2 == 1

    @property
    def branch(self) -> Callable[[Any], Any]:
        return self.sublayer.branch(self.matrices)


def drawn_sublayers(stack: StackConfig, seed: int, samples: range) -> Iterator[Drawn | None]:
    """All 2N sublayers in order, and None for every pause on the way.

    The matrices are good until the next sublayer is asked for, and may be overwritten.
    """
    memory = np.empty(len(samples) * max(sublayer.size for sublayer in stack.sublayers))
    for layer in range(stack.depth):
        drawing = generators(seed, samples, layer, Purpose.WEIGHTS)
        for place, sublayer in enumerate(stack.sublayers):
            matrices = empty_matrices(sublayer, len(samples), memory)
            for _ in fill(matrices, drawing):
                yield None
            yield Drawn(layer, 2 * layer + place, sublayer, matrices)
