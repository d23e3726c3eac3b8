"""The stack: a config and a seed → weights → states of the residual stream → output.

N layers are 2N sublayers: attention, FFN, attention, FFN … The weights do not depend on the
wiring, so all wirings are compared on the same ones; and each layer draws from a seed of its own,
so a deeper stack begins with the shallower one's layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.random import Generator

from app.nn import ops
from app.nn.tensor import Array
from app.nn.wirings import Wiring

# Numbers drawn between two pauses: 4 ms in Pyodide on the machine where it was measured.
BLOCK = 2**18


@dataclass(frozen=True)
class StackConfig:
    """`depth` N layers, `width` d, `ff` d_ff ÷ d, `attention` uniform or softmax, `tokens` T."""

    depth: int
    width: int = 128
    ff: int = 1
    attention: str = "uniform"
    tokens: int = 5

    @property
    def sublayers(self) -> tuple[Sublayer, Sublayer]:
        """The two sublayers of every layer, in order."""
        d, hidden = self.width, self.width * self.ff
        square = (d, d)
        attention = {
            "uniform": Sublayer("attention", {"W_V": square}, ops.uniform_attention),
            "softmax": Sublayer(
                "attention",
                {"W_Q": square, "W_K": square, "W_V": square, "W_O": square},
                softmax_attention,
            ),
        }
        ffn = Sublayer("ffn", {"W_1": (d, hidden), "W_2": (hidden, d)}, feed_forward)
        return attention[self.attention], ffn


@dataclass(frozen=True)
class Sublayer:
    """One branch F: its kind, its matrices with their shapes in the order they are drawn in, and
    `function(h, *matrices)`."""

    kind: str
    matrices: dict[str, tuple[int, int]]
    function: Callable[..., Any]

    @property
    def size(self) -> int:
        """Numbers in the matrices of one sample."""
        return sum(rows * columns for rows, columns in self.matrices.values())

    def branch(self, matrices: Sequence[Any]) -> Callable[[Any], Any]:
        return lambda h: self.function(h, *matrices)


def softmax_attention(h: Any, query: Any, key: Any, value: Any, output: Any) -> Any:
    """Heads of 16, no mask, no positions.  h: (…, T, d), matrices: (…, d, d) → (…, T, d)."""
    heads = ops.scaled_dot_product(ops.linear(h, query), ops.linear(h, key), ops.linear(h, value))
    return ops.linear(heads, output)


def feed_forward(h: Any, w_1: Any, w_2: Any) -> Any:
    """relu(h W₁) W₂, no bias.  h: (…, T, d), W₁: (…, d, d_ff), W₂: (…, d_ff, d) → (…, T, d)."""
    return ops.linear(ops.relu(ops.linear(h, w_1)), w_2)


def step(wiring: Wiring, x: Any, branch: Callable[[Any], Any]) -> Any:
    """One sublayer: the residual stream x, (…, T, d), to the next."""
    return wiring.step(x, branch, ops.layer_norm)


def output(wiring: Wiring, x: Any) -> Any:
    """What leaves a stack whose last state is x, (…, T, d): after the final norm, if any."""
    return ops.layer_norm(x) if wiring.final_norm else x


def states(wiring: Wiring, config: StackConfig, x: Any, layers: Iterable[Any]) -> list[Any]:
    """Every state of the residual stream, x₀ … x₂ₙ, the output not included.

    `layers` gives for each layer the matrices of its two sublayers, as `draw_layer` does.
    """
    trace = [x]
    for layer in layers:
        for sublayer, matrices in zip(config.sublayers, layer, strict=True):
            trace.append(step(wiring, trace[-1], sublayer.branch(matrices)))
    return trace


class Purpose(IntEnum):
    """What random numbers are for; a child seed each, so noise can never equal weights."""

    WEIGHTS = 0
    NOISE = 1
    INPUT = 2
    LOSS = 3


def generators(seed: int, samples: range, layer: int, purpose: Purpose) -> list[Generator]:
    """One generator per sample; sample i of a seed draws from a child seed that is all its own.

    `layer` counts from 0 (0 as well for what belongs to no layer).
    """
    return [
        np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(seed, spawn_key=(i, layer, int(purpose))))
        )
        for i in samples
    ]


def draw_inputs(config: StackConfig, seed: int, samples: range) -> Array:
    """x₀ ~ N(0, 1) → (samples, T, d)."""
    shape = (config.tokens, config.width)
    return np.stack([g.standard_normal(shape) for g in generators(seed, samples, 0, Purpose.INPUT)])


def draw_layer(
    config: StackConfig, seed: int, samples: range, layer: int
) -> tuple[list[Array], list[Array]]:
    """The matrices of both sublayers of one layer, each (samples, m, n), W ~ N(0, 2/(m+n))."""
    drawing = generators(seed, samples, layer, Purpose.WEIGHTS)
    attention, ffn = (empty_matrices(s, len(samples)) for s in config.sublayers)
    for matrices in (attention, ffn):
        for _ in fill(matrices, drawing):
            pass
    return attention, ffn


def empty_matrices(sublayer: Sublayer, samples: int, memory: Array | None = None) -> list[Array]:
    """Room for a sublayer's matrices, each (samples, m, n), carved out of `memory` if given."""
    if memory is None:
        memory = np.empty(samples * sublayer.size)
    matrices: list[Array] = []
    start = 0
    for rows, columns in sublayer.matrices.values():
        end = start + samples * rows * columns
        matrices.append(memory[start:end].reshape(samples, rows, columns))
        start = end
    return matrices


