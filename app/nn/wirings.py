"""Where the norm goes: one function and one table row per wiring.

`x` is the residual stream, `branch` the sublayer (attention or FFN), `norm` the normalisation.
A wiring asks no more of them than `+`, `*` and a call, so the same two lines run on arrays
(numbers only), on Tensors (numbers and the way back) and on symbols (the diagram and the formula).
A step that takes more than these three gets it by keyword from its row's `numbers`. The sum at
the heart of a step has the stream on its left and what the branch brings on its right.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from app.nn import ops
from app.nn.tensor import Array

Function = Callable[[Any], Any]


def post_ln(x: Any, branch: Function, norm: Function) -> Any:
    return norm(x + branch(x))


def pre_ln(x: Any, branch: Function, norm: Function) -> Any:
    return x + branch(norm(x))


def deepnorm(x: Any, branch: Function, norm: Function, alpha: float) -> Any:
    return norm(x * alpha + branch(x))


def admin(x: Any, branch: Function, norm: Function, omega: Any) -> Any:
    return norm(x * omega + branch(x))


def admin_constant(x: Any, branch: Function, norm: Function, omega: float) -> Any:
    return norm(x * omega + branch(x))


def sandwich(x: Any, branch: Function, norm: Function) -> Any:
    return x + norm(branch(norm(x)))


def olmo2(x: Any, branch: Function, norm: Function) -> Any:
    return x + norm(branch(x))


def pre_rms(x: Any, branch: Function, norm: Function) -> Any:
    return x + branch(norm(x))


def normformer(x: Any, branch: Function, norm: Function, kind: str) -> Any:
    if kind == "ffn":  # whose branch holds the third norm: relu(h W₁) is normed before W₂
        return x + branch(norm(x))
    return x + norm(branch(norm(x)))


def hyper_connections(
    streams: Any, branch: Function, norm: Function, read: Array, mix: Array, write: Array
) -> Any:
    brought = branch(norm(ops.read_streams(streams, read)))
    return ops.mix_streams(streams, mix) + ops.write_streams(brought, write)


def mhc(
    streams: Any, branch: Function, norm: Function, read: Array, mix: Array, write: Array
) -> Any:
    return hyper_connections(streams, branch, norm, read, mix, write)


# ---------------------------------------------------------------- the table


@dataclass(frozen=True)
class Place:
    """Where in a stack a sublayer stands: `index` counts sublayers from 0; `kind` is attention,
    cross_attention or ffn; `depth` is N; `stack` as in StackConfig."""

    index: int
    kind: str
    depth: int
    stack: str = "encoder"

    @property
    def sublayers(self) -> int:
        """How many the whole stack has: 2N, or 3N in a decoder."""
        return self.depth * (3 if self.stack == "decoder" else 2)


# Standard normals of a shape, one per sample, times the size of the perturbed start.
Draw = Callable[..., Array]
Numbers = Callable[[Place, Draw], Mapping[str, Any]]


def no_numbers(place: Place, draw: Draw) -> Mapping[str, Any]:
    return {}


def unscaled(place: Place) -> float:
    return 1.0


@dataclass(frozen=True)
class Wiring:
    """What else there is to know about a wiring.

    `final_norm`: one more norm stands after the last layer; "output" means after it.
    `depends_on_depth`: the step or its weights change with N, so that the first layers of a deep
    stack are not the layers of a shallow one, and every depth needs a pass of its own.
    `initialisation`: how the start differs from Xavier weights and gain 1, in words.
    `norm`: the normalisation at every place that the step and `final_norm` name.
    `inside`: a norm within the branch, by kind of sublayer (see `stack.Sublayer`).
    `numbers`: what the step takes by keyword, at each place. `profiled`: the step takes `omega`,
    measured once on the stack itself (see `stack.Profile`).
    `beta`: factor of W_V, W_O, W_1 and W_2 at the start.
    `streams`: how many residual streams the state has; they start equal and are summed at the end.
    `attentions`: with which kinds of attention it is what it is called.
    """

    name: str
    step: Callable[..., Any]
    final_norm: bool
    depends_on_depth: bool
    source: str
    initialisation: str = "as Post-LN: Xavier weights, gain 1"
    norm: Function = ops.layer_norm
    inside: Mapping[str, Function] = field(default_factory=dict)
    numbers: Numbers = no_numbers
    profiled: bool = False
    beta: Callable[[Place], float] = unscaled
    streams: int = 1
    attentions: tuple[str, ...] = ("uniform", "softmax")


def deepnorm_alpha(place: Place, draw: Draw) -> Mapping[str, Any]:
    """(2N)^¼ in an encoder or a causal stack, (3N)^¼ in a decoder: (number of sublayers)^¼; in the
    encoder before a decoder of the same depth 0.81·(N⁴N)^(1/16)."""
    if place.stack == "source":
        return {"alpha": 0.81 * math.pow(place.depth, 5 / 16)}
    return {"alpha": math.pow(place.sublayers, 0.25)}


def deepnorm_beta(place: Place) -> float:
    """(8N)^−¼, (12N)^−¼ in a decoder, 0.87·(N⁴N)^(−1/16) in the encoder before one."""
    if place.stack == "source":
        return 0.87 * math.pow(place.depth, -5 / 16)
    return math.pow(4 * place.sublayers, -0.25)


def admin_omega(place: Place, draw: Draw) -> Mapping[str, Any]:
    """√((n + 1)/ln(n + 1) − 1) for n sublayers."""
    after = place.sublayers + 1
    return {"omega": math.sqrt(after / math.log(after) - 1)}


STREAMS = 4


def static_connections(place: Place, draw: Draw) -> Mapping[str, Any]:
    """Reads one stream, each sublayer the next one; mixes nothing; writes to all. Plus noise."""
    return {
        "read": np.eye(STREAMS)[place.index % STREAMS] + draw(STREAMS),
        "mix": np.eye(STREAMS) + draw(STREAMS, STREAMS),
        "write": np.ones(STREAMS) + draw(STREAMS),
    }


def manifold_connections(place: Place, draw: Draw) -> Mapping[str, Any]:
    """read = σ(b), write = 2σ(b), mix = Sinkhorn–Knopp(exp b), with noise added to the biases b.

    The paper gives no biases: here the read weights start at ¼ (b = −ln 3), the write weights at
    1 (b = 0), and mixing at 0.95 on the diagonal (b = 4·I).
    """
    return {
        "read": sigmoid(draw(STREAMS) - math.log(3)),
        "mix": doubly_stochastic(draw(STREAMS, STREAMS) + 4 * np.eye(STREAMS)),
        "write": 2 * sigmoid(draw(STREAMS)),
    }


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def doubly_stochastic(logits: Array, rounds: int = 20) -> Array:
    """Sinkhorn and Knopp: exp, then columns and rows normalised in turn; (…, n, n) → (…, n, n).

    Rows sum to 1 exactly, columns nearly. Xie et al. 2025 (arXiv 2512.24880), equation 9.
    """
    matrix = np.exp(logits)
    for _ in range(rounds):
        matrix = matrix / matrix.sum(-2, keepdims=True)
        matrix = matrix / matrix.sum(-1, keepdims=True)
    return np.asarray(matrix)


BASE = ("post_ln", "pre_ln")  # the two that this is about; every other is held against them

WIRINGS: dict[str, Wiring] = {
    wiring.name: wiring
    for wiring in (
        Wiring(
            name="post_ln",
            step=post_ln,
            final_norm=False,
            depends_on_depth=False,
            source="Vaswani et al. 2017, section 3.1; Xiong et al. 2020, Figure 1(a)",
        ),
        Wiring(
            name="pre_ln",
            step=pre_ln,
            final_norm=True,
            depends_on_depth=False,
            source="Xiong et al. 2020, Figure 1(b)",
        ),
        Wiring(
            name="deepnorm",
            step=deepnorm,
            final_norm=False,
            depends_on_depth=True,
            source="Wang et al. 2022 (arXiv 2203.00555), Figure 2 and equation 6",
            initialisation="W_V, W_O, W_1 and W_2 times (8N)^−¼; W_Q and W_K as ever",
            numbers=deepnorm_alpha,
            beta=deepnorm_beta,
            attentions=("softmax",),
        ),
        Wiring(
            name="admin",
            step=admin,
            final_norm=False,
            depends_on_depth=False,
            source="Liu et al. 2020 (arXiv 2004.08249), section 5, profiling and initialisation",
            initialisation="ω_i² = 1 + Σ_{j<i} Var f_j, measured once on this stack with ω = 1",
            profiled=True,
        ),
        Wiring(
            name="admin_constant",
            step=admin_constant,
            final_norm=False,
            depends_on_depth=True,
            source="Liu et al. 2020 (arXiv 2004.08249), as in their package admin-torch",
            initialisation="ω² = (2N + 1)/ln(2N + 1) − 1 in every sublayer",
            numbers=admin_omega,
        ),
        Wiring(
            name="sandwich",
            step=sandwich,
            final_norm=True,
            depends_on_depth=False,
            source="Ding et al. 2021 (CogView, arXiv 2105.13290), section 2.4",
        ),
        Wiring(
            name="olmo2",
            step=olmo2,
            final_norm=True,
            depends_on_depth=False,
            source="OLMo 2 2025 (arXiv 2501.00656), section 2.2, reordered norm and QK-norm",
            initialisation="Xavier as everywhere here; OLMo 2 itself starts from N(0, 0.02²)",
            norm=ops.rms_norm,
            inside={"attention": ops.rms_norm, "cross_attention": ops.rms_norm},
        ),
        Wiring(
            name="pre_rms",
            step=pre_rms,
            final_norm=True,
            depends_on_depth=False,
            source="Zhang and Sennrich 2019 (arXiv 1910.07467), equation 4; gain 1 + w as in Gemma "
            "(arXiv 2403.08295)",
            initialisation="gain 1 + w with w = 0, which is gain 1",
            norm=ops.zero_centred_rms_norm,
        ),
        Wiring(
            name="normformer",
            step=normformer,
            final_norm=True,
            depends_on_depth=False,
            source="Shleifer et al. 2021 (arXiv 2110.09456), section 2 and Figure 1",
            initialisation="gain 1 in all three norms, head scales 1",
            inside={"ffn": ops.layer_norm},
            numbers=lambda place, draw: {"kind": place.kind},
        ),
        Wiring(
            name="hyper_connections",
            step=hyper_connections,
            final_norm=True,
            depends_on_depth=False,
            source="Zhu et al. 2024 (arXiv 2409.19606), equations 2–5 and 14, static",
            initialisation="reads stream k mod 4, mixes by the identity, writes 1 to all four: "
            "exactly Pre-LN; `start` adds normal noise of that size to these weights",
            numbers=static_connections,
            streams=STREAMS,
        ),
        Wiring(
            name="mhc",
            step=mhc,
            final_norm=True,
            depends_on_depth=False,
            source="Xie et al. 2025 (arXiv 2512.24880), equations 3, 8 and 9, static part",
            initialisation="reads ¼ of each stream, mixes doubly stochastically (0.95 stays), "
            "writes 1 to all four: exactly Pre-LN; `start` adds normal noise to their logits",
            numbers=manifold_connections,
            streams=STREAMS,
        ),
    )
}
