"""How alike neighbouring layers' states are: ‖x_{l+1} − x_l‖/‖x_l‖ and cos(x_l, x_{l+1}).

The same as `depth` with the quantities "change" and "cosine", without the stacks that are merged or
shortened there: one way through the deepest stack, which holds all shallower ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from app.nn.stack import StackConfig, draw_inputs
from app.nn.tensor import Array
from app.probes import theory
from app.probes.backward import length
from app.probes.draws import course, drawn_sublayers, runs, stack_config
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.seeds import Measuring, begins, keys_of, seed_by_seed
from app.probes.statistics import spread

TAKES = narrowed(
    ("wiring", "depth", "width", "ff", "attention", "tokens", "seed", "seeds", "start", "quantity"),
    depth={"default": 24},
    width={"default": 64},
    quantity={"choices": ("change", "cosine")},
)


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per layer, from x_l to x_{l+1}; partial Results as seeds come in.

    Columns: layer (l = 0 …) and for each wiring the `quantity`, "change" or "cosine", with its
    error and spread, and `_theory` for uniform attention. Summary: seeds. None: still at work.
    Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    stack = stack_config(config, config["depth"])
    yield from seed_by_seed(
        keys_of("neighbours", config, config["wiring"], "quantity"),
        config["seeds"],
        lambda start: runs(stack, start, config["seeds"]),
        lambda wirings, samples: _compared({**config, "wiring": wirings}, stack, samples),
        lambda values: _result(config, values),
    )


def change(before: Array, after: Array) -> Array:
    """‖x_{l+1} − x_l‖/‖x_l‖, (samples, …) twice → (samples,)."""
    return np.asarray(length(after - before) / length(before))


def cosine(before: Array, after: Array) -> Array:
    """Of the angle between x_l and x_{l+1}, (samples, …) twice → (samples,)."""
    inner = (before * after).reshape(len(before), -1).sum(-1)
    return np.asarray(inner / (length(before) * length(after)))


def cosine_curve(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """cos(x_l, x_{l+1}) for d → ∞ and uniform attention: branches are orthogonal to the stream."""
    trace = theory.forward(wiring, depth, ff, tokens)
    kept = [math.sqrt(m.carry * m.q_in / m.q_sum) for m in trace]
    return [a * f for a, f in zip(kept[::2], kept[1::2], strict=True)]


def change_curve(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """‖x_{l+1} − x_l‖/‖x_l‖ for d → ∞ and uniform attention."""
    cosines = cosine_curve(wiring, depth, ff, tokens)
    if theory.CURVES[wiring].norms_sum:  # both of length √d
        return [math.sqrt(2 - 2 * cosine) for cosine in cosines]
    return [math.sqrt(1 / cosine**2 - 1) for cosine in cosines]


QUANTITIES = {"change": change, "cosine": cosine}
CURVES: dict[str, Callable[[str, int, int, int], list[float]]] = {
    "change": change_curve,
    "cosine": cosine_curve,
}


def _compared(config: Mapping[str, Any], stack: StackConfig, samples: range) -> Measuring[str]:
    """All quantities from each layer to the next: (samples, N, quantities) per wiring."""
    x0 = draw_inputs(stack, config["seed"], samples)
    courses = {w: course(config, (w, stack.depth), stack, samples, x0) for w in config["wiring"]}
    states = {w: of.start for w, of in courses.items()}
    before = dict(states)
    shape = (len(samples), stack.depth, len(QUANTITIES))
    found: dict[str, Array] = {w: np.full(shape, math.nan) for w in courses}
    for drawn in drawn_sublayers(stack, config["seed"], samples):
        yield None
        if drawn is None:
            continue
        for w, of in courses.items():
            states[w] = of.next(drawn.matrices)(states[w], drawn.matrices)
            if drawn.ends_layer:
                for place, quantity in enumerate(QUANTITIES.values()):
                    found[w][:, drawn.layer, place] = quantity(before[w], states[w])
                before[w] = states[w]
            yield None
        if begins(stack, samples, drawn):
            yield found
    return found


def _result(config: dict[str, Any], values: Mapping[str, Array]) -> Result:
    depth, quantity = config["depth"], config["quantity"]
    columns: dict[str, list[Any]] = {"layer": list(range(depth))}
    for w, measured in values.items():
        columns |= spread(w, measured[..., list(QUANTITIES).index(quantity)])
        if theory.has_curve(w, config["attention"]):
            columns[f"{w}_theory"] = CURVES[quantity](w, depth, config["ff"], config["tokens"])
    done = len(next(iter(values.values())))
    return Result("depth", config, columns, {"seeds": done}, done, config["seeds"])