def fill(matrices: Sequence[Array], drawing: Sequence[Generator]) -> Iterator[None]:
    """Draw Xavier weights, W ~ N(0, 2/(m+n)), into (samples, m, n) each; pauses as it goes.

    Sample by sample, matrix by matrix: what a sample gets does not depend on how many there are.
    Glorot and Bengio 2010, equation 12, in its Gaussian form.
    """
    pause = Pause()
    for sample, generator in enumerate(drawing):
        for matrix in matrices:
            rows, columns = matrix.shape[-2:]
            xavier = (2 / (rows + columns)) ** 0.5
            for block in _blocks(matrix[sample]):
                generator.standard_normal(out=block)
                block *= xavier
                yield from pause.after(block.size)


def disturb(
    matrices: Sequence[Array], change: float, drawing: Sequence[Generator]
) -> Iterator[None]:
    """W ← W + δ·std(W)·ξ, ξ ~ N(0, 1), in place, for every sample's every matrix; pauses.

    A matrix of zeros (W_Q = W_K = 0) has no spread and gets no noise.
    """
    pause = Pause()
    noise = np.empty(min(BLOCK, max(matrix[0].size for matrix in matrices)))
    for sample, generator in enumerate(drawing):
        for matrix in matrices:
            size = change * standard_deviation(matrix[sample])
            if size == 0:
                continue
            for block in _blocks(matrix[sample]):
                part = noise[: block.size]
                generator.standard_normal(out=part)
                part *= size
                block += part
                yield from pause.after(block.size)


def standard_deviation(matrix: Array) -> float:
    """Of all entries of a matrix, around their mean; without a copy of it, which would be large."""
    mean_square = np.einsum("ij,ij->", matrix, matrix) / matrix.size
    return float(max(mean_square - matrix.mean() ** 2, 0.0) ** 0.5)


class Pause:
    """Yields once per `BLOCK` numbers worked on, so that whoever drives a generator can breathe."""

    def __init__(self) -> None:
        self._worked = 0

    def after(self, numbers: int) -> Iterator[None]:
        self._worked += numbers
        if self._worked >= BLOCK:
            self._worked = 0
            yield


def _blocks(matrix: Array) -> Iterator[Array]:
    """A matrix's entries in order, as flat views of at most `BLOCK` entries."""
    flat = matrix.reshape(-1)
    for start in range(0, flat.size, BLOCK):
        yield flat[start : start + BLOCK]
