"""How a probe goes back through stacks: a forward pass that keeps the states of the residual
stream, then sublayer by sublayer from the end, each put on the tape by itself.

So no more than one sublayer's intermediate values are held at a time, any number of layers fits,
and there is a place to pause between any two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.nn import ops
from app.nn.stack import Course, Purpose, StackConfig, Step, draw_inputs, generators, output
from app.nn.stack import matrix_scale as scale_of
from app.nn.tensor import Array, Tensor
from app.nn.wirings import WIRINGS, Place
from app.probes.draws import Lane, Layers, course, memories
from app.probes.seeds import BEGINNING

CLASSES = 64

Loss = Callable[[Tensor], Tensor]


def draw_loss(config: Mapping[str, Any], stack: StackConfig, samples: range) -> Loss:
    """The loss of an output, (samples, T, d): a sum over samples, each with the loss it has alone.

    "ce": cross-entropy of a head W_h ~ N(0, 1/d) to 64 classes and random targets, mean over
    positions. "linear": Σ⟨r_t, out_t⟩ with r_t ~ N(0, I).
    """
    drawing = generators(config["seed"], samples, 0, Purpose.LOSS)
    if config["loss"] == "linear":
        direction = np.stack([g.standard_normal((stack.tokens, stack.width)) for g in drawing])
        return lambda out: ops.inner(out, direction)
    head = np.stack([g.standard_normal((stack.width, CLASSES)) for g in drawing])
    head /= stack.width**0.5
    targets = np.stack([g.integers(CLASSES, size=stack.tokens) for g in drawing])
    return lambda out: ops.cross_entropy(ops.linear(out, head), targets)


@dataclass(frozen=True)
class Norms:
    """‖∂L/∂x‖ of every state x₀ … of the residual stream, (samples, sublayers + 1), by a change of
    all streams alike where there are several; and ‖∂L/∂W‖ of the wanted matrix in every layer,
    (samples, N). Frobenius norms over positions and width."""

    stream: Array
    matrix: Array


def gradient_norms(
    config: Mapping[str, Any],
    stack: StackConfig,
    samples: range,
    matrix: str | None,
    *,
    tells: bool = True,
) -> Generator[dict[str, Norms] | None, None, dict[str, Norms]]:
    """One forward and one backward pass of stacks of this very depth, per wiring; pauses, and tells
    of the first sample's last layers, through which it comes back first (see `seeds.Measuring`);
    not where a profile is held against its first layer."""
    layers = Layers(stack, config["seed"], samples)
    courses = yield from begun(config, [(w, stack.depth) for w in config["wiring"]], stack, samples)
    states = {lane: [lane_course.start] for lane, lane_course in courses.items()}
    steps: dict[Lane, list[Step]] = {lane: [] for lane in courses}
    total = len(layers.sublayers) * stack.depth
    for index in range(total):
        matrices = yield from layers.matrices(index)
        for lane, lane_course in courses.items():
            steps[lane].append(lane_course.next(matrices))
            states[lane].append(steps[lane][-1](states[lane][-1], matrices))
            yield None
    loss = draw_loss(config, stack, samples)
    arriving = {lane: loss_gradient(loss, lane, states[lane].pop()) for lane in courses}
    norms = {
        lane: Norms(*(np.full((len(samples), n), np.nan) for n in (total + 1, stack.depth)))
        for lane in courses
    }
    for lane, g in arriving.items():
        norms[lane].stream[:, total] = length(by_all_streams(lane, g))
    wanted = stack.matrices.get(matrix or "", (-1, -1))
    for index in reversed(range(total)):
        layer, place = divmod(index, len(layers.sublayers))
        matrices = yield from layers.matrices(index)
        position = wanted[1] if place == wanted[0] else None
        for lane in courses:
            arriving[lane], norm = back(
                steps[lane][index], states[lane].pop(), matrices, position, arriving[lane]
            )
            norms[lane].stream[:, index] = length(by_all_streams(lane, arriving[lane]))
            if norm is not None:
                scale = matrix_scale(lane, stack, index, position)
                norms[lane].matrix[:, layer] = norm / scale
            yield None
        if tells and samples == range(1) and total - index == total // BEGINNING:
            yield by_wiring(norms)
    return by_wiring(norms)


def by_wiring(norms: Mapping[Lane, Norms]) -> dict[str, Norms]:
    return {wiring: of for (wiring, _), of in norms.items()}


def begun(
    config: Mapping[str, Any], all_lanes: Sequence[Lane], stack: StackConfig, samples: range
) -> Generator[None, None, dict[Lane, Course]]:
    """The lanes' ways through their stacks, with their memories, at the start."""
    remembered = yield from memories(config, all_lanes, stack, samples)
    x0 = draw_inputs(stack, config["seed"], samples)
    return {lane: course(config, lane, stack, samples, x0, remembered[lane]) for lane in all_lanes}


def loss_gradient(loss: Loss, lane: Lane, state: Array) -> Array:
    """∂L/∂(last state), of the state's shape."""
    last = Tensor(state)
    loss(output(WIRINGS[lane[0]], last)).backward()
    assert last.grad is not None
    return last.grad


def back(
    step: Step, state: Array, matrices: Sequence[Array], position: int | None, g: Array
) -> tuple[Array, Array | None]:
    """Through one sublayer: from ∂L/∂(state after it) to ∂L/∂(state before it), and ‖∂L/∂W‖ of its
    matrix of that position, if any, (samples,)."""
    x = Tensor(state)
    held: list[Any] = list(matrices)
    if position is not None:
        held[position] = Tensor(held[position])
    step(x, held).backward(g)
    assert x.grad is not None
    return x.grad, None if position is None else length(held[position].grad)


def by_all_streams(lane: Lane, g: Array) -> Array:
    """∂L/∂x, (samples, T, d), where the same is added to every stream."""
    return g if WIRINGS[lane[0]].streams == 1 else np.asarray(g.sum(1))


def matrix_scale(lane: Lane, stack: StackConfig, index: int, position: int | None) -> float:
    """What the wiring multiplies the matrix by, at the start: ∂L/∂W is by the scaled one."""
    sublayer = stack.sublayers[index % len(stack.sublayers)]
    place = Place(index, sublayer.kind, lane[1], stack.stack)
    return scale_of(WIRINGS[lane[0]], place, list(sublayer.matrices)[position or 0])


def length(x: Array) -> Array:
    """Euclidean norm of each sample: (samples, …) → (samples,)."""
    flat = x.reshape(len(x), -1)
    return np.asarray(np.sqrt(np.einsum("si,si->s", flat, flat)))
