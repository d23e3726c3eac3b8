"""How large the gradients are at initialisation: layer by layer, and in the last layer against N.

‖∂L/∂W‖ is the Frobenius norm of the gradient by one matrix of a layer. Xiong et al. 2020 (arXiv
2002.04745), Theorem 1 bounds that of the last layer's W₂: O(d√ln d) for Post-LN, O(d√(ln d / L))
for Pre-LN. Absolute values depend on the loss; ratios and slopes are what is compared.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Mapping
from typing import Any

import numpy as np

from app.nn.stack import StackConfig, Step
from app.nn.tensor import Array
from app.probes import theory
from app.probes.backward import (
    Loss,
    back,
    begun,
    draw_loss,
    gradient_norms,
    loss_gradient,
    matrix_scale,
)
from app.probes.draws import (
    Lane,
    at_depths,
    drawn_sublayers,
    is_another_for_every_depth,
    lanes,
    runs,
    runs_to_keep,
    stack_config,
)
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.seeds import Measuring, begins, keys_of, mapped, seed_by_seed
from app.probes.statistics import slopes, spread, standard_error

_COMMON = ("width", "ff", "attention", "tokens", "seed", "seeds", "loss", "matrix")
_KINDS = ("stack", "memory", "start")
TAKES = ("wiring", "depth", *_COMMON, *_KINDS)
LAST_TAKES = narrowed(
    ("wiring", "depths", *_COMMON, *_KINDS),
    depths={"default": (2, 4, 6, 8, 10, 12, 14, 18, 24)},
)
# In the decoder of an encoder–decoder, whose memory has collapsed, a Post-LN layer's FFN gradient
# grows towards the output by √2: cross-attention halves what goes back along the stream.
DECODER_SLOPE = math.log10(2) / 2


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per layer of stacks of `depth` layers; partial Results as seeds come in.

    Columns: layer (1 … N), for each wiring ‖∂L/∂W‖ with its error and spread, `_theory` where
    there is a curve, and `_relative`, the norm over the first layer's of the same seed (geometric
    mean, its standard error, percentiles). Summary: seeds; per wiring `ratio`, last layer to first
    (also as a geometric mean), and `slope`, of log₁₀ of the norm per layer, each the mean over
    seeds with its standard error. None: still at work.
    Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    stack = stack_config(config, config["depth"])
    yield from seed_by_seed(
        keys_of("gradients", config, config["wiring"]),
        config["seeds"],
        lambda start: runs_to_keep(config, stack, start),
        lambda wirings, samples: matrix_norms({**config, "wiring": wirings}, stack, samples),
        lambda norms: _profile(config, norms),
    )


def matrix_norms(config: Mapping[str, Any], stack: StackConfig, samples: range) -> Measuring[str]:
    """‖∂L/∂W‖ in every layer, (samples, N) per wiring."""
    passing = gradient_norms(config, stack, samples, config["matrix"], tells=False)
    return (yield from mapped(passing, lambda norms: {w: of.matrix for w, of in norms.items()}))


def _profile(config: dict[str, Any], values: dict[str, Array]) -> Result:
    depth = config["depth"]
    layers = list(range(1, depth + 1))
    columns: dict[str, list[Any]] = {"layer": layers}
    for w, norms in values.items():
        columns |= spread(w, norms)
        if has_curve(w, config):
            columns[f"{w}_theory"] = curve(w, config, depth)
        columns |= _relative(w, norms / norms[:, :1])
    done = len(next(iter(values.values())))
    summary: dict[str, Any] = {"seeds": done, "ratio": {}, "slope": {}}
    for w, norms in values.items():
        summary["ratio"][w] = {
            **mean_and_error(norms[:, -1] / norms[:, 0]),
            "geomean": columns[f"{w}_relative"][-1],
            "geomean_se": columns[f"{w}_relative_se"][-1],
        }
        if depth > 1:
            summary["slope"][w] = mean_and_error(slopes(layers, np.log10(norms)))
    if config["stack"] == "decoder" and config["memory"] == "encoder" and "post_ln" in values:
        summary["slope_theory"] = {"post_ln": DECODER_SLOPE}
    return Result("gradients", config, columns, summary, done, config["seeds"])


def _relative(wiring: str, ratios: Array) -> dict[str, list[float]]:
    """The columns of each seed's norms over its first layer's, (seeds, N). The mean of ratios lies
    above the ratio of means where the first layer scatters; the geometric mean does not."""
    table = spread(f"{wiring}_relative", ratios)
    center = np.asarray(table[f"{wiring}_relative_geomean"])
    return {
        f"{wiring}_relative": center.tolist(),
        f"{wiring}_relative_se": (center * standard_error(np.log(ratios))).tolist(),
        **{name: table[name] for name in (f"{wiring}_relative_p10", f"{wiring}_relative_p90")},
    }


def measure_last(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per L in `depths`: ‖∂L/∂W‖ in the last layer of a stack of L layers.

    Columns as those of `measure`, `depth` first. Summary: seeds, and per wiring `slope`, that of
    ln ‖∂L/∂W‖ against ln L: the mean over seeds with its standard error, and the theory's. One
    forward pass of the deepest stack and a step back from each L, as far as a stack begins with
    the shallower one's layers.
    """
    config = validated(config, LAST_TAKES)
    stack = stack_config(config, max(config["depths"]))
    yield from seed_by_seed(
        keys_of("last_layer", config, config["wiring"]),
        config["seeds"],
        lambda start: runs(stack, start, config["seeds"]),
        lambda wirings, samples: _last_layers({**config, "wiring": wirings}, stack, samples),
        lambda norms: _against_depth(config, norms),
    )


