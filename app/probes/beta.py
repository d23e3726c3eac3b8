"""β²: how much of the residual stream each sublayer's branch brings in.

β²_i = Var(F_i)/Var(x_{i−1} + F_i), variances over the width, averaged over positions, for each
of the 2N sublayers (Liu et al. 2020, arXiv 2004.08249, section 4). Their sum grows with N in a
Post-LN stack and with ln N in a Pre-LN one.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from typing import Any

import numpy as np

from app.nn.stack import StackConfig, draw_inputs, step
from app.nn.tensor import Array
from app.nn.wirings import WIRINGS, Wiring
from app.probes import theory
from app.probes.draws import drawn_sublayers, runs, stack_config
from app.probes.options import validated
from app.probes.result import Result
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
    for squares in passes(config, config["depth"]):
        yield None if squares is None else _result(config, squares)


def passes(config: Mapping[str, Any], depth: int) -> Iterator[dict[str, Array] | None]:
    """β² per wiring, (seeds so far, 2N), after each run of seeds; None for a pause in between.

    `config` is a validated one. What was computed is kept: a slider will ask for it again, and a
    shallower stack is the beginning of a deeper one.
    """
    stack = stack_config(config, depth)
    keys = {w: _key(config, w, depth) for w in config["wiring"]}
    kept = {w: _kept.get(key, _NOTHING) for w, key in keys.items()}
    deep_enough = all(array.shape[1] >= 2 * depth for array in kept.values())
    done = min(config["seeds"], *map(len, kept.values())) if deep_enough else 0
    squares = {w: array[:done, : 2 * depth] for w, array in kept.items()} if done else {}
    if done:
        yield squares
    for samples in runs(stack, done, config["seeds"]):
        fresh = yield from _squares(config, stack, samples)
        squares = {w: np.concatenate([squares.get(w, of[:0]), of]) for w, of in fresh.items()}
        for w, array in squares.items():
            _keep(keys[w], array)
        yield squares


def _squares(
    config: Mapping[str, Any], stack: StackConfig, samples: range
) -> Generator[None, None, dict[str, Array]]:
    """β² of a run of samples: (samples, 2N) per wiring."""
    wirings = {w: WIRINGS[w] for w in config["wiring"]}
    squares: dict[str, Array] = {w: np.empty((len(samples), 2 * stack.depth)) for w in wirings}
    x = dict.fromkeys(wirings, draw_inputs(stack, config["seed"], samples))
    for drawn in drawn_sublayers(stack, config["seed"], samples):
        yield
        if drawn is None:
            continue
        for w, wiring in wirings.items():
            x[w], squares[w][:, drawn.index] = _advance(wiring, x[w], drawn.branch)
            yield
    return squares


def _advance(wiring: Wiring, x: Array, branch: Callable[[Array], Array]) -> tuple[Array, Array]:
    """The stream after a sublayer, (samples, T, d), and the sublayer's β², (samples,)."""
    F = x

    def recorded(h: Array) -> Array:
        nonlocal F
        F = branch(h)
        return F

    after = step(wiring, x, recorded)
    return after, _mean_variance(F) / _mean_variance(x + F)


def _mean_variance(x: Array) -> Array:
    """Var over the width, averaged over positions: (samples, T, d) → (samples,)."""
    return np.asarray(x.var(-1).mean(-1))


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


_NOTHING = np.empty((0, 0))
_kept: dict[tuple[Any, ...], Array] = {}  # at most 64 arrays of at most 200 kB


def _key(config: Mapping[str, Any], wiring: str, depth: int) -> tuple[Any, ...]:
    own_depth = depth if WIRINGS[wiring].depends_on_depth else None
    options = (config[name] for name in ("width", "ff", "attention", "tokens", "seed"))
    return wiring, own_depth, *options


def _keep(key: tuple[Any, ...], squares: Array) -> None:
    if squares.size >= _kept.get(key, _NOTHING).size:
        _kept[key] = squares
    if len(_kept) > 64:
        del _kept[next(iter(_kept))]
