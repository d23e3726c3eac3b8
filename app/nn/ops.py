"""The operations of a Transformer layer, each with its backward right beside it.

Shapes: `…` is any number of batch axes (the seeds), T positions, d the width, all in that order.
Every forward also takes complex numbers as if they were real ones (no absolute values, no
conjugates), so that a complex step can check every backward to rounding.
"""

from functools import cache
from typing import Any

import numpy as np

from app.nn.tensor import Array, Backward, operation, sum_to

HEAD_WIDTH = 16  # columns of one attention head
EPSILON = 1e-5  # under LayerNorm's root


@operation
def linear(x: Array, weights: Array) -> tuple[Array, Backward]:
    """x W.  x: (…, T, m); W: (…, m, n), or (m, n) for one W for the whole batch → (…, T, n)."""

    def backward(g: Array) -> tuple[Any, ...]:
        return (
            lambda: matrix_product(g, weights.mT),
            lambda: sum_to(matrix_product(x.mT, g), weights.shape),
        )

    return matrix_product(x, weights), backward


@operation
def relu(x: Array) -> tuple[Array, Backward]:
    """max(x, 0), entry by entry; its derivative at 0 is taken to be 0."""
    positive = np.maximum(x, 0.0)

    def backward(g: Array) -> tuple[Array, ...]:
        return (g * np.sign(positive),)

    return positive, backward


@operation
def feed_forward(h: Array, w_1: Array, w_2: Array) -> tuple[Array, Backward]:
    """relu(h W₁) W₂, no bias.  h: (…, T, d), W₁: (…, d, d_ff), W₂: (…, d_ff, d) → (…, T, d).

    Three operations in one, and the tape holds the hidden layer once.
    """
    hidden = matrix_product(h, w_1)
    np.maximum(hidden, 0.0, out=hidden)

    def backward(g: Array) -> tuple[Any, ...]:
        g_hidden = matrix_product(g, w_2.mT)
        g_hidden *= np.sign(hidden)
        return (
            lambda: matrix_product(g_hidden, w_1.mT),
            lambda: sum_to(matrix_product(h.mT, g_hidden), w_1.shape),
            lambda: sum_to(matrix_product(hidden.mT, g), w_2.shape),
        )

    return matrix_product(hidden, w_2), backward


@operation
def layer_norm(x: Array, epsilon: float = EPSILON) -> tuple[Array, Backward]:
    """x̂ = (x − μ)/√(σ² + ε) over the last axis, σ² the population variance; gain 1, bias 0.

    Ba et al. 2016 (arXiv 1607.06450), equations 3 and 4.
    """
    centred = x - mean_of(x)
    inverse = inverse_root(mean_product(centred, centred), epsilon)
    normalised = np.multiply(centred, inverse, out=centred)

    def backward(g: Array) -> tuple[Array, ...]:
        # Two projections: μ and σ depend on x as well. Without them the last layer looks right
        # and the gradients of a Post-LN stack grow wrongly towards its input.
        g_x = normalised * -mean_product(g, normalised)
        g_x += g
        g_x -= mean_of(g)
        g_x *= inverse
        return (g_x,)

    return normalised, backward


@operation
def rms_norm(x: Array, epsilon: float = EPSILON) -> tuple[Array, Backward]:
    """x/√(mean x² + ε) over the last axis: LayerNorm without the mean; gain 1, no bias.

    Zhang and Sennrich 2019 (arXiv 1910.07467), equation 4.
    """
    inverse = inverse_root(mean_product(x, x), epsilon)
    normalised = x * inverse

    def backward(g: Array) -> tuple[Array, ...]:
        g_x = normalised * -mean_product(g, normalised)
        g_x += g
        g_x *= inverse
        return (g_x,)

    return normalised, backward


def mean_of(x: Array) -> Array:
    """Over the last axis, which stays with length 1: one product with (1/d, …, 1/d)."""
    return np.asarray(np.vecdot(shares(x.shape[-1]), x))[..., None]


def mean_product(x: Array, y: Array) -> Array:
    """Mean of xᵢyᵢ over the last axis, which stays with length 1."""
    # vecdot takes the conjugate of the first, and `conj` of real numbers is they themselves.
    return np.asarray(np.vecdot(x.conj(), y))[..., None] / x.shape[-1]


def inverse_root(mean_square: Array, epsilon: float) -> Array:
    """1/√(mean_square + ε): few divisions, so that the many are products."""
    root: Array = np.sqrt(mean_square + epsilon)
    return np.reciprocal(root, out=root)


@cache
def shares(n: int) -> Array:
    """(1/n, …, 1/n), shape (n,)."""
    equal = np.full(n, 1 / n)
    equal.flags.writeable = False
    return equal


