"""The curves without randomness: width d → ∞, uniform attention, Xavier weights, ReLU.

Three recursions over the 2N sublayers, in second moments between two positions t ≠ s: of the
states (q, p), of their first-order answer to weight noise (D, C), of gradients (G, H). No free
parameter: depth, d_ff ÷ d and the number of positions T settle everything. They hold for
`post_ln` and `pre_ln`; the ReLU kernels are those of Cho and Saul 2009, equations 5–6.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

CURVES = ("post_ln", "pre_ln")


def has_curve(wiring: str, attention: str) -> bool:
    """Is there a curve? For softmax attention there is none."""
    return wiring in CURVES and attention == "uniform"


@dataclass(frozen=True)
class Moments:
    """One sublayer: `q_in` = E‖x_t‖²/d and the correlation `r` at its input, the branch's mean
    square `v`, and `q_sum` = E‖x_t + F_t‖²/d, before a norm that may follow."""

    kind: str
    q_in: float
    r: float
    v: float
    q_sum: float


def forward(wiring: str, depth: int, ff: int, tokens: int) -> list[Moments]:
    """The moments at each of the 2N sublayers, from i.i.d. inputs (q = 1, p = 0)."""
    s = _ffn_variance(ff)
    q, p = 1.0, 0.0
    trace = []
    for _ in range(depth):
        for kind in ("attention", "ffn"):
            q_in, r = q, p / q
            if kind == "attention":  # every position gets the same branch
                v = (1 + (tokens - 1) * r) / tokens
                q, p = q + v, p + v
            else:
                v = s
                q, p = q + s, p + s * _kappa_1(r)
            trace.append(Moments(kind, q_in, r, v, q))
            if wiring == "post_ln":
                q, p = 1.0, p / q
    return trace


def beta_squared(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """β² = v/q_sum, the branch's share of the sum's variance, at each of the 2N sublayers."""
    return [moments.v / moments.q_sum for moments in forward(wiring, depth, ff, tokens)]


def sensitivity_curve(wiring: str, depths: Sequence[int], ff: int, tokens: int) -> list[float]:
    """E‖ΔF‖²/‖F‖²/δ² of the output for W ← W + δ·std(W)·ξ in every matrix, to first order in δ²,
    for each N in `depths`."""
    noise = noise_moments(wiring, max(depths), ff, tokens)
    return [noise[2 * depth - 1] for depth in depths]


def noise_moments(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """D/q, the relative mean square change over δ², after each of the 2N sublayers."""
    s = _ffn_variance(ff)
    D, C = 0.0, 0.0
    trace = []
    for m in forward(wiring, depth, ff, tokens):
        a = _branch_gain(wiring, m)
        if m.kind == "attention":
            added = a * (D + (tokens - 1) * C) / tokens + m.v
            D, C = D + added, C + added
        else:
            k0, k1 = _kappa_0(m.r), _kappa_1(m.r)
            D, C = D + a * s * D + 2 * s, C + a * s * k0 * C + s * k1 + s * m.r * k0
        trace.append(D / m.q_sum)
        if wiring == "post_ln":
            D, C = D / m.q_sum, C / m.q_sum
    return trace


@dataclass(frozen=True)
class LayerGradients:
    """‖∂L/∂W‖²/d² of one layer's matrices, and `stream`, E‖∂L/∂x_t‖²/d where the layer begins, in
    units of E‖∂L/∂out_t‖²/d."""

    w_v: float
    w_1: float
    w_2: float
    stream: float


def gradients(wiring: str, depth: int, ff: int, tokens: int) -> list[LayerGradients]:
    """The squared gradient norms, first layer to last, for a loss whose gradient at the output is
    i.i.d. (G = 1, H = 0)."""
    s = _ffn_variance(ff)
    trace = forward(wiring, depth, ff, tokens)
    G, H = 1.0, 0.0
    if wiring == "pre_ln":  # back through the final norm
        G, H = G / trace[-1].q_sum, H / trace[-1].q_sum
    layers = []
    w_1 = w_2 = 0.0
    for m in reversed(trace):
        if wiring == "post_ln":
            G, H = G / m.q_sum, H / m.q_sum
        a = _branch_gain(wiring, m)
        pairs = tokens * (tokens - 1) * H
        if m.kind == "ffn":
            k0, k1 = _kappa_0(m.r), _kappa_1(m.r)
            # d·d_ff entries; W₁ and ReLU leave 1/(1 + d_ff/d) of a unit mean square.
            entries = ff / (1 + ff)
            w_1 = entries * (tokens * G + pairs * m.r * k0)
            w_2 = entries * (tokens * G + pairs * k1)
            G, H = G + a * s * G, H + a * s * k0 * H
        else:
            w_v = m.v * (tokens * G + pairs)
            added = a * (G + (tokens - 1) * H) / tokens
            G, H = G + added, H + added
            layers.append(LayerGradients(w_v, w_1, w_2, G))
    return layers[::-1]


def last_stream(wiring: str, depth: int, ff: int, tokens: int) -> float:
    """E‖∂L/∂x_t‖²/d at the last state, in the units of `gradients`: 1, or what the final norm
    leaves of it."""
    return 1.0 if wiring == "post_ln" else 1 / forward(wiring, depth, ff, tokens)[-1].q_sum


def loss_gradient(loss: str, width: int, tokens: int, classes: int = 64) -> float:
    """E‖∂L/∂out_t‖²/d at the output: 1 for `linear`; for `ce` ‖p − y‖²/(d·T²), where the softmax p
    of standard normal logits has E‖p − y‖² ≈ 1 − 2/C + (e/C)·C/(C + e − 1), to a few percent."""
    if loss == "linear":
        return 1.0
    squared = 1 - 2 / classes + math.e / (classes + math.e - 1)
    return squared / (width * tokens**2)


def _branch_gain(wiring: str, moments: Moments) -> float:
    """Mean square by which a small change of the stream grows on its way into the branch: the
    branch sees the stream itself (Post-LN, already normalised) or LN of it (Pre-LN, 1/q)."""
    return 1.0 if wiring == "post_ln" else 1.0 / moments.q_in


def _ffn_variance(ff: int) -> float:
    """2·d·d_ff/(d + d_ff)²: the mean square that Xavier and ReLU leave of a unit input."""
    return 2 * ff / (1 + ff) ** 2


def _kappa_0(r: float) -> float:
    return (math.pi - math.acos(_clipped(r))) / math.pi


def _kappa_1(r: float) -> float:
    r = _clipped(r)
    return (math.sqrt(1 - r * r) + r * (math.pi - math.acos(r))) / math.pi


def _clipped(r: float) -> float:
    return min(1.0, max(-1.0, r))  # rounding can push a correlation of 1 past 1
