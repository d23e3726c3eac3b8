"""The stack: a config and a seed → weights → states of the residual stream → output.

N layers are 2N sublayers: attention, FFN, attention, FFN … (3N in a decoder, whose layers attend to
a memory between the two). The weights do not depend on the wiring, so all wirings are compared on
the same ones; and each layer draws from a seed of its own, so a deeper stack begins with the
shallower one's layers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.random import Generator

from app.nn import ops
from app.nn.tensor import Array, Tensor
from app.nn.wirings import Draw, Place, Wiring, post_ln

# Numbers drawn between two pauses: 4 ms in Pyodide on the machine where it was measured.
BLOCK = 2**18


@dataclass(frozen=True)
class StackConfig:
    """`depth` N layers, `width` d, `ff` d_ff ÷ d, `attention` uniform or softmax, `tokens` T.

    `stack`: "encoder" (every position sees all), "causal" (none sees what comes after it),
    "decoder" (causal, with cross-attention to a memory), or "source" (the encoder whose output a
    decoder of the same depth takes for its memory).
    """

    depth: int
    width: int = 128
    ff: int = 1
    attention: str = "uniform"
    tokens: int = 5
    stack: str = "encoder"

    @cached_property
    def sublayers(self) -> tuple[Sublayer, ...]:
        """The sublayers of every layer, in order: attention and FFN, or in a decoder three."""
        d, hidden = self.width, self.width * self.ff
        matrices = {"uniform": ("W_V",), "softmax": ("W_Q", "W_K", "W_V", "W_O")}[self.attention]
        shapes = dict.fromkeys(matrices, (d, d))
        functions: dict[str, Callable[..., Any]] = {
            "uniform": uniform_attention,
            "softmax": softmax_attention,
        }
        function = functions[self.attention]
        causal = partial(function, causal=self.stack in ("causal", "decoder"))
        attention = Sublayer("attention", shapes, causal)
        cross = Sublayer("cross_attention", shapes, function)
        ffn = Sublayer("ffn", {"W_1": (d, hidden), "W_2": (hidden, d)}, feed_forward)
        return (attention, cross, ffn) if self.stack == "decoder" else (attention, ffn)

    @property
    def matrices(self) -> dict[str, tuple[int, int]]:
        """Every matrix of a layer by name, to its place: which sublayer, which of its matrices.
        Those of cross-attention are called cross_W_Q and so on."""
        return {
            ("cross_" if sublayer.kind == "cross_attention" else "") + name: (place, position)
            for place, sublayer in enumerate(self.sublayers)
            for position, name in enumerate(sublayer.matrices)
        }


@dataclass(frozen=True)
class Sublayer:
    """One branch F: its kind, its matrices with their shapes in the order they are drawn in, and
    `function(h, *matrices)`, which may also take `inner_norm` and, to attend to it, `memory`."""

    kind: str
    matrices: dict[str, tuple[int, int]]
    function: Callable[..., Any]

    @cached_property
    def scaled(self) -> int:
        """How many of its matrices a wiring's `beta` scales."""
        return sum(name in SCALED for name in self.matrices)

    @property
    def size(self) -> int:
        """Numbers in the matrices of one sample."""
        return sum(rows * columns for rows, columns in self.matrices.values())

    def branch(
        self,
        matrices: Sequence[Any],
        inner_norm: Callable[[Any], Any] | None = None,
        memory: Any = None,
    ) -> Callable[[Any], Any]:
        """F of these matrices. `inner_norm`: a norm on queries and keys, or before W₂."""
        given = {} if inner_norm is None else {"inner_norm": inner_norm}
        if self.kind == "cross_attention":
            given["memory"] = memory
        return lambda h: self.function(h, *matrices, **given)


def uniform_attention(
    h: Any, value: Any, causal: bool = False, inner_norm: Any = None, memory: Any = None
) -> Any:
    """W_Q = W_K = 0: no queries and keys for `inner_norm` to work on.  (…, T, d) → (…, T, d)."""
    return ops.uniform_attention(h if memory is None else memory, value, causal=causal)