def zero_centred_rms_norm(x: Any, w: Any = 0.0) -> Any:
    """RMSNorm with gain 1 + w, so that weight decay pulls the gain to 1.  w: (d,) or one number."""
    return rms_norm(x) * (w + 1.0)


@operation
def uniform_attention(h: Array, value: Array, causal: bool = False) -> tuple[Array, Backward]:
    """mean_t(h_t W_V) at every position: attention with W_Q = W_K = 0, one head, W_O merged.
    `causal`: position t gets the mean over positions s ≤ t.

    h: (…, T, d); W_V: (…, d, d).  The assumption of Xiong et al. 2020, Theorem 1.
    Given a memory of as many positions for h, it is uniform cross-attention.
    """
    if causal:
        return _mean_of_the_past(h, value)
    tokens = h.shape[-2]
    averaging = shares(tokens)[None]  # (1, T)
    mean = averaging @ h  # (…, 1, d)

    def backward(g: Array) -> tuple[Any, ...]:
        g_mean = averaging @ g
        return (
            lambda: matrix_product(g_mean, value.mT).repeat(tokens, axis=-2),
            lambda: sum_to(mean.mT * (g_mean * tokens), value.shape),
        )

    return matrix_product(mean, value).repeat(tokens, axis=-2), backward


def _mean_of_the_past(h: Array, value: Array) -> tuple[Array, Backward]:
    tokens = h.shape[-2]
    averaging = np.tril(np.ones((tokens, tokens))) / np.arange(1, tokens + 1)[:, None]
    means = averaging @ h  # (…, T, d)

    def backward(g: Array) -> tuple[Any, ...]:
        g_means = matrix_product(g, value.mT)
        return averaging.T @ g_means, lambda: sum_to(matrix_product(means.mT, g), value.shape)

    return matrix_product(means, value), backward


@operation
def scaled_dot_product(
    query: Array, key: Array, value: Array, causal: bool = False
) -> tuple[Array, Backward]:
    """softmax(q kᵀ/√16) v in heads of 16.  `causal`: position t sees positions s ≤ t only.

    q: (…, T, d); k, v: (…, S, d), of the same positions (self-attention, S = T) or of a memory
    (cross-attention); d a multiple of 16.  Without `causal` every position sees all S.
    Vaswani et al. 2017 (arXiv 1706.03762), equation 1 and sections 3.2.2 and 3.2.3.
    """
    q, k, v = _heads(query), _heads(key), _heads(value)  # (…, heads, T or S, 16)
    root = HEAD_WIDTH**0.5
    scores = matrix_product(q, k.mT) / root  # (…, heads, T, S)
    if causal:
        scores = np.where(np.tri(*scores.shape[-2:]) > 0, scores, -np.inf)
    weights = np.exp(scores - scores.real.max(-1, keepdims=True))
    weights = weights / weights.sum(-1, keepdims=True)

    def backward(g: Array) -> tuple[Array, ...]:
        g_heads = _heads(g)
        g_weights = matrix_product(g_heads, v.mT)
        g_scores = weights * (g_weights - (g_weights * weights).sum(-1, keepdims=True)) / root
        return (
            _merged(matrix_product(g_scores, k)),
            _merged(matrix_product(g_scores.mT, q)),
            _merged(matrix_product(weights.mT, g_heads)),
        )

    return _merged(matrix_product(weights, v)), backward


@operation
def read_streams(streams: Array, weights: Array) -> tuple[Array, Backward]:
    """Σ_j w_j x_j: one input out of n residual streams.  (…, n, T, d), (…, n) or (n,) → (…, T, d).

    Zhu et al. 2024 (arXiv 2409.19606), equation 3.
    """

    def backward(g: Array) -> tuple[Array, ...]:
        g_weights = np.einsum("...jtd,...td->...j", streams, g)
        return weights[..., None, None] * g[..., None, :, :], sum_to(g_weights, weights.shape)

    return (weights[..., None, None] * streams).sum(-3), backward


@operation
def write_streams(x: Array, weights: Array) -> tuple[Array, Backward]:
    """w_i x for every stream i.  (…, T, d), (…, n) or (n,) → (…, n, T, d)."""

    def backward(g: Array) -> tuple[Array, ...]:
        g_weights = np.einsum("...itd,...td->...i", g, x)
        return (weights[..., None, None] * g).sum(-3), sum_to(g_weights, weights.shape)

    return weights[..., None, None] * x[..., None, :, :], backward


