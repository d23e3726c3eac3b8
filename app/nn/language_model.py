"""A small causal language model on the stack's blocks: symbols in, logits for the next ones out.

Token embedding plus learned positions → N layers of causal softmax attention and FFN, wired as
`wirings` says → final norm, if the wiring has one → an untied head. The norms' gains and biases
are trained; no linear map has a bias. The layers' matrices are the very draws of `stack`.

What is the same for every window of a batch is done for all of them at once: inside, a batch is
rows, (batch·T, d), window after window, and only attention looks at it as windows. Each sublayer
is three operations on the tape (norm, branch, +), and each a tape of its own, so that a pass can
pause between any two sublayers, forward and backward.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from app.nn import ops
from app.nn.ops import HEAD_WIDTH, matrix_product
from app.nn.stack import Purpose, StackConfig, draw_layer, generators, matrix_scale, no_noise
from app.nn.tensor import Array, Backward, Tensor, operation
from app.nn.wirings import WIRINGS, Place, Wiring

# Standard deviation of the learned positions at the start, as in BERT (Devlin et al. 2018, its
# published code); as large as the embedding's they would drown the symbols for hundreds of steps.
POSITIONS = 0.02

Watch = Callable[[float], None]


@dataclass(frozen=True)
class ModelConfig:
    """`depth` N layers, `width` d (a multiple of 16), `ff` d_ff ÷ d, `tokens` T in a window,
    `symbols` in the text's alphabet."""

    wiring: str
    depth: int
    width: int
    ff: int
    tokens: int
    symbols: int


def trainable(wiring: Wiring) -> bool:
    """Whether this model can be wired so: LayerNorm outside the branches, one residual stream, and
    nothing measured on the stack first."""
    plain = wiring.norm is ops.layer_norm and not wiring.inside and not wiring.profiled
    return plain and wiring.streams == 1


TRAINABLE = tuple(name for name, wiring in WIRINGS.items() if trainable(wiring))


class Parameters:
    """All parameters in one vector, so that an optimizer is a handful of operations, and by name
    as views of it."""

    def __init__(self, shapes: dict[str, tuple[int, ...]], dtype: Any) -> None:
        self.vector: Array = np.zeros(sum(map(size, shapes.values())), dtype)
        self.views: dict[str, Array] = {}
        start = 0
        for name, shape in shapes.items():
            end = start + size(shape)
            self.views[name] = self.vector[start:end].reshape(shape)
            start = end

    def __getitem__(self, name: str) -> Array:
        return self.views[name]

    def __setitem__(self, name: str, value: Array) -> None:
        self.views[name][...] = value


def size(shape: tuple[int, ...]) -> int:
    return int(np.prod(shape))