def softmax_attention(
    h: Any,
    query: Any,
    key: Any,
    value: Any,
    output: Any,
    causal: bool = False,
    inner_norm: Callable[[Any], Any] | None = None,
    memory: Any = None,
) -> Any:
    """Heads of 16, no positions; queries from h, keys and values from h or from `memory`.

    h: (…, T, d), matrices: (…, d, d) → (…, T, d).  `inner_norm` is applied to the queries and to
    the keys of all heads together (QK-norm as OLMo 2 has it).
    """
    source = h if memory is None else memory
    q, k, v = ops.linear(h, query), ops.linear(source, key), ops.linear(source, value)
    if inner_norm is not None:
        q, k = inner_norm(q), inner_norm(k)
    return ops.linear(ops.scaled_dot_product(q, k, v, causal=causal), output)


def feed_forward(h: Any, w_1: Any, w_2: Any, inner_norm: Callable[[Any], Any] | None = None) -> Any:
    """relu(h W₁) W₂, no bias.  h: (…, T, d), W₁: (…, d, d_ff), W₂: (…, d_ff, d) → (…, T, d)."""
    if inner_norm is None:
        return ops.feed_forward(h, w_1, w_2)
    return ops.linear(inner_norm(ops.relu(ops.linear(h, w_1))), w_2)


# ---------------------------------------------------------------- a wiring's way through a stack

# The matrices that a wiring's `beta` scales. The branch is homogeneous of degree one in each of
# them, so the factors stand before the branch and the matrices are shared by all wirings.
SCALED = ("W_V", "W_O", "W_1", "W_2")


@dataclass(frozen=True)
class Step:
    """What a wiring does at one sublayer; `gain` is what it scales the branch's matrices by, all
    together, and `numbers` what its step takes by keyword."""

    wiring: Wiring
    sublayer: Sublayer
    numbers: dict[str, Any]
    gain: float
    memory: Any

    def __call__(self, state: Any, matrices: Sequence[Any]) -> Any:
        """From one state of the residual stream to the next."""
        return self.joined(state, self.branch(matrices))

    def branch(self, matrices: Sequence[Any]) -> Callable[[Any], Any]:
        """F with these matrices and the wiring's scales and inner norm: (…, T, d) → (…, T, d)."""
        inner_norm = self.wiring.inside.get(self.sublayer.kind)
        branch = self.sublayer.branch(matrices, inner_norm, self.memory)
        return branch if self.gain == 1 else lambda h: branch(h) * self.gain

    def joined(self, state: Any, branch: Callable[[Any], Any]) -> Any:
        """The next state, whatever the branch is."""
        return self.wiring.step(state, branch, self.wiring.norm, **self.numbers)


def no_noise(index: int) -> Draw:
    """A start that is not perturbed."""
    return lambda *shape: np.zeros(shape)


class Course:
    """One wiring's way through one stack, sublayer by sublayer, in order.

    `start` is the state that x₀ makes; `next` gives one sublayer's step after another. The state
    is (…, T, d), or (…, n, T, d) where the wiring has n streams. `memory`, (…, T, d): what a
    decoder attends to. `noise`: for the sublayer of an index, standard normals times the size of
    the perturbed start (`connection_noise`).
    """

    def __init__(
        self,
        wiring: Wiring,
        config: StackConfig,
        x: Any,
        memory: Any = None,
        noise: Callable[[int], Draw] = no_noise,
    ) -> None:
        self.wiring, self.config = wiring, config
        self.start = x if wiring.streams == 1 else ops.write_streams(x, np.ones(wiring.streams))
        self._memory, self._noise = memory, noise
        self._sublayers = config.sublayers
        self._profile = Profile(x) if wiring.profiled else None
        self._index = 0

    def next(self, matrices: Sequence[Any]) -> Step:
        """The next sublayer's `step(state, matrices)`, for these matrices or changed ones: what
        the wiring measures on the stack is measured now, with these, and stays."""
        wiring, index = self.wiring, self._index
        self._index += 1
        sublayer = self._sublayers[index % len(self._sublayers)]
        place = Place(index, sublayer.kind, self.config.depth, self.config.stack)
        numbers = dict(wiring.numbers(place, self._noise(index)))
        if self._profile is not None:
            numbers["omega"] = self._profile.next(sublayer.branch(matrices, memory=self._memory))
        gain = wiring.beta(place) ** sublayer.scaled
        return Step(wiring, sublayer, numbers, gain, self._memory)