def _last_layers(config: Mapping[str, Any], stack: StackConfig, samples: range) -> Measuring[str]:
    """‖∂L/∂W‖ of the last layer of the stack cut off after each of its layers in `depths`:
    (samples, depths) per wiring."""
    courses = yield from begun(config, lanes(config, config["depths"]), stack, samples)
    ends = {
        lane: {lane[1]} if is_another_for_every_depth(config, lane[0]) else set(config["depths"])
        for lane in courses
    }
    norms: dict[Lane, Array] = {
        lane: np.full((len(samples), lane[1]), math.nan) for lane in courses
    }
    layers = {lane: _Layer(lane, of.start) for lane, of in courses.items()}
    loss = draw_loss(config, stack, samples)
    wanted, position = stack.matrices[config["matrix"]]
    held: list[list[Array]] = []
    for drawn in drawn_sublayers(stack, config["seed"], samples):
        yield None
        if drawn is None:
            continue
        if drawn.begins_layer:
            held = []
        if len(held) < wanted:  # nothing goes back that far
            held.append([])
        else:
            held.append(drawn.matrices if drawn.ends_layer else [m.copy() for m in drawn.matrices])
        for lane, layer in layers.items():
            if drawn.layer >= lane[1]:
                continue
            layer.take(courses[lane].next(drawn.matrices), drawn.matrices, drawn.begins_layer)
            yield None
            if drawn.ends_layer and drawn.layer + 1 in ends[lane]:
                norm = yield from layer.norm_by_matrix(loss, held, wanted, position)
                index = drawn.index - len(stack.sublayers) + 1 + wanted
                norms[lane][:, drawn.layer] = norm / matrix_scale(lane, stack, index, position)
        if begins(stack, samples, drawn):
            yield at_depths(config, norms, config["depths"])
    return at_depths(config, norms, config["depths"])


class _Layer:
    """The layer that a lane is in: the states in it so far, and the steps between them."""

    def __init__(self, lane: Lane, start: Array) -> None:
        self.lane, self.states = lane, [start]
        self.steps: list[Step] = []

    def take(self, step: Step, matrices: list[Array], begins_layer: bool) -> None:
        if begins_layer:
            self.states, self.steps = self.states[-1:], []
        self.steps.append(step)
        self.states.append(step(self.states[-1], matrices))

    def norm_by_matrix(
        self, loss: Loss, held: list[list[Array]], wanted: int, position: int
    ) -> Generator[None, None, Array]:
        """‖∂L/∂W‖, (samples,), of the matrix of that position in the sublayer wanted, were this
        layer the last one."""
        g = loss_gradient(loss, self.lane, self.states[-1])
        for place in reversed(range(wanted + 1, len(self.steps))):
            g, _ = back(self.steps[place], self.states[place], held[place], None, g)
            yield
        _, norm = back(self.steps[wanted], self.states[wanted], held[wanted], position, g)
        yield
        assert norm is not None
        return norm


def _against_depth(config: dict[str, Any], values: dict[str, Array]) -> Result:
    depths = config["depths"]
    columns: dict[str, list[Any]] = {"depth": list(depths)}
    done = len(next(iter(values.values())))
    summary: dict[str, Any] = {"seeds": done, "slope": {}}
    for w, norms in values.items():
        columns |= spread(w, norms)
        if has_curve(w, config):
            columns[f"{w}_theory"] = [curve(w, config, depth)[-1] for depth in depths]
        if len(depths) > 1:
            summary["slope"][w] = mean_and_error(slopes(np.log(depths), np.log(norms)))
            if has_curve(w, config):
                known = np.log([columns[f"{w}_theory"]])
                summary["slope"][w]["theory"] = float(slopes(np.log(depths), known)[0])
    return Result("last_layer", config, columns, summary, done, config["seeds"])


def has_curve(wiring: str, config: Mapping[str, Any]) -> bool:
    """A curve of W_V, W₁ and W₂ in an encoder with uniform attention."""
    known = config["stack"] == "encoder" and config["matrix"] in ("W_V", "W_1", "W_2")
    return known and theory.has_curve(wiring, config["attention"])


def curve(wiring: str, config: Mapping[str, Any], depth: int) -> list[float]:
    """‖∂L/∂W‖ of each layer of a stack of this depth."""
    name = {"W_V": "w_v", "W_1": "w_1", "W_2": "w_2"}[config["matrix"]]
    ff, tokens, width = config["ff"], config["tokens"], config["width"]
    unit = theory.loss_gradient(config["loss"], width, tokens)
    squares = theory.gradients(wiring, depth, ff, tokens)
    return [width * math.sqrt(unit * getattr(layer, name)) for layer in squares]


def mean_and_error(values: Array) -> dict[str, float]:
    return {"mean": float(values.mean()), "se": float(standard_error(values))}