class LanguageModel:
    """Parameters drawn from `seed` in `dtype`, forward and backward.

    Embedding ~ N(0, 1/d), positions ~ N(0, 0.02²), matrices Xavier (times the wiring's own factor,
    if it has one), head ~ N(0, 1/d), gains 1, biases 0. Raises ValueError for a wiring that is not
    `trainable`.
    """

    def __init__(self, config: ModelConfig, seed: int, dtype: Any = np.float32) -> None:
        self.config = config
        self.wiring: Wiring = WIRINGS[config.wiring]
        if not trainable(self.wiring):
            raise ValueError(f"wiring must be one of {', '.join(TRAINABLE)} to be trained.")
        self._norms = norms_in(self.wiring)  # in one sublayer
        self.parameters = Parameters(self._shapes(), dtype)
        self.gradients = Parameters(self._shapes(), dtype)
        future = np.triu(np.full((config.tokens, config.tokens), -np.inf), 1)
        self._mask = future.astype(dtype)  # (T, T), to be added to the logits of attention
        self._draw(seed)

    def loss_and_gradients(
        self, inputs: Array, targets: Array, watch: Watch
    ) -> Generator[None, None, tuple[float, Array]]:
        """Mean cross-entropy per symbol in nats, and the final states, (batch·T, d), that the head
        reads; fills `gradients`. Pauses at every sublayer.

        inputs, targets: (batch, T) of whole numbers. `watch` is told each layer's largest
        attention logit.
        """
        x = self._embed(inputs)
        tapes = []
        for sublayer in self._sublayers(watch):
            tapes.append(Tape(sublayer, x, self.parameters))
            x = tapes[-1].output.value
            yield
        # A last tape from the final norm on, to the one number.
        states: list[Array] = []

        def loss_of(x: Any, w: dict[str, Any]) -> Any:
            final = self._final(x, w)
            states.append(final.value)
            return ops.cross_entropy(ops.linear(final, w["head"]), targets.reshape(-1))

        tape = Tape(Piece(self._final_names(), loss_of), x, self.parameters)
        arriving = tape.back(np.ones((), x.dtype), self.gradients)
        for sublayer_tape in reversed(tapes):
            yield
            arriving = sublayer_tape.back(arriving, self.gradients)
        self._back_to_the_embedding(inputs, arriving)
        yield
        return float(tape.output.value), states[0]

    def losses(self, inputs: Array, targets: Array) -> Generator[None, None, float]:
        """The loss alone: no tape, no gradients. Pauses at every sublayer."""
        x = self._embed(inputs)
        for sublayer in self._sublayers(lambda _: None):
            x = sublayer.function(x, self.parameters.views)
            yield
        logits = ops.linear(self._final(x, self.parameters.views), self.parameters["head"])
        return float(ops.cross_entropy(logits, targets.reshape(-1)))

    def lower_layers(self) -> list[str]:
        """The names of the matrices in the lower half of the layers, the first always."""
        lower = range(max(1, self.config.depth // 2))
        return [f"{layer}.{name}" for layer in lower for name in ("W_QKV", "W_O", "W_1", "W_2")]

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        c, d = self.config, self.config.width
        shapes: dict[str, tuple[int, ...]] = {
            "embedding": (c.symbols, d),
            "positions": (c.tokens, d),
        }
        for layer in range(c.depth):
            matrices: tuple[dict[str, tuple[int, ...]], ...] = (
                {"W_QKV": (d, 3 * d), "W_O": (d, d)},
                {"W_1": (d, c.ff * d), "W_2": (c.ff * d, d)},
            )
            for kind, of in zip(("attention", "ffn"), matrices, strict=True):
                shapes |= {f"{layer}.{name}": shape for name, shape in of.items()}
                shapes |= dict.fromkeys(self._norm_names(layer, kind), (d,))
        shapes |= dict.fromkeys(self._final_names()[:-1], (d,))
        return shapes | {"head": (d, c.symbols)}

    def _norm_names(self, layer: int, kind: str) -> list[str]:
        return [
            f"{layer}.{kind}.{what}_{i}" for i in range(self._norms) for what in ("gain", "bias")
        ]

    def _final_names(self) -> list[str]:
        return [*(["final.gain", "final.bias"] if self.wiring.final_norm else []), "head"]

    def _draw(self, seed: int) -> None:
        c, w = self.config, self.parameters
        blocks = StackConfig(c.depth, c.width, c.ff, "softmax", c.tokens)
        for layer in range(c.depth):
            drawn = {
                name: matrix[0] * matrix_scale(self.wiring, self._place(layer, of.kind), name)
                for of, matrices in zip(
                    blocks.sublayers, draw_layer(blocks, seed, range(1), layer), strict=True
                )
                for name, matrix in zip(of.matrices, matrices, strict=True)
            }
            # Side by side for one product; each was drawn by its own shape, d × d.
            packed = np.concatenate([drawn.pop(name) for name in ("W_Q", "W_K", "W_V")], axis=1)
            for name, matrix in {"W_QKV": packed, **drawn}.items():
                w[f"{layer}.{name}"] = matrix
        for name, view in w.views.items():
            if "gain" in name:
                view[...] = 1
        (inputs,) = generators(seed, range(1), 0, Purpose.INPUT)
        (head,) = generators(seed, range(1), 0, Purpose.LOSS)
        w["embedding"] = inputs.standard_normal((c.symbols, c.width)) / c.width**0.5
        w["positions"] = inputs.standard_normal((c.tokens, c.width)) * POSITIONS
        w["head"] = head.standard_normal((c.width, c.symbols)) / c.width**0.5

    def _embed(self, inputs: Array) -> Array:
        """(batch, T) symbols → (batch·T, d)."""
        w = self.parameters
        x = w["embedding"][inputs] + w["positions"]
        return np.asarray(x.reshape(-1, self.config.width))

    def _back_to_the_embedding(self, inputs: Array, arriving: Array) -> None:
        c, gradients = self.config, self.gradients
        chosen = (inputs.reshape(-1) == np.arange(c.symbols)[:, None]).astype(arriving.dtype)
        gradients["embedding"] = matrix_product(chosen, arriving)
        gradients["positions"] = arriving.reshape(-1, c.tokens, c.width).sum(0)

    def _place(self, layer: int, kind: str) -> Place:
        index = 2 * layer + ("attention", "ffn").index(kind)
        return Place(index, kind, self.config.depth, "causal")

    def _sublayers(self, watch: Watch) -> Iterator[Piece]:
        for layer in range(self.config.depth):
            for kind in ("attention", "ffn"):
                yield self._sublayer(layer, kind, watch)

    def _sublayer(self, layer: int, kind: str, watch: Watch) -> Piece:
        names = [
            f"{layer}.{n}" for n in (("W_QKV", "W_O") if kind == "attention" else ("W_1", "W_2"))
        ]
        norm_names = self._norm_names(layer, kind)
        place = self._place(layer, kind)
        dtype = self.parameters.vector.dtype.type
        # In the model's own type: one float64 would turn everything after it into float64.
        numbers = {
            k: dtype(v) for k, v in self.wiring.numbers(place, no_noise(place.index)).items()
        }

        def function(x: Any, w: Any) -> Any:
            matrices = [w[name] for name in names]

            def branch(h: Any) -> Any:
                if kind == "ffn":
                    return feed_forward(h, *matrices)
                return attention(h, *matrices, mask=self._mask, watch=watch)

            own = iter([w[name] for name in norm_names])

            def norm(h: Any) -> Any:
                return affine_norm(h, next(own), next(own))

            return self.wiring.step(x, branch, norm, **numbers)

        return Piece([*names, *norm_names], function)

    def _final(self, x: Any, w: Any) -> Any:
        if not self.wiring.final_norm:
            return x
        return affine_norm(x, w["final.gain"], w["final.bias"])


@dataclass(frozen=True)
class Piece:
    """A part of the model: `function(x, parameters by name)`, and the names that it reads."""

    names: Sequence[str]
    function: Callable[[Any, Any], Any]


class Tape:
    """One piece's pass, recorded from its input to its output."""

    def __init__(self, piece: Piece, x: Array, parameters: Parameters) -> None:
        self._x = Tensor(x)
        self._parameters = {name: Tensor(parameters[name]) for name in piece.names}
        self.output: Tensor = piece.function(self._x, self._parameters)

    def back(self, arriving: Array, gradients: Parameters) -> Array:
        """∂L/∂output in, ∂L/∂x out; the parameters' own go to `gradients`."""
        self.output.backward(arriving)
        for name, tensor in self._parameters.items():
            assert tensor.grad is not None
            gradients[name] = tensor.grad
        assert self._x.grad is not None
        return self._x.grad


def norms_in(wiring: Wiring) -> int:
    """How often a wiring's step calls `norm`: each call has a gain and a bias of its own."""
    calls = 0

    def norm(x: Any) -> Any:
        nonlocal calls
        calls += 1
        return x

    numbers = wiring.numbers(Place(0, "attention", 1, "causal"), no_noise(0))
    wiring.step(np.ones((1, 1)), lambda h: h, norm, **numbers)
    return calls


# ---------------------------------------------------------------- whole branches as one operation


@operation
def affine_norm(x: Array, gain: Array, bias: Array) -> tuple[Array, Backward]:
    """LayerNorm with its gain and bias, γ·x̂ + β.  x: (rows, d); gain, bias: (d,).

    Ba et al. 2016 (arXiv 1607.06450), equation 4.
    """
    width = x.shape[-1]
    centred = x - x.sum(-1, keepdims=True) / width
    variance = np.einsum("ri,ri->r", centred, centred)[:, None] / width
    scale = np.sqrt(variance + ops.EPSILON)
    normalised = centred / scale

    def backward(g: Array) -> tuple[Array, ...]:
        at_norm = g * gain
        mean = at_norm.sum(-1, keepdims=True) / width
        along = np.einsum("ri,ri->r", at_norm, normalised)[:, None] / width
        g_gain = np.einsum("ri,ri->i", g, normalised)
        at_norm -= mean
        at_norm -= along * normalised
        return at_norm / scale, g_gain, g.sum(0)

    return normalised * gain + bias, backward


@operation
def feed_forward(h: Array, w_1: Array, w_2: Array) -> tuple[Array, Backward]:
    """relu(h W₁) W₂.  h: (rows, d), W₁: (d, d_ff), W₂: (d_ff, d) → (rows, d)."""
    hidden = product(h, w_1)
    positive = hidden.real > 0
    hidden = hidden * positive

    def backward(g: Array) -> tuple[Array, ...]:
        g_hidden = product(g, w_2.T) * positive
        return (
            product(g_hidden, w_1.T),
            product(h.T, g_hidden),
            product(hidden.T, g),
        )

    return product(hidden, w_2), backward


@operation
def attention(
    h: Array, w_qkv: Array, w_o: Array, *, mask: Array, watch: Watch
) -> tuple[Array, Backward]:
    """Causal attention of every window at once, in heads of 16.

    h: (batch·T, d), W_QKV: (d, 3d), W_O: (d, d), mask: (T, T) → (batch·T, d).  Queries, keys and
    values are one product; the root √16 goes into the queries. `watch` is told the largest logit.
    Vaswani et al. 2017 (arXiv 1706.03762), equation 1 and section 3.2.2.
    """
    tokens, width = len(mask), h.shape[-1]
    root = HEAD_WIDTH**0.5
    split = (-1, tokens, 3, width // HEAD_WIDTH, HEAD_WIDTH)
    # (batch, T, 3, heads, 16) → 3 of (batch, heads, T, 16)
    q, k, v = product(h, w_qkv).reshape(split).transpose(2, 0, 3, 1, 4)
    weights = (q / root) @ k.mT  # (batch, heads, T, T)
    weights += mask
    largest = weights.real.max(-1, keepdims=True)
    watch(float(largest.max()))
    weights -= largest
    np.exp(weights, out=weights)
    weights /= weights.sum(-1, keepdims=True)
    heads = (weights @ v).swapaxes(1, 2).reshape(h.shape)

    def backward(g: Array) -> tuple[Array, ...]:
        g_heads = product(g, w_o.T).reshape(split[:2] + split[3:]).swapaxes(1, 2)
        g_logits = g_heads @ v.mT
        g_logits -= np.einsum("bhts,bhts->bht", g_logits, weights)[..., None]
        g_logits *= weights
        g_logits /= root
        g_qkv = np.empty((len(h) // tokens, *split[1:]), g_logits.dtype)
        g_q, g_k, g_v = g_qkv.transpose(2, 0, 3, 1, 4)
        g_q[...] = g_logits @ k
        g_k[...] = g_logits.mT @ q
        g_v[...] = weights.mT @ g_heads
        flat = g_qkv.reshape(len(h), 3 * width)
        return (
            product(flat, w_qkv.T),
            product(h.T, flat),
            product(heads.T, g),
        )

    return product(heads, w_o), backward


def product(x: Array, y: Array) -> Array:
    """x @ y for a batch's rows.  x: (m, k), y: (k, n).

    As `ops.matrix_product`, but measured again for what is met here, float32 and m = 32 to 512:
    at d = 32 `@` is the faster one for weights' gradients too, (32 × 128)(128 × 96) natively by
    three times and in Pyodide by nothing; from d = 64 on einsum is, in Pyodide by three times.
    """
    if y.size <= 2**14 and len(x) * y.size <= 2**19:
        return x @ y
    return matrix_product(x, y)