class Profile:
    """What Admin measures with ω = 1, which is a Post-LN pass: ω_i² = 1 + Σ_{j<i} Var f_j.

    Variances over the width, averaged over positions; the 1 is x₀'s own. One ω per sample and
    sublayer. Liu et al. 2020 (arXiv 2004.08249), section 5.
    """

    def __init__(self, x: Any) -> None:
        self._x = _numbers(x)
        self._variance = np.ones(self._x.shape[:-2])

    def next(self, branch: Callable[[Any], Any]) -> Array:
        """ω of the next sublayer, (…, 1, 1)."""
        omega = np.sqrt(self._variance)[..., None, None]
        F = self._x

        def measured(h: Array) -> Array:
            nonlocal F
            F = _numbers(branch(h))
            return F

        self._x = post_ln(self._x, measured, ops.layer_norm)
        self._variance = self._variance + F.var(-1).mean(-1)
        return omega


def _numbers(x: Any) -> Array:
    """A Tensor's or an array's numbers, which nothing is derived by."""
    value = x.value if isinstance(x, Tensor) else x
    return np.asarray(value.real)


def output(wiring: Wiring, state: Any) -> Any:
    """What leaves a stack whose last state is this, (…, T, d): after the final norm, if any."""
    x = state if wiring.streams == 1 else ops.read_streams(state, np.ones(wiring.streams))
    return wiring.norm(x) if wiring.final_norm else x


def states(
    wiring: Wiring, config: StackConfig, x: Any, layers: Iterable[Any], memory: Any = None
) -> list[Any]:
    """Every state of the residual stream, x₀ … x₂ₙ, the output not included.

    `layers` gives for each layer the matrices of its sublayers, as `draw_layer` does.
    """
    course = Course(wiring, config, x, memory)
    trace = [course.start]
    for layer in layers:
        for _, matrices in zip(config.sublayers, layer, strict=True):
            trace.append(course.next(matrices)(trace[-1], matrices))
    return trace


def matrix_scale(wiring: Wiring, place: Place, matrix: str) -> float:
    """The factor by which a wiring scales a matrix at the start: the true weights are the drawn
    ones times this, and the gradient by them is the one by the drawn ones divided by it."""
    return wiring.beta(place) if matrix in SCALED else 1.0


class Purpose(IntEnum):
    """What random numbers are for; a child seed each, so noise can never equal weights."""

    WEIGHTS = 0
    NOISE = 1
    INPUT = 2
    LOSS = 3
    SOURCE = 4  # what the encoder before a decoder gets, or the memory itself
    ENCODER = 5  # that encoder's weights
    CONNECTIONS = 6  # the perturbed start of hyper-connections


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


def connection_noise(size: float, seed: int, samples: range) -> Callable[[int], Draw]:
    """Noise for the connections of the sublayer of an index: size·ξ, ξ ~ N(0, 1), per sample."""

    def at(index: int) -> Draw:
        drawing = generators(seed, samples, index, Purpose.CONNECTIONS)
        return lambda *shape: np.stack([size * g.standard_normal(shape) for g in drawing])

    return at if size else no_noise


def draw_inputs(
    config: StackConfig, seed: int, samples: range, purpose: Purpose = Purpose.INPUT
) -> Array:
    """x₀ ~ N(0, 1) → (samples, T, d)."""
    shape = (config.tokens, config.width)
    return np.stack([g.standard_normal(shape) for g in generators(seed, samples, 0, purpose)])


def draw_layer(
    config: StackConfig,
    seed: int,
    samples: range,
    layer: int,
    purpose: Purpose = Purpose.WEIGHTS,
) -> tuple[list[Array], ...]:
    """The matrices of all sublayers of one layer, each (samples, m, n), W ~ N(0, 2/(m+n))."""
    drawing = generators(seed, samples, layer, purpose)
    layer_matrices = tuple(empty_matrices(s, len(samples)) for s in config.sublayers)
    for matrices in layer_matrices:
        for _ in fill(matrices, drawing):
            pass
    return layer_matrices


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
