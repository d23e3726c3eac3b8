"""LayerNorm's Jacobian: J = (1/s)(I − 11ᵀ/d − x̂x̂ᵀ/d), s = √(σ² + ε), up to ε.

Xiong et al. 2020 (arXiv 2002.04745), Lemma 3: ‖J(x)‖₂ = O(√d/‖x‖₂). J is symmetric with d − 2
singular values 1/s, so ‖J‖₂·‖x‖/√d = √(1 + μ²/σ²) up to ε, and an x that is k times as large
makes it k times smaller.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from app.nn import ops
from app.nn.stack import Purpose, generators
from app.nn.tensor import Array, Tensor
from app.probes.backward import length
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.statistics import spread

TAKES = narrowed(("width", "seed", "seeds"), width={"default": 256})
SINGULAR_TAKES = narrowed(("width", "seed", "scale"), width={"default": 256, "high": 256})
SCALES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
ROUNDS = 4  # J's first d − 2 singular values are equal: one round would nearly do


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per scale k of x ~ k·N(0, I); partial Results as seeds come in.

    Columns: scale; `norm`, the spectral norm of LayerNorm's Jacobian there, `product`, that times
    ‖x‖/√d, and `law`, √d/‖x‖, each as a mean over seeds with its error and spread. Summary: seeds;
    `slope` of the mean norm against ‖x‖, on logarithms, from the smallest scale to the largest.
    None: still at work. Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    width, seeds = config["width"], config["seeds"]
    norms, lengths = np.empty((0, len(SCALES))), np.empty((0, len(SCALES)))
    size = max(1, 2**14 // width)
    for first in range(0, seeds, size):
        samples = range(first, min(first + size, seeds))
        x, start = drawn(config, samples)
        fresh = []
        for scale in SCALES:
            fresh.append(spectral_norm(scale * x, start))
            yield None
        norms = np.concatenate([norms, np.stack(fresh, 1)])
        lengths = np.concatenate([lengths, np.stack([length(k * x) for k in SCALES], 1)])
        yield _result(config, norms, lengths)


def singular_values(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per singular value of J at k·x, the largest first, for the first seed's x.

    Columns: index (1 …), `singular`, and `law`, 1/σ for all but the last two and 0 for these, the
    directions of constant vectors and of x; one within rounding of 0 is 0. Summary: deviation, σ of
    k·x. None: still at work.
    Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, SINGULAR_TAKES)
    width = config["width"]
    x, _ = drawn(config, range(1))
    x = config["scale"] * x[0]
    yield None
    # J is symmetric: its singular values are the sizes of its eigenvalues, which cost far less.
    values = np.sort(np.abs(np.linalg.eigvalsh(jacobian(x))))[::-1]
    values[values <= width * np.finfo(float).eps * values[0]] = 0.0  # no more than rounding
    deviation = float(x.std())
    columns: dict[str, list[Any]] = {
        "index": list(range(1, width + 1)),
        "singular": values.tolist(),
        "law": [1 / deviation] * (width - 2) + [0.0] * 2,
    }
    yield Result("singular_values", config, columns, {"deviation": deviation}, 1, 1)


def jacobian(x: Array) -> Array:
    """LayerNorm's whole Jacobian at one x, by its own backward for every unit vector: (d, d)."""
    point = Tensor(np.tile(x, (len(x), 1)))
    ops.layer_norm(point).backward(np.eye(len(x)))
    assert point.grad is not None
    return point.grad


def drawn(config: Mapping[str, Any], samples: range) -> tuple[Array, Array]:
    """x ~ N(0, I) and a start for the power iteration, (samples, d) each."""
    drawing = generators(config["seed"], samples, 0, Purpose.INPUT)
    both = np.stack([g.standard_normal((2, config["width"])) for g in drawing])
    return both[:, 0], both[:, 1]


def spectral_norm(x: Array, start: Array) -> Array:
    """‖J(x)‖₂ by power iteration with LayerNorm's own backward; (samples, d) → (samples,)."""
    v = start / length(start)[:, None]
    for _ in range(ROUNDS):
        point = Tensor(x)
        ops.layer_norm(point).backward(v)
        assert point.grad is not None
        norm = length(point.grad)
        v = point.grad / norm[:, None]
    return norm


def _result(config: dict[str, Any], norms: Array, lengths: Array) -> Result:
    law = config["width"] ** 0.5 / lengths
    columns: dict[str, list[Any]] = {"scale": list(SCALES)}
    for name, values in (("norm", norms), ("product", norms / law), ("law", law)):
        columns |= spread(name, values)
    done = len(norms)
    slope = math.log(columns["norm"][-1] / columns["norm"][0]) / math.log(SCALES[-1] / SCALES[0])
    summary = {"seeds": done, "slope": slope}
    return Result("jacobian", config, columns, summary, done, config["seeds"])
