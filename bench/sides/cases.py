"""What is timed, on our own code: natively and inside Pyodide. Names as in torch_cases.py."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

import numpy as np

from app.nn import ops
from app.nn.stack import StackConfig, draw_inputs, draw_layer, output, states
from app.nn.tensor import Array, Tensor
from app.nn.training import Corpus, Run, TrainingConfig, finish
from app.nn.wirings import WIRINGS
from app.probes import gradients, sensitivity, sentences, training

Case = Callable[[], object]


def passes(seeds: int, width: int, layers: int) -> Case:
    """Pre-LN, uniform attention, T = 5, d_ff = d, float64: Σ⟨r, output⟩, and its gradient by the
    input and by every matrix, all on one tape."""
    config = StackConfig(layers, width)
    samples, wiring = range(seeds), WIRINGS["pre_ln"]
    x0 = draw_inputs(config, 0, samples)
    drawn = [draw_layer(config, 0, samples, layer) for layer in range(layers)]
    r = np.random.default_rng(1).standard_normal(x0.shape)

    def run() -> None:
        x = Tensor(x0)
        weights = [[[Tensor(m) for m in of] for of in layer] for layer in drawn]
        last = states(wiring, config, x, weights)[-1]
        ops.inner(output(wiring, last), r).backward()
        assert all(m.grad is not None for layer in weights for of in layer for m in of)

    return run


def products(seeds: int, width: int, layers: int) -> Case:
    """The matrix products of `passes`, with the very operands that they have there."""
    operands: list[tuple[Array, Array]] = []
    multiply = ops.matrix_product

    def noted(x: Array, y: Array) -> Array:
        operands.append((x, y))
        return multiply(x, y)

    ops.matrix_product = noted
    try:
        passes(seeds, width, layers)()
    finally:
        ops.matrix_product = multiply
    return lambda: [multiply(x, y) for x, y in operands]


def estimate() -> Case:
    """`sensitivity`'s first answer at its defaults: 24 seeds, one pass of 48 layers, no noise."""
    seed = count(1)  # another one each time: what was computed is kept
    return lambda: list(sensitivity.estimate({"seed": next(seed)}))


def perturbation() -> Case:
    """The same, measured: every weight changed by 1 %, and a second pass."""
    seed = count(1)
    return lambda: list(sensitivity.measure({"seed": next(seed)}))


def profile() -> Case:
    """`gradients` at its defaults: 24 seeds, 12 layers, by W₂ of every layer."""
    return lambda: list(gradients.measure({}))


def steps() -> Case:
    """20 steps of training at the setting of the lesson's contrast, one wiring."""
    text = finish(sentences.writing("en"))
    setting = TrainingConfig("pre_ln", rate=training.CONTRAST["en"])
    run = Run(setting, Corpus.of(text, sentences.VALIDATION), seed=0)
    return lambda: [run.step() for _ in range(20)]


CASES: dict[str, Callable[..., Case]] = {
    of.__name__: of for of in (passes, products, estimate, perturbation, profile, steps)
}
