"""The curves without randomness: width d → ∞, uniform attention, Xavier weights, ReLU.

Three recursions over the 2N sublayers, in second moments between two positions t ≠ s: of the
states (q, p), of their first-order answer to weight noise (D, C), of gradients (G, H). No free
parameter: depth, d_ff ÷ d and the number of positions T settle everything. The ReLU kernels are
those of Cho and Saul 2009, equations 5–6.

What a wiring changes is in its `Law`: whether the sum is normed, whether the branch's output is,
and what the stream is multiplied by. RMSNorm and LayerNorm are one at this width; a norm on the
branch's input changes nothing where its output is normed, as the branch is homogeneous.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from app.nn.wirings import WIRINGS


@dataclass(frozen=True)
class Law:
    """`norms_sum`: the norm stands after the sum (else before the branch, and at the end).
    `norms_branch`: the branch's output is normed before it is added. `carry`: the square of what
    the stream is multiplied by in each of the 2N sublayers, from (depth, ff, tokens)."""

    norms_sum: bool
    norms_branch: bool = False
    carry: Callable[[int, int, int], list[float]] = lambda depth, ff, tokens: [1.0] * (2 * depth)


def admin_carry(depth: int, ff: int, tokens: int) -> list[float]:
    """ω_i² = 1 + Σ_{j<i} Var f_j of the Post-LN pass that Admin profiles."""
    brought = [moments.v for moments in forward("post_ln", depth, ff, tokens)]
    return [1.0 + sum(brought[:i]) for i in range(2 * depth)]


def admin_constant_carry(depth: int, ff: int, tokens: int) -> list[float]:
    """ω² = (2N + 1)/ln(2N + 1) − 1."""
    after = 2 * depth + 1
    return [after / math.log(after) - 1] * (2 * depth)


CURVES: dict[str, Law] = {
    "post_ln": Law(norms_sum=True),
    "pre_ln": Law(norms_sum=False),
    "admin": Law(norms_sum=True, carry=admin_carry),
    "admin_constant": Law(norms_sum=True, carry=admin_constant_carry),
    "sandwich": Law(norms_sum=False, norms_branch=True),
    "olmo2": Law(norms_sum=False, norms_branch=True),
    "pre_rms": Law(norms_sum=False),
}


def has_curve(wiring: str, attention: str) -> bool:
    """Is there a curve? For softmax attention there is none."""
    return wiring in CURVES and attention == "uniform"


@dataclass(frozen=True)
class Moments:
    """One sublayer: `q_in` = E‖x_t‖²/d and the correlation `r` at its input, the mean square `v` of
    what the branch brings, the stream's `carry`, `q_sum` = E‖sum_t‖²/d before a norm that may
    follow, and `gain`, the square of what a norm multiplies the branch's output by."""

    kind: str
    q_in: float
    r: float
    v: float
    q_sum: float
    carry: float = 1.0
    gain: float = 1.0


def forward(wiring: str, depth: int, ff: int, tokens: int) -> list[Moments]:
    """The moments at each of the 2N sublayers, from i.i.d. inputs (q = 1, p = 0)."""
    law, s = CURVES[wiring], _ffn_variance(ff)
    carries = law.carry(depth, ff, tokens)
    q, p = 1.0, 0.0
    trace = []
    for index, carry in enumerate(carries):
        kind = ("attention", "ffn")[index % 2]
        q_in, r = q, p / q
        if kind == "attention":  # every position gets the same branch
            v = covariance = (1 + (tokens - 1) * r) / tokens
        else:
            v, covariance = s, s * _kappa_1(r)
        gain = 1 / v if law.norms_branch else 1.0
        q, p = carry * q + gain * v, carry * p + gain * covariance
        trace.append(Moments(kind, q_in, r, gain * v, q, carry, gain))
        if law.norms_sum:
            q, p = 1.0, p / q
    return trace


