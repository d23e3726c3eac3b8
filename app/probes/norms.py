"""How large the signal is: the mean square of the residual stream, layer by layer.

Xiong et al. 2020 (arXiv 2002.04745), Lemma 2: at initialisation E‖x^{post,5}‖² = 3d/2 for the sum
before a layer's last norm in Post-LN, and (1 + l/2)d ≤ E‖x_l‖² ≤ (1 + 3l/2)d for Pre-LN's stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from app.nn.stack import StackConfig, draw_inputs
from app.nn.tensor import Array
from app.probes import theory
from app.probes.draws import advance, course, drawn_sublayers, runs, stack_config
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.seeds import Measuring, begins, keys_of, seed_by_seed
from app.probes.statistics import spread

TAKES = narrowed(
    ("wiring", "depth", "width", "ff", "attention", "tokens", "seed", "seeds", "start"),
    width={"default": 512},
    tokens={"default": 8},
)


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per layer l = 1 … N; partial Results as seeds come in.

    Columns: layer, `lower` and `upper` (1 + l/2 and 1 + 3l/2), and for each wiring E‖x_t‖²/d of
    the sum at the end of the layer's FFN, before a norm that may follow it (x^{post,5} in Post-LN,
    the stream itself in Pre-LN; a mean over positions), with its error and spread, and `_theory`
    for uniform attention; for `pre_ln` also `pre_ln_inside`, the share of seeds within the bounds.
    Summary: seeds, and in `inside` that share over all layers. None: still at work. Raises
    ValueError as `validated` does.
    """
    config = validated(config, TAKES)
    stack = stack_config(config, config["depth"])
    yield from seed_by_seed(
        keys_of("norms", config, config["wiring"]),
        config["seeds"],
        lambda start: runs(stack, start, config["seeds"]),
        lambda wirings, samples: _squares({**config, "wiring": wirings}, stack, samples),
        lambda squares: _result(config, squares),
    )


def _squares(config: Mapping[str, Any], stack: StackConfig, samples: range) -> Measuring[str]:
    """E‖x_t‖²/d at the end of each layer, before its last norm: (samples, N) per wiring."""
    x0 = draw_inputs(stack, config["seed"], samples)
    courses = {w: course(config, (w, stack.depth), stack, samples, x0) for w in config["wiring"]}
    states = {w: of.start for w, of in courses.items()}
    squares: dict[str, Array] = {w: np.full((len(samples), stack.depth), np.nan) for w in courses}
    for drawn in drawn_sublayers(stack, config["seed"], samples):
        yield None
        if drawn is None:
            continue
        for w, of in courses.items():
            step = of.next(drawn.matrices)
            states[w], _, total = advance(step, states[w], drawn.matrices)
            if drawn.ends_layer:
                squares[w][:, drawn.layer] = (total**2).reshape(len(samples), -1).mean(-1)
            yield None
        if begins(stack, samples, drawn):
            yield squares
    return squares


def _result(config: dict[str, Any], values: dict[str, Array]) -> Result:
    depth = config["depth"]
    layers = np.arange(1, depth + 1)
    lower, upper = 1 + layers / 2, 1 + 3 * layers / 2
    columns: dict[str, list[Any]] = {
        "layer": layers.tolist(),
        "lower": lower.tolist(),
        "upper": upper.tolist(),
    }
    for w, squares in values.items():
        columns |= spread(w, squares)
        if theory.has_curve(w, config["attention"]):
            trace = theory.forward(w, depth, config["ff"], config["tokens"])
            columns[f"{w}_theory"] = [moments.q_sum for moments in trace[1::2]]
    done = len(next(iter(values.values())))
    summary: dict[str, Any] = {"seeds": done}
    if "pre_ln" in values:
        squares = values["pre_ln"]
        within = np.where(np.isnan(squares), np.nan, (lower <= squares) & (squares <= upper))
        columns["pre_ln_inside"] = within.mean(0).tolist()
        summary["inside"] = {"pre_ln": float(within.mean())}
    return Result("norms", config, columns, summary, done, config["seeds"])