@operation
def mix_streams(streams: Array, weights: Array) -> tuple[Array, Backward]:
    """Σ_j w_ij x_j for every stream i.  (…, n, T, d), (…, n, n) or (n, n) → (…, n, T, d)."""
    flat = streams.reshape(*streams.shape[:-2], -1)  # (…, n, T·d)

    def backward(g: Array) -> tuple[Array, ...]:
        g_flat = g.reshape(flat.shape)
        g_streams = (weights.mT @ g_flat).reshape(streams.shape)
        return g_streams, sum_to(g_flat @ flat.mT, weights.shape)

    return (weights @ flat).reshape(streams.shape), backward


@operation
def cross_entropy(logits: Array, targets: Array) -> tuple[Array, Backward]:
    """−log softmax(logits)[target], mean over positions, summed over the batch: one number.

    logits: (…, T, classes); targets: (…, T) of whole numbers.  The sum over the batch gives
    every seed the gradient it would have alone.
    """
    tokens = logits.shape[-2]
    shifted = logits - logits.real.max(-1, keepdims=True)
    exponentials = np.exp(shifted)
    totals = exponentials.sum(-1, keepdims=True)
    chosen = np.take_along_axis(shifted, targets[..., None], axis=-1)

    def backward(g: Array) -> tuple[Array, ...]:
        gradient = exponentials / totals
        at_target = np.take_along_axis(gradient, targets[..., None], axis=-1)
        np.put_along_axis(gradient, targets[..., None], at_target - 1, axis=-1)
        return g * gradient / tokens, np.zeros(targets.shape)  # targets are no variables

    return np.asarray((np.log(totals) - chosen).sum() / tokens), backward


@operation
def inner(x: Array, direction: Array) -> tuple[Array, Backward]:
    """Σ⟨x_t, r_t⟩ over everything: the loss called `linear`.  x, r: (…, T, d) → one number."""

    def backward(g: Array) -> tuple[Array, ...]:
        return g * direction, g * x

    return np.asarray((x * direction).sum()), backward


def matrix_product(x: Array, y: Array) -> Array:
    """x @ y; x: (…, m, k), y: (…, k, n) or (k, n). All matrix products go through here.

    Small matrices by `@`, large ones by einsum. NumPy in Pyodide has no BLAS, and there `@` walks
    through large matrices badly; natively BLAS starts threads for them, which on a busy machine
    wait for each other. GFLOP/s for W of k × n, T = 5, several seeds, best of many:

                                32×32  64×64  64×256  128×128  128×512  512×128  256×256  512×512
        x W     Pyodide  @        5      6      2       2.5      1        2.4      1.7      1
                         einsum   1.7    3.7    6       5.7      7        6.2      6.7      7.2
                native   @       13     18     20      19       19       19       18      0.1–18
                         einsum   3.3    7     11      10       12       11       12       12
        g Wᵀ    Pyodide  @               6.2    4.6     5        4.3
                         einsum          4      6.6     6        7.4
        xᵀ g    Pyodide  @               3.9    4.1     4        4.1
                         einsum          3.7    5.8     5.2      6.5
                native   @              30     31      32       33
                         einsum          7     10       9.5     10.5

    Where the two disagree the browser decides: that is where a reader waits. About 6.5 is all that
    there is in it, whatever the shape and in float32 too: its NumPy computes one number at a time.
    The choice depends on shapes alone, never on a clock or the platform, or a link would not
    give the same digits twice.
    """
    m, (k, n) = x.shape[-2], y.shape[-2:]
    large = k * n > 64 * 64 or m * k * n > 2**19
    large_sum_of_few = k < HEAD_WIDTH and m * n > 64 * 64  # xᵀ g, over few positions
    if large or large_sum_of_few:
        return _product_by_einsum(x, y)
    return x @ y


def _product_by_einsum(x: Array, y: Array) -> Array:
    if x.shape[:-2] != y.shape[:-2]:
        batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
        x = np.broadcast_to(x, batch + x.shape[-2:])
        y = np.broadcast_to(y, batch + y.shape[-2:])
    out = np.empty((*x.shape[:-1], y.shape[-1]), np.result_type(x, y))
    _fill_by_einsum(out, x, y)
    return out


def _fill_by_einsum(out: Array, x: Array, y: Array) -> None:
    """Matrix by matrix: over a batch axis einsum would choose its loops, and so its rounding, by
    the size of the batch."""
    if out.ndim == 2:
        np.einsum("mk,kn->mn", x, y, out=out)
        return
    for matrices in zip(out, x, y, strict=True):
        _fill_by_einsum(*matrices)


def _heads(x: Array) -> Array:
    """(…, T, d) → (…, d/16, T, 16)."""
    return x.reshape(*x.shape[:-1], -1, HEAD_WIDTH).swapaxes(-2, -3)


def _merged(x: Array) -> Array:
    """(…, heads, T, 16) → (…, T, d), the inverse of `_heads`."""
    joined = x.swapaxes(-2, -3)
    return joined.reshape(*joined.shape[:-2], -1)
