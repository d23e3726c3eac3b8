"""Every wiring beside every other: how far its output moves when all weights change a little, and
how its gradients are spread over the layers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from app.nn.tensor import Array
from app.nn.wirings import BASE
from app.probes.draws import runs_to_keep, stack_config
from app.probes.gradients import matrix_norms, mean_and_error
from app.probes.options import narrowed, validated
from app.probes.result import Result
from app.probes.seeds import Measuring, keys_of, mapped, seed_by_seed
from app.probes.sensitivity import answer, perturbed
from app.probes.statistics import slopes

TAKES = narrowed(
    (
        *("wiring", "depths", "depth", "width", "ff", "attention", "tokens", "seed", "seeds"),
        *("change", "stack", "loss", "matrix", "start"),
    ),
    wiring={"default": (*BASE, "deepnorm", "admin", "sandwich", "olmo2", "pre_rms")},
    depths={"default": (1, 2, 6, 12, 24)},
    width={"default": 64},
    ff={"default": 4},
    attention={"default": "softmax"},
    stack={"choices": ("encoder", "causal")},
)


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per N in `depths`: the columns of `sensitivity.measure`, for any wirings.

    Summary: seeds and `fits` as there; per wiring `exponent`, the slope of the mean ln(value)
    against ln N; and `gradients`, at the one `depth`: in `profile` the geometric mean over seeds of
    ‖∂L/∂W‖ in each layer, in `ratio` that of the last layer to the first with its error. None:
    still at work. Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    deepest, profiled = (stack_config(config, n) for n in (max(config["depths"]), config["depth"]))

    def measured(wirings: Sequence[str], samples: range) -> Measuring[str]:
        asked = {**config, "wiring": wirings}
        norms = yield from matrix_norms(asked, profiled, samples)

        def beside(moved: Mapping[str, Array]) -> dict[str, Array]:
            return {w: np.concatenate([moved[w], norms[w]], axis=1) for w in wirings}

        return (yield from mapped(perturbed(asked, deepest, samples), beside))

    yield from seed_by_seed(
        keys_of("wirings", config, config["wiring"]),
        config["seeds"],
        lambda start: runs_to_keep(config, profiled, start),
        measured,
        lambda values: _result(config, values),
    )


def _result(config: dict[str, Any], measured: Mapping[str, Array]) -> Result:
    rows = len(config["depths"])
    values = {w: of[:, :rows] for w, of in measured.items()}
    norms = {w: of[:, rows:] for w, of in measured.items()}
    result = answer("wirings", config, values)
    if len(config["depths"]) > 1:
        result.summary["exponent"] = {
            w: mean_and_error(slopes(np.log(config["depths"]), np.log(of)))
            for w, of in values.items()
        }
    result.summary["gradients"] = {
        w: {
            "profile": np.exp(np.log(of).mean(0)).tolist(),
            "ratio": mean_and_error(of[:, -1] / of[:, 0]),
        }
        for w, of in norms.items()
    }
    return result
