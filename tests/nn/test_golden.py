"""States and every gradient against PyTorch's, as tests/reference/make_golden.py made them."""

from pathlib import Path

import numpy as np
import pytest

from app.nn import ops
from app.nn.stack import Course, StackConfig, matrix_scale, output
from app.nn.tensor import Tensor
from app.nn.wirings import WIRINGS, Place

FOLDER = Path(__file__).parents[1] / "reference" / "golden"
CASES = [
    (wiring, attention, stack)
    for wiring in WIRINGS
    for attention, stack in (
        ("softmax", "encoder"),
        ("uniform", "encoder"),
        ("softmax", "causal"),
        ("softmax", "decoder"),
    )
    if attention in WIRINGS[wiring].attentions
    and (stack == "encoder" or wiring in ("post_ln", "pre_ln", "deepnorm"))
]


@pytest.fixture(scope="module")
def inputs():
    return dict(np.load(FOLDER / "inputs.npz"))


def perturbed(inputs):
    """The connections' noise, in the order in which a wiring draws it."""

    def at(index):
        drawn = iter(inputs[f"noise.{index}.{name}"] for name in ("read", "mix", "write"))
        return lambda *shape: next(drawn).astype(float)

    return at


@pytest.mark.parametrize(("wiring", "attention", "stack"), CASES)
def test_states_and_gradients_are_pytorch_s(inputs, wiring, attention, stack):
    row = WIRINGS[wiring]
    config = StackConfig(2, 32, 1, attention, 3, stack)
    x = inputs["x"].astype(float)
    course = Course(row, config, x, inputs["memory"].astype(float), perturbed(inputs))
    weights = {
        f"{layer}.{name}": Tensor(inputs[f"{layer}.{name}"].astype(float))
        for layer in range(2)
        for name in config.matrices
    }
    state = begin = Tensor(course.start)
    trace = [begin.value]
    per_layer = len(config.sublayers)
    for index in range(2 * per_layer):
        layer, place = divmod(index, per_layer)
        matrices = [weights[f"{layer}.{n}"] for n, (p, _) in config.matrices.items() if p == place]
        state = course.next(matrices)(state, matrices)
        trace.append(state.value)
    out = output(row, state)
    logits = ops.linear(out, inputs["head"].astype(float))
    ops.cross_entropy(logits, inputs["targets"]).backward()

    golden = np.load(FOLDER / f"{wiring}.npz")
    prefix = f"{attention}.{stack}"
    for index, ours in enumerate([*trace, out.value]):
        theirs = golden[f"{prefix}.{f'state.{index}' if index < len(trace) else 'out'}"]
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-11, err_msg=str(index))
    for name, weight in weights.items():
        place = Place(0, "", 2, stack)
        ours = weight.grad / matrix_scale(row, place, name[-3:])
        compare(ours, golden[f"{prefix}.grad.{name}"], name)
    compare(begin.grad, golden[f"{prefix}.grad.x"], "x")
    assert len([key for key in golden if key.startswith(f"{prefix}.grad.")]) == len(weights) + 1


def compare(ours, theirs, name):
    """Gradients are stored in float32."""
    assert ours.shape == theirs.shape
    np.testing.assert_allclose(
        ours, theirs, rtol=3e-7, atol=1e-7 * np.abs(theirs).max(), err_msg=name
    )
