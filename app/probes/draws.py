"""How a probe goes through seeds and layers: a run of seeds at a time, within a byte budget.

Forward only, each sublayer is drawn into the memory of the one before it; a probe that comes back
to a layer keeps all of them, or, where they do not fit, draws them again. All wirings go through
the same sublayers side by side; one that depends on N in several stacks at once, one for every N.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from app.nn.ops import layer_norm
from app.nn.stack import (
    Course,
    Purpose,
    StackConfig,
    Step,
    Sublayer,
    connection_noise,
    draw_inputs,
    empty_matrices,
    fill,
    generators,
    output,
)
from app.nn.tensor import Array, Tensor
from app.nn.wirings import WIRINGS
from app.probes.weights import first_sample

# A wiring, and the N of the stack it goes through.
Lane = tuple[str, int]

RUN = 2**18  # numbers in one layer of all samples of a run: some milliseconds of drawing


def stack_config(config: Mapping[str, Any], depth: int) -> StackConfig:
    """The stack that a validated config describes, N layers deep."""
    chosen = {name: config[name] for name in ("width", "ff", "attention", "tokens")}
    return StackConfig(depth, stack=config.get("stack", "encoder"), **chosen)


def lanes(config: Mapping[str, Any], depths: Sequence[int]) -> list[Lane]:
    """The passes that measure all wirings at all depths: one of the deepest stack, which holds all
    shallower ones, or where the stack is another one for every N one for each."""
    deepest = max(depths)
    return [
        (wiring, depth)
        for wiring in config["wiring"]
        for depth in (depths if is_another_for_every_depth(config, wiring) else (deepest,))
    ]


def is_another_for_every_depth(config: Mapping[str, Any], wiring: str) -> bool:
    """Because the wiring depends on N, or because the memory of a decoder does."""
    looks_at_encoder = config.get("stack") == "decoder" and config["memory"] == "encoder"
    return WIRINGS[wiring].depends_on_depth or looks_at_encoder


def course(
    config: Mapping[str, Any],
    lane: Lane,
    stack: StackConfig,
    samples: range,
    x0: Array,
    memory: Array | None = None,
) -> Course:
    """A lane's way through its stack; `start` in the config perturbs hyper-connections."""
    wiring, depth = lane
    noise = connection_noise(config.get("start", 0.0), config["seed"], samples)
    return Course(WIRINGS[wiring], replace(stack, depth=depth), x0, memory, noise)


def at_depths(
    config: Mapping[str, Any], values: Mapping[Lane, Array], depths: Sequence[int]
) -> dict[str, Array]:
    """From what was measured per lane after each of its layers, (seeds, N), to what holds for
    stacks of these depths: (seeds, depths) per wiring."""
    together: dict[str, list[Array]] = {}
    for (wiring, lane_depth), measured in values.items():
        own = is_another_for_every_depth(config, wiring)
        chosen = [lane_depth - 1] if own else [depth - 1 for depth in depths]
        together.setdefault(wiring, []).append(measured[:, chosen])
    return {wiring: np.concatenate(parts, axis=1) for wiring, parts in together.items()}


def memories(
    config: Mapping[str, Any], all_lanes: Sequence[Lane], stack: StackConfig, samples: range
) -> Generator[None, None, dict[Lane, Array | None]]:
    """What each lane's decoder attends to, (samples, T, d); None for other stacks.

    "iid": LN of standard normals. "encoder": the output of an encoder of the same wiring and depth,
    with an input and weights of its own.
    """
    if stack.stack != "decoder":
        return dict.fromkeys(all_lanes)
    source = replace(stack, stack="source")
    x0 = draw_inputs(source, config["seed"], samples, Purpose.SOURCE)
    if config["memory"] == "iid":
        return dict.fromkeys(all_lanes, layer_norm(x0))
    found: dict[Lane, Array | None] = {}
    alone = {name: value for name, value in config.items() if name != "stack"}
    depths = sorted({depth for _, depth in all_lanes})
    courses = {lane: course(alone, lane, source, samples, x0) for lane in lanes(alone, depths)}
    states = {lane: lane_course.start for lane, lane_course in courses.items()}
    for drawn in drawn_sublayers(source, config["seed"], samples, Purpose.ENCODER):
        yield
        if drawn is None:
            continue
        for lane, lane_course in courses.items():
            if drawn.layer < lane[1]:
                step = lane_course.next(drawn.matrices)
                states[lane] = step(states[lane], drawn.matrices)
                decoder = (lane[0], drawn.layer + 1)
                own = WIRINGS[lane[0]].depends_on_depth and drawn.layer + 1 < lane[1]
                if drawn.ends_layer and decoder in all_lanes and not own:
                    found[decoder] = output(WIRINGS[lane[0]], states[lane])
                yield
    return found


