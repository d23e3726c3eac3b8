"""β²: how much of the residual stream each sublayer's branch brings in.

β²_i = Var(F_i)/Var(x_{i−1} + F_i), variances over the width, averaged over positions, for each
of the 2N sublayers (Liu et al. 2020, arXiv 2004.08249, section 4). Their sum grows with N in a
Post-LN stack and with ln N in a Pre-LN one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.nn.ops import mean_of, mean_product
from app.nn.stack import StackConfig, draw_inputs
from app.nn.tensor import Array
from app.probes import theory
from app.probes.draws import (
    Lane,
    advance,
    course,
    drawn_sublayers,
    lanes,
    runs,
    stack_config,
)
from app.probes.options import validated
from app.probes.result import Result
from app.probes.seeds import Measuring, begins, keys_of, seed_by_seed
from app.probes.statistics import spread, standard_error

TAKES = ("wiring", "depth", "width", "ff", "attention", "tokens", "seed", "seeds")


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per sublayer of a stack of `depth` layers; partial Results as seeds come in.

    Columns: layer (1 … N), sublayer (1 … 2N), kind, and for each wiring the mean β² over seeds,
    its error and spread, and `_theory` for uniform attention. Summary: seeds, and in `sum` per
    wiring the Σβ² over all sublayers and its standard error. None: still at work.
    Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)

    def answered(squares: Mapping[Lane, Array]) -> Result:
        return _result(config, {w: of for (w, _), of in squares.items()})

    yield from passes(config, [config["depth"]], answered)


def passes(
    config: Mapping[str, Any],
    depths: Sequence[int],
    answer: Callable[[Mapping[Lane, Array]], Result],
) -> Iterator[Result | None]:
    """The `answer` to β² per lane, (seeds so far, 2N), after each run of seeds; None for a pause in
    between.

    `config` is a validated one.
    """
    stack = stack_config(config, max(depths))
    options = {name: config[name] for name in ("width", "ff", "attention", "tokens", "seed")}
    options["start"] = config.get("start", 0.0)
    return seed_by_seed(
        keys_of("beta", options, lanes(config, depths)),
        config["seeds"],
        lambda start: runs(stack, start, config["seeds"]),
        lambda wanted, samples: _squares(config, wanted, stack, samples),
        answer,
    )


def _squares(
    config: Mapping[str, Any], all_lanes: Sequence[Lane], stack: StackConfig, samples: range
) -> Measuring[Lane]:
    """β² of a run of samples: (samples, 2N) per lane."""
    x0 = draw_inputs(stack, config["seed"], samples)
    courses = {lane: course(config, lane, stack, samples, x0) for lane in all_lanes}
    squares: dict[Lane, Array] = {
        lane: np.full((len(samples), 2 * lane[1]), np.nan) for lane in courses
    }
    x = {lane: lane_course.start for lane, lane_course in courses.items()}
    for drawn in drawn_sublayers(stack, config["seed"], samples):
        yield None
        if drawn is None:
            continue
        for lane, lane_course in courses.items():
            if drawn.layer < lane[1]:
                step = lane_course.next(drawn.matrices)
                x[lane], brought, total = advance(step, x[lane], drawn.matrices)
                share = _mean_variance(brought) / _mean_variance(total)
                squares[lane][:, drawn.index] = share
                yield None
        if begins(stack, samples, drawn):
            yield squares
    return squares


def _mean_variance(x: Array) -> Array:
    """Var over the width, averaged over positions (and streams): (samples, …, d) → (samples,)."""
    centred = x - mean_of(x)
    return np.asarray(mean_product(centred, centred).reshape(len(x), -1).mean(-1))


def _result(config: dict[str, Any], squares: dict[str, Array]) -> Result:
    depth, ff, tokens = config["depth"], config["ff"], config["tokens"]
    columns: dict[str, list[Any]] = {
        "layer": [i // 2 + 1 for i in range(2 * depth)],
        "sublayer": [i + 1 for i in range(2 * depth)],
        "kind": ["attention", "ffn"] * depth,
    }
    sums = {}
    for w, values in squares.items():
        columns |= spread(w, values)
        if theory.has_curve(w, config["attention"]):
            columns[f"{w}_theory"] = theory.beta_squared(w, depth, ff, tokens)
        total = values.sum(1)
        sums[w] = {"mean": float(total.mean()), "se": float(standard_error(total))}
    done = len(next(iter(squares.values())))
    return Result("beta", config, columns, {"seeds": done, "sum": sums}, done, config["seeds"])