def beta_squared(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """β² = v/q_sum, the branch's share of the sum's variance, at each of the 2N sublayers."""
    return [moments.v / moments.q_sum for moments in forward(wiring, depth, ff, tokens)]


def sensitivity_curve(wiring: str, depths: Sequence[int], ff: int, tokens: int) -> list[float]:
    """E‖ΔF‖²/‖F‖²/δ² of the output for W ← W + δ·std(W)·ξ in every matrix, to first order in δ²,
    for each N in `depths`."""
    if WIRINGS[wiring].depends_on_depth:
        return [noise_moments(wiring, depth, ff, tokens)[-1] for depth in depths]
    noise = noise_moments(wiring, max(depths), ff, tokens)
    return [noise[2 * depth - 1] for depth in depths]


def noise_moments(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """D/q, the relative mean square change over δ², after each of the 2N sublayers."""
    law, s = CURVES[wiring], _ffn_variance(ff)
    D, C = 0.0, 0.0
    trace = []
    for m in forward(wiring, depth, ff, tokens):
        a, own = _branch_gain(law, m), m.gain * s
        if m.kind == "attention":
            added = m.gain * (a * (D + (tokens - 1) * C) / tokens) + m.v
            D, C = m.carry * D + added, m.carry * C + added
        else:
            k0, k1 = _kappa_0(m.r), _kappa_1(m.r)
            D = m.carry * D + a * own * D + 2 * own
            C = m.carry * C + a * own * k0 * C + own * k1 + own * m.r * k0
        trace.append(D / m.q_sum)
        if law.norms_sum:
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


@lru_cache(maxsize=64)  # a figure against the depth asks for many, and for them again
def gradients(wiring: str, depth: int, ff: int, tokens: int) -> Sequence[LayerGradients]:
    """The squared gradient norms, first layer to last, for a loss whose gradient at the output is
    i.i.d. (G = 1, H = 0)."""
    law, s = CURVES[wiring], _ffn_variance(ff)
    trace = forward(wiring, depth, ff, tokens)
    G, H = 1.0, 0.0
    if not law.norms_sum:  # back through the final norm
        G, H = G / trace[-1].q_sum, H / trace[-1].q_sum
    layers = []
    w_1 = w_2 = 0.0
    for m in reversed(trace):
        if law.norms_sum:
            G, H = G / m.q_sum, H / m.q_sum
        a = _branch_gain(law, m)
        at_branch, across = m.gain * G, m.gain * H  # behind a norm of the branch's output
        pairs = tokens * (tokens - 1) * across
        if m.kind == "ffn":
            k0, k1 = _kappa_0(m.r), _kappa_1(m.r)
            # d·d_ff entries; W₁ and ReLU leave 1/(1 + d_ff/d) of a unit mean square.
            entries = ff / (1 + ff)
            w_1 = entries * (tokens * at_branch + pairs * m.r * k0)
            w_2 = entries * (tokens * at_branch + pairs * k1)
            G, H = m.carry * G + a * s * at_branch, m.carry * H + a * s * k0 * across
        else:
            w_v = m.v / m.gain * (tokens * at_branch + pairs)
            added = a * (at_branch + (tokens - 1) * across) / tokens
            G, H = m.carry * G + added, m.carry * H + added
            layers.append(LayerGradients(w_v, w_1, w_2, G))
    return layers[::-1]


def last_stream(wiring: str, depth: int, ff: int, tokens: int) -> float:
    """E‖∂L/∂x_t‖²/d at the last state, in the units of `gradients`: 1, or what the final norm
    leaves of it."""
    if CURVES[wiring].norms_sum:
        return 1.0
    return 1 / forward(wiring, depth, ff, tokens)[-1].q_sum


def loss_gradient(loss: str, width: int, tokens: int, classes: int = 64) -> float:
    """E‖∂L/∂out_t‖²/d at the output: 1 for `linear`; for `ce` ‖p − y‖²/(d·T²), where the softmax p
    of standard normal logits has E‖p − y‖² ≈ 1 − 2/C + (e/C)·C/(C + e − 1), to a few percent."""
    if loss == "linear":
        return 1.0
    squared = 1 - 2 / classes + math.e / (classes + math.e - 1)
    return squared / (width * tokens**2)


def _branch_gain(law: Law, moments: Moments) -> float:
    """Mean square by which a small change of the stream grows on its way into the branch: the
    branch sees the stream itself (Post-LN, already normalised) or LN of it (Pre-LN, 1/q)."""
    return 1.0 if law.norms_sum else 1.0 / moments.q_in


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