def runs(stack: StackConfig, start: int, seeds: int) -> Iterator[range]:
    """Samples start … seeds − 1 in runs short enough for a time slice, and so for 64 MB.

    The first sample of all comes alone: whoever has moved a slider sees soon what it leads to.
    A run of several samples holds at most `RUN` numbers, 2 MB, in a layer's matrices; a single
    sample at most 38 MB, in an FFN of d = 768 and d_ff = 4d.
    """
    size = max(1, RUN // sum(sublayer.size for sublayer in stack.sublayers))
    if start == 0 and seeds:
        yield range(1)
        start = 1
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
        return self.sublayer.kind == "attention"

    @property
    def ends_layer(self) -> bool:
        return self.sublayer.kind == "ffn"


def drawn_sublayers(
    stack: StackConfig, seed: int, samples: range, purpose: Purpose = Purpose.WEIGHTS
) -> Iterator[Drawn | None]:
    """All sublayers in order, and None for every pause on the way.

    The matrices are good until the next sublayer is asked for, and may be overwritten.
    """
    sublayers = stack.sublayers
    memory = np.empty(len(samples) * max(sublayer.size for sublayer in sublayers))
    first = first_sample(stack, seed, samples, purpose)
    for layer in range(stack.depth):
        kept = first.layer(layer) if first else None
        drawing = [] if kept else generators(seed, samples, layer, purpose)
        to_keep: list[list[Array]] | None = [] if first and first.wants(layer) else None
        for place, sublayer in enumerate(sublayers):
            matrices = empty_matrices(sublayer, len(samples), memory)
            if kept:
                for matrix, known in zip(matrices, kept[place], strict=True):
                    np.copyto(matrix, known)
            else:
                for _ in fill(matrices, drawing):
                    yield None
                if to_keep is not None:
                    to_keep.append([matrix.copy() for matrix in matrices])
            yield Drawn(layer, len(sublayers) * layer + place, sublayer, matrices)
        if first and to_keep and first.wants(layer):
            first.add(to_keep)


KEPT = 40 * 2**20  # bytes that the matrices of a run may take together


class Layers:
    """The matrices of a run of samples, sublayer by sublayer, in any order and again.

    They are kept if all fit into `KEPT` bytes. Otherwise one sublayer is held at a time, and drawn
    again from its layer's child seed when it is asked for. What is known of the first sample
    (`weights`) is not drawn.
    """

    def __init__(self, stack: StackConfig, seed: int, samples: range) -> None:
        self.sublayers = stack.sublayers
        self._seed, self._samples = seed, samples
        self._keeps = kept_bytes(stack, len(samples)) <= KEPT
        self._held: dict[int, list[Array]] = {}
        largest = max(sublayer.size for sublayer in self.sublayers)
        self._memory = None if self._keeps else np.empty(len(samples) * largest)
        self._next = -1  # the sublayer that the generators have come to
        self._drawing: list[np.random.Generator] = []
        self._first = first_sample(stack, seed, samples, Purpose.WEIGHTS)

    def matrices(self, index: int) -> Generator[None, None, list[Array]]:
        """Those of the sublayer of an index, (samples, m, n) each; pauses while it draws. They are
        good until another index is asked for."""
        if index in self._held:
            return self._held[index]
        layer, place = divmod(index, len(self.sublayers))
        known = self._first.layer(layer) if self._first else None
        if known:
            return known[place]
        if place == 0 or index != self._next:
            self._drawing = generators(self._seed, self._samples, layer, Purpose.WEIGHTS)
            self._next = index - place
        while self._next <= index:
            sublayer = self.sublayers[self._next % len(self.sublayers)]
            matrices = empty_matrices(sublayer, len(self._samples), self._memory)
            for _ in fill(matrices, self._drawing):
                yield
            if not self._keeps:
                self._held.clear()
            self._held[self._next] = matrices
            self._next += 1
        whole = self._keeps and place == len(self.sublayers) - 1
        if whole and self._first and self._first.wants(layer):
            self._first.add([self._held[each] for each in range(index - place, index + 1)])
        return self._held[index]


def kept_bytes(stack: StackConfig, samples: int) -> int:
    """What the matrices of all layers take, in bytes."""
    return 8 * samples * stack.depth * sum(sublayer.size for sublayer in stack.sublayers)


def runs_to_keep(config: Mapping[str, Any], stack: StackConfig, start: int) -> Iterator[range]:
    """Samples start … seeds − 1 in runs whose matrices and states of all wirings are kept, or one
    by one where not even one sample's are."""
    sublayers = stack.depth * len(stack.sublayers)
    streams = sum(WIRINGS[wiring].streams for wiring in config["wiring"])
    states = 8 * streams * sublayers * stack.tokens * stack.width
    size = max(1, KEPT // (kept_bytes(stack, 1) + 2 * states))
    for samples in runs(stack, start, config["seeds"]):
        for first in range(samples.start, samples.stop, size):
            yield range(first, min(first + size, samples.stop))


def advance(step: Step, state: Array, matrices: Sequence[Array]) -> tuple[Array, Array, Array]:
    """A sublayer taken: the state after it, what the branch brings into the sum, and the sum,
    before a norm that may follow it."""
    after = step(Tensor(state), matrices)
    total = after
    while len(operands := total.operands) < 2:  # back through norms, to where two ways meet
        (total,) = operands
    return after.value, total.operands[1].value, total.value
