"""What becomes of the gradient on its way back: ‖∂L/∂x_l‖/‖∂L/∂x_N‖.

x_l is the residual stream after l layers, x_N before a final norm that may follow. The claim that
is put to the test is that Post-LN loses a factor √d per layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.nn import ops
from app.nn.stack import Purpose, StackConfig, generators
from app.nn.tensor import Array, Tensor
from app.probes import theory
from app.probes.backward import Norms, gradient_norms, length
from app.probes.draws import runs_to_keep, stack_config
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.seeds import Measuring, keys_of, mapped, seed_by_seed
from app.probes.statistics import spread, standard_error

TAKES = narrowed(
    ("wiring", "depth", "width", "ff", "attention", "tokens", "seed", "seeds", "loss", "start"),
    depth={"default": 24},
    ff={"default": 4},
    attention={"default": "softmax"},
    loss={"default": "linear"},
)
NORMS_IN_A_ROW = 48
ALONE = "alone"  # these norms, among the wirings


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per state x₀ … x_N; partial Results as seeds come in.

    Columns: layer (0 … N), `claim` d^(−(N−l)/2), and for each wiring the ratio with its error and
    spread, and `_theory` for uniform attention. Summary: seeds; per wiring in `whole` the ratio at
    x₀; in `norms_in_a_row` what 48 LayerNorms leave of a gradient with nothing between them, and in
    `norms_passed` the means of that after 0 … 48 of them. None: still at work. Raises ValueError
    for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    stack = stack_config(config, config["depth"])
    alone = keys_of("norms in a row", {name: config[name] for name in ("width", "seed")}, [ALONE])
    yield from seed_by_seed(
        {**keys_of("attenuation", config, config["wiring"]), **alone},
        config["seeds"],
        lambda start: runs_to_keep(config, stack, start),
        lambda names, samples: _ratios(config, stack, names, samples),
        lambda values: _result(config, values),
    )


def _ratios(
    config: Mapping[str, Any], stack: StackConfig, names: Sequence[str], samples: range
) -> Measuring[str]:
    """‖∂L/∂x_l‖/‖∂L/∂x_N‖ per wiring, (samples, N + 1), and what norms alone leave."""
    wirings = [name for name in names if name != ALONE]
    alone = {ALONE: norms_passed(config, samples)} if ALONE in names else {}

    def ratios(norms: dict[str, Norms]) -> dict[str, Array]:
        at_layers = {w: of.stream[:, :: len(stack.sublayers)] for w, of in norms.items()}
        return {**{w: of / of[:, -1:] for w, of in at_layers.items()}, **alone}

    passing = gradient_norms({**config, "wiring": wirings}, stack, samples, None)
    return (yield from mapped(passing, ratios))


def norms_in_a_row(config: Mapping[str, Any], samples: range) -> Array:
    """‖∂L/∂x‖/‖∂L/∂y‖ for y = LN(LN(…LN(x)…)), x and ∂L/∂y standard normal: (samples,)."""
    return np.asarray(norms_passed(config, samples)[:, -1])


def norms_passed(config: Mapping[str, Any], samples: range) -> Array:
    """The same after every norm that ∂L/∂y has passed on its way back: (samples, 49), from 1."""
    drawing = generators(config["seed"], samples, 0, Purpose.SOURCE)
    x, g = (np.stack([d.standard_normal((1, config["width"])) for d in drawing]) for _ in "xg")
    states = [Tensor(x)]
    for _ in range(NORMS_IN_A_ROW):
        states.append(ops.layer_norm(states[-1]))
    states[-1].backward(g)
    left = [length(state.grad) / length(g) for state in reversed(states) if state.grad is not None]
    return np.stack(left, 1)


def _result(config: dict[str, Any], values: dict[str, Array]) -> Result:
    depth, width, alone = config["depth"], config["width"], values[ALONE]
    columns: dict[str, list[Any]] = {
        "layer": list(range(depth + 1)),
        "claim": [float(width) ** ((layer - depth) / 2) for layer in range(depth + 1)],
    }
    whole = {}
    for w in config["wiring"]:
        ratios = values[w]
        columns |= spread(w, ratios)
        if theory.has_curve(w, config["attention"]):
            columns[f"{w}_theory"] = curve(w, depth, config["ff"], config["tokens"])
        logs = np.log(ratios[:, 0])
        geomean = float(np.exp(logs.mean()))
        whole[w] = {
            "mean": float(ratios[:, 0].mean()),
            "se": float(standard_error(ratios[:, 0])),
            "geomean": geomean,
            "geomean_se": geomean * float(standard_error(logs)),
        }
    done = len(alone)
    all_passed = alone[:, -1]
    left = {"mean": float(all_passed.mean()), "se": float(standard_error(all_passed))}
    summary = {
        "seeds": done,
        "whole": whole,
        "norms_in_a_row": left,
        "norms_passed": alone.mean(0).tolist(),
    }
    return Result("attenuation", config, columns, summary, done, config["seeds"])


def curve(wiring: str, depth: int, ff: int, tokens: int) -> list[float]:
    """‖∂L/∂x_l‖/‖∂L/∂x_N‖ for d → ∞ and uniform attention, l = 0 … N."""
    last = theory.last_stream(wiring, depth, ff, tokens)
    before = [layer.stream for layer in theory.gradients(wiring, depth, ff, tokens)]
    return [float(np.sqrt(square / last)) for square in (*before, last)]
