"""How far the output moves when every weight is changed a little: E‖ΔF‖²/‖F‖²/δ².

W ← W + δ·std(W)·ξ with ξ ~ N(0, 1) in every matrix; F is the output, after the final norm where
there is one. A mean square, so that O(N) for Post-LN and O(ln N) for Pre-LN is read off directly
(Liu et al. 2020, arXiv 2004.08249, Theorem 2).
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from app.nn.stack import (
    Purpose,
    StackConfig,
    disturb,
    draw_inputs,
    generators,
    output,
    step,
)
from app.nn.tensor import Array
from app.nn.wirings import WIRINGS
from app.probes import beta, theory
from app.probes.draws import drawn_sublayers, runs, stack_config
from app.probes.options import validated
from app.probes.result import Result
from app.probes.statistics import fits, paired_ratio, paired_ratio_of_geomeans, spread

ESTIMATE_TAKES = ("wiring", "depths", "width", "ff", "attention", "tokens", "seed", "seeds")
MEASURE_TAKES = (*ESTIMATE_TAKES, "change")

# k: how many of a sublayer's matrices a first-order change of its branch counts. With softmax,
# W_V and W_O; W_Q and W_K would add up to half again and are left out.
K = {"uniform": (1, 2), "softmax": (2, 2)}  # attention, FFN


def estimate(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """Σ kᵢβᵢ² over the sublayers of the first N layers, for each N in `depths`: no weight is
    changed, one forward pass is enough.

    Results as those of `measure`, `_theory` included: that curve is for what is estimated here.
    """
    config = validated(config, ESTIMATE_TAKES)
    ends = [2 * depth - 1 for depth in config["depths"]]
    k = np.tile(K[config["attention"]], max(config["depths"]))
    for squares in beta.passes(config, max(config["depths"])):
        if squares is None:
            yield None
        else:
            sums = {w: (k * values).cumsum(1)[:, ends] for w, values in squares.items()}
            yield _result("estimate", config, sums)


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """The true perturbation by `change` = δ: a row per N in `depths`; partial Results as seeds
    come in.

    Columns: depth, for each wiring the mean over seeds, its error and spread, `_theory` for
    uniform attention, and for both wirings `ratio`, Post over Pre, with its paired `ratio_se`
    (of the geometric means: `ratio_geomean`, `ratio_geomean_se`).
    Summary: seeds, and in `fits` per wiring the two laws (see `statistics.fits`). None: still at
    work. The deepest pass passes all shallower ones, so more depths cost nothing.
    Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, MEASURE_TAKES)
    stack = stack_config(config, max(config["depths"]))
    chosen = [depth - 1 for depth in config["depths"]]
    values: dict[str, Array] = {}
    for samples in runs(stack, 0, config["seeds"]):
        fresh = yield from _perturbed(config, stack, samples)
        values = {w: np.concatenate([values.get(w, of[:0]), of]) for w, of in fresh.items()}
        yield _result("sensitivity", config, {w: of[:, chosen] for w, of in values.items()})


def _perturbed(
    config: Mapping[str, Any], stack: StackConfig, samples: range
) -> Generator[None, None, dict[str, Array]]:
    """‖ΔF‖²/‖F‖²/δ² of the stack cut off after each of its layers: (samples, N) per wiring."""
    seed, change = config["seed"], config["change"]
    wirings = {w: WIRINGS[w] for w in config["wiring"]}
    values: dict[str, Array] = {w: np.empty((len(samples), stack.depth)) for w in wirings}
    clean = dict.fromkeys(wirings, draw_inputs(stack, seed, samples))
    disturbed = dict(clean)
    for drawn in drawn_sublayers(stack, seed, samples):
        yield
        if drawn is None:
            continue
        if drawn.begins_layer:  # with noise of its own
            noise = generators(seed, samples, drawn.layer, Purpose.NOISE)
        for w, wiring in wirings.items():
            clean[w] = step(wiring, clean[w], drawn.branch)
            yield
        yield from disturb(drawn.matrices, change, noise)
        for w, wiring in wirings.items():
            disturbed[w] = step(wiring, disturbed[w], drawn.branch)
            if drawn.ends_layer:
                moved = _relative_change(output(wiring, clean[w]), output(wiring, disturbed[w]))
                values[w][:, drawn.layer] = moved / change**2
            yield
    return values


def _relative_change(before: Array, after: Array) -> Array:
    """‖ΔF‖²/‖F‖² over positions and width: (samples, T, d) → (samples,)."""
    return np.asarray(((after - before) ** 2).sum((-2, -1)) / (before**2).sum((-2, -1)))


def _result(probe: str, config: dict[str, Any], values: dict[str, Array]) -> Result:
    depths = config["depths"]
    columns: dict[str, list[Any]] = {"depth": list(depths)}
    for w, array in values.items():
        columns |= spread(w, array)
        if theory.has_curve(w, config["attention"]):
            columns[f"{w}_theory"] = theory.sensitivity_curve(
                w, depths, config["ff"], config["tokens"]
            )
    if {"post_ln", "pre_ln"} <= set(values):
        pair = values["post_ln"], values["pre_ln"]
        for name, of in (("ratio", paired_ratio), ("ratio_geomean", paired_ratio_of_geomeans)):
            ratio, error = of(*pair)
            columns |= {name: ratio.tolist(), f"{name}_se": error.tolist()}
    done = len(next(iter(values.values())))
    laws = {w: fits(depths, columns[w]) for w in values}
    return Result(probe, config, columns, {"seeds": done, "fits": laws}, done, config["seeds"])
