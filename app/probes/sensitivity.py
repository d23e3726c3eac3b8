"""How far the output moves when every weight is changed a little: E‖ΔF‖²/‖F‖²/δ².

W ← W + δ·std(W)·ξ with ξ ~ N(0, 1) in every matrix; F is the output, after the final norm where
there is one. A mean square, so that O(N) for Post-LN and O(ln N) for Pre-LN is read off directly
(Liu et al. 2020, arXiv 2004.08249, Theorem 2).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from app.nn.stack import (
    Purpose,
    StackConfig,
    disturb,
    draw_inputs,
    generators,
    output,
)
from app.nn.tensor import Array
from app.nn.wirings import BASE, WIRINGS
from app.probes import beta, theory
from app.probes.draws import (
    Lane,
    at_depths,
    course,
    drawn_sublayers,
    lanes,
    runs,
    stack_config,
)
from app.probes.options import validated
from app.probes.result import Result
from app.probes.seeds import Measuring, begins, keys_of, seed_by_seed
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

    def answered(squares: Mapping[Lane, Array]) -> Result:
        sums = {lane: _kbeta(config, lane, values) for lane, values in squares.items()}
        return answer("estimate", config, at_depths(config, sums, config["depths"]))

    yield from beta.passes(config, config["depths"], answered)


def _kbeta(config: Mapping[str, Any], lane: Lane, squares: Array) -> Array:
    """Σ kᵢβᵢ² after each layer: (seeds, 2N) → (seeds, N)."""
    k = np.tile(K[config["attention"]], lane[1])
    return np.asarray((k * squares).cumsum(1)[:, 1::2])


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
    yield from seed_by_seed(
        keys_of("sensitivity", config, config["wiring"]),
        config["seeds"],
        lambda start: runs(stack, start, config["seeds"]),
        lambda wirings, samples: perturbed({**config, "wiring": wirings}, stack, samples),
        lambda values: answer("sensitivity", config, values),
    )


def perturbed(config: Mapping[str, Any], stack: StackConfig, samples: range) -> Measuring[str]:
    """‖ΔF‖²/‖F‖²/δ² of stacks of each of the `depths`: (samples, depths) per wiring."""
    seed, change = config["seed"], config["change"]
    x0 = draw_inputs(stack, seed, samples)
    courses = {
        lane: course(config, lane, stack, samples, x0) for lane in lanes(config, config["depths"])
    }
    values: dict[Lane, Array] = {lane: np.full((len(samples), lane[1]), np.nan) for lane in courses}
    clean = {lane: lane_course.start for lane, lane_course in courses.items()}
    disturbed = dict(clean)
    for drawn in drawn_sublayers(stack, seed, samples):
        yield None
        if drawn is None:
            continue
        if drawn.begins_layer:  # with noise of its own
            noise = generators(seed, samples, drawn.layer, Purpose.NOISE)
        steps = {}
        for lane, lane_course in courses.items():
            if drawn.layer < lane[1]:
                steps[lane] = lane_course.next(drawn.matrices)
                clean[lane] = steps[lane](clean[lane], drawn.matrices)
                yield None
        yield from disturb(drawn.matrices, change, noise)
        for lane, step in steps.items():
            disturbed[lane] = step(disturbed[lane], drawn.matrices)
            if drawn.ends_layer:
                before, after = (output(WIRINGS[lane[0]], x[lane]) for x in (clean, disturbed))
                values[lane][:, drawn.layer] = _relative_change(before, after) / change**2
            yield None
        if begins(stack, samples, drawn):
            yield at_depths(config, values, config["depths"])
    return at_depths(config, values, config["depths"])


def _relative_change(before: Array, after: Array) -> Array:
    """‖ΔF‖²/‖F‖² over positions and width: (samples, T, d) → (samples,)."""
    return np.asarray(((after - before) ** 2).sum((-2, -1)) / (before**2).sum((-2, -1)))


def answer(probe: str, config: dict[str, Any], values: dict[str, Array]) -> Result:
    depths = config["depths"]
    columns: dict[str, list[Any]] = {"depth": list(depths)}
    for w, array in values.items():
        columns |= spread(w, array)
        if theory.has_curve(w, config["attention"]):
            columns[f"{w}_theory"] = theory.sensitivity_curve(
                w, depths, config["ff"], config["tokens"]
            )
    if set(BASE) <= set(values):
        pair = values["post_ln"], values["pre_ln"]
        for name, of in (("ratio", paired_ratio), ("ratio_geomean", paired_ratio_of_geomeans)):
            ratio, error = of(*pair)
            columns |= {name: ratio.tolist(), f"{name}_se": error.tolist()}
    done = len(next(iter(values.values())))
    laws = {w: fits(depths, columns[w]) for w in values}
    return Result(probe, config, columns, {"seeds": done, "fits": laws}, done, config["seeds"])
