"""Gradients at initialisation: the definition by the tape of a whole stack, and the reference."""

from dataclasses import replace

import numpy as np
import pytest

from app.nn import ops
from app.nn.stack import (
    Purpose,
    StackConfig,
    draw_inputs,
    draw_layer,
    generators,
    matrix_scale,
    output,
    states,
)
from app.nn.tensor import Tensor, operation
from app.nn.wirings import WIRINGS, Place
from app.probes import theory
from app.probes.gradients import DECODER_SLOPE, measure, measure_last

SEEDS = 32


def whole_tape(config, wiring, sample, depth):
    """{matrix: ‖∂L/∂W‖ per layer} of one sample, all of the stack on one tape."""
    seed, samples, row = config["seed"], range(sample, sample + 1), WIRINGS[wiring]
    kind = config["stack"]
    stack = StackConfig(depth, config["width"], config["ff"], config["attention"], 5, kind)
    memory = None
    if kind == "decoder":
        memory = draw_inputs(stack, seed, samples, Purpose.SOURCE)
        if config["memory"] == "iid":
            memory = ops.layer_norm(memory)
        else:
            source = StackConfig(depth, stack.width, stack.ff, stack.attention, 5, "source")
            drawn = [draw_layer(source, seed, samples, i, Purpose.ENCODER) for i in range(depth)]
            memory = output(row, states(row, source, memory, drawn)[-1])
    layers = [
        [[Tensor(m) for m in matrices] for matrices in draw_layer(stack, seed, samples, layer)]
        for layer in range(depth)
    ]
    x = draw_inputs(stack, seed, samples)
    out = output(row, states(row, stack, x, layers, memory)[-1])
    drawing = generators(seed, samples, 0, Purpose.LOSS)[0]
    if config["loss"] == "linear":
        loss = ops.inner(out, drawing.standard_normal((1, 5, stack.width)))
    else:
        head = drawing.standard_normal((stack.width, 64)) / stack.width**0.5
        loss = ops.cross_entropy(ops.linear(out, head), drawing.integers(64, size=(1, 5)))
    loss.backward()
    per_layer = len(stack.sublayers)
    return {
        name: [
            np.linalg.norm(layers[i][place][position].grad)
            / matrix_scale(row, Place(per_layer * i + place, "", depth, kind), name[-3:])
            for i in range(depth)
        ]
        for name, (place, position) in stack.matrices.items()
    }


BASE = {"width": 32, "ff": 2, "attention": "softmax", "loss": "ce", "stack": "encoder", "seed": 3}


@pytest.mark.parametrize("wiring", WIRINGS)
def test_a_profile_is_the_whole_stack_s_gradient(last, wiring):
    config = {**BASE, "depth": 3, "seeds": 2}
    for matrix in ("W_2", "W_K"):
        result = last(measure({**config, "wiring": wiring, "matrix": matrix}))
        whole = [whole_tape(config, wiring, sample, 3)[matrix] for sample in range(2)]
        np.testing.assert_allclose(result.columns[wiring], np.mean(whole, 0), rtol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {"loss": "linear"},
        {"attention": "uniform", "matrix": "W_V"},
        {"stack": "causal", "matrix": "W_1"},
        {"stack": "decoder", "memory": "iid", "matrix": "cross_W_K"},
        {"stack": "decoder", "memory": "encoder"},
        {"stack": "decoder", "memory": "encoder", "attention": "uniform", "matrix": "cross_W_V"},
    ],
)
@pytest.mark.parametrize("wiring", ["post_ln", "pre_ln"])
def test_in_every_kind_of_stack_and_with_either_loss(last, wiring, change):
    config = {**BASE, "depth": 3, "seeds": 2, **change}
    result = last(measure({**config, "wiring": wiring}))
    matrix = config.get("matrix", "W_2")
    whole = [whole_tape(config, wiring, sample, 3)[matrix] for sample in range(2)]
    np.testing.assert_allclose(result.columns[wiring], np.mean(whole, 0), rtol=1e-9)


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"matrix": "W_V"},
        {"attention": "uniform", "loss": "linear"},
        {"stack": "decoder", "memory": "encoder", "matrix": "W_V"},
        {"stack": "decoder", "memory": "iid", "matrix": "cross_W_O"},
    ],
)
@pytest.mark.parametrize("wiring", ["post_ln", "pre_ln", "admin_constant", "hyper_connections"])
def test_the_last_layer_of_each_depth_is_the_last_layer_of_a_stack_of_that_depth(
    last, wiring, change
):
    config = {**BASE, "seeds": 2, **change}
    result = last(measure_last({**config, "wiring": wiring, "depths": (1, 2, 4)}))
    matrix = config.get("matrix", "W_2")
    for i, depth in enumerate((1, 2, 4)):
        whole = [whole_tape(config, wiring, sample, depth)[matrix][-1] for sample in range(2)]
        assert result.columns[wiring][i] == pytest.approx(np.mean(whole), rel=1e-9)


# ---------------------------------------------------------------- the reference


@pytest.fixture(scope="module")
def profiles(last):
    """N = 12, d = 128, uniform, d_ff = d."""
    return {
        (matrix, loss): last(measure({"matrix": matrix, "loss": loss, "seeds": SEEDS}))
        for matrix in ("W_1", "W_2")
        for loss in ("ce", "linear")
    }


@pytest.mark.parametrize(
    ("wiring", "matrix", "reference", "error"),
    [
        ("pre_ln", "W_2", 0.32, 0.01),
        ("post_ln", "W_2", 1.12, 0.06),
        ("pre_ln", "W_1", 0.40, 0.01),  # W₁'s errors are not given: W₂'s, scaled
        ("post_ln", "W_1", 1.56, 0.08),
    ],
)
def test_the_profile_falls_in_pre_ln_and_is_level_in_post_ln(
    profiles, agrees, wiring, matrix, reference, error
):
    ours = profiles[matrix, "ce"].summary["ratio"][wiring]
    assert agrees(ours["mean"], ours["se"], reference, error)


@pytest.mark.parametrize("wiring", ["post_ln", "pre_ln"])
@pytest.mark.parametrize("matrix", ["W_1", "W_2"])
def test_the_profile_lies_on_the_parameter_free_curve(profiles, wiring, matrix):
    """Within the errors and what a finite width costs; absolutely for `linear`, whose gradient at
    the output is known, and for `ce` to the approximation of its own."""
    for loss, slack in (("linear", 0.08), ("ce", 0.12)):
        columns = profiles[matrix, loss].columns
        for value, error, curve in zip(
            *(columns[f"{wiring}{suffix}"] for suffix in ("", "_se", "_theory")), strict=True
        ):
            assert abs(value - curve) <= 4 * error + slack * curve


LAST = {
    "default": {},
    "W_1": {"matrix": "W_1"},
    "linear": {"loss": "linear"},
    "softmax, 4d": {"attention": "softmax", "ff": 4, "width": 64},
}


@pytest.mark.parametrize("name", LAST)
def test_the_last_layer_falls_as_a_root_of_the_depth_in_pre_ln_only(last, agrees, name):
    """Post 0.00 ± 0.02, Pre −0.48 … −0.54 (theory −0.51), L = 2 … 24."""
    slope = last(measure_last({**LAST[name], "seeds": SEEDS})).summary["slope"]
    assert agrees(slope["post_ln"]["mean"], slope["post_ln"]["se"], 0.0, 0.02)
    error = 4 * slope["pre_ln"]["se"]
    assert -0.54 - error <= slope["pre_ln"]["mean"] <= -0.48 + error
    if "attention" not in LAST[name]:
        assert slope["pre_ln"]["theory"] == pytest.approx(-0.51, abs=0.005)
        assert slope["post_ln"]["theory"] == pytest.approx(0, abs=1e-6)


def test_the_root_comes_from_the_final_norm(last, monkeypatch):
    """Without it the slope is 0 for `linear`."""
    bare = replace(WIRINGS["pre_ln"], final_norm=False)
    monkeypatch.setitem(WIRINGS, "pre_ln", bare)
    config = {"wiring": "pre_ln", "seeds": SEEDS}
    linear = last(measure_last({**config, "loss": "linear"})).summary["slope"]["pre_ln"]
    assert abs(linear["mean"]) <= 4 * np.hypot(linear["se"], 0.02)
    ce = last(measure_last(config)).summary["slope"]["pre_ln"]
    assert abs(ce["mean"] - 0.23) <= 4 * np.hypot(ce["se"], 0.02)


def test_a_norm_without_its_projections_looks_right_in_the_last_layer_only(last, monkeypatch):
    """Half as much again or more in Post-LN's first layer, N = 24: the mistake to be looked for."""

    @operation
    def careless(x):
        centred = x - x.mean(-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5)
        return centred / scale, lambda g: (g / scale,)

    config = {"wiring": "post_ln", "depth": 24, "seeds": 24}
    right = np.array(last(measure(config)).columns["post_ln"])
    monkeypatch.setitem(WIRINGS, "post_ln", replace(WIRINGS["post_ln"], norm=careless))
    wrong = np.array(last(measure(config)).columns["post_ln"])
    assert wrong[-1] / right[-1] == pytest.approx(1, abs=0.06)
    assert 1.3 < wrong[0] / right[0] < 1.9


def test_the_norm_of_a_matrix_s_gradient_grows_with_the_width(last):
    """∝ d for `linear`, as in the theorem's d√ln d but for the logarithm, which is of its bound."""
    config = {"depth": 4, "loss": "linear", "seeds": 32}
    small, large = (last(measure({**config, "width": width})) for width in (64, 192))
    for wiring in ("post_ln", "pre_ln"):
        ratio = large.columns[wiring][-1] / small.columns[wiring][-1]
        errors = [r.columns[f"{wiring}_se"][-1] / r.columns[wiring][-1] for r in (large, small)]
        assert ratio == pytest.approx(3, rel=4 * np.hypot(*errors) + 0.02)


DECODER = {"depth": 6, "stack": "decoder", "attention": "softmax", "ff": 2, "tokens": 24}


def test_in_a_decoder_that_looks_at_a_collapsed_memory_post_ln_s_gradient_grows(last, agrees):
    """×5.5 from first to last, log₁₀ 0.146 per layer; theory ½·log₁₀2."""
    result = last(measure({**DECODER, "seeds": 24}))
    ratio, slope = (result.summary[name]["post_ln"] for name in ("ratio", "slope"))
    assert agrees(ratio["mean"], ratio["se"], 5.5, ratio["se"])
    assert agrees(slope["mean"], slope["se"], 0.146, slope["se"])
    assert result.summary["slope_theory"]["post_ln"] == DECODER_SLOPE == pytest.approx(0.1505, 3e-4)
    assert abs(slope["mean"] - DECODER_SLOPE) < 0.02


def test_with_an_iid_memory_it_is_flat(last, agrees):
    summary = last(measure({**DECODER, "memory": "iid", "seeds": 24})).summary
    ratio = summary["ratio"]["post_ln"]
    assert agrees(ratio["mean"], ratio["se"], 1.1, ratio["se"])
    assert "slope_theory" not in summary


# ---------------------------------------------------------------- the answer's shape


def test_columns_are_of_one_length_and_complete(last):
    result = last(measure({"depth": 3, "width": 16, "seeds": 3}))
    suffixes = ("", "_se", "_geomean", "_p10", "_p90", "_theory")
    relative = ("_relative", "_relative_se", "_relative_p10", "_relative_p90")
    assert list(result.columns) == [
        "layer", *(f"{w}{suffix}" for w in ("post_ln", "pre_ln") for suffix in suffixes + relative),
    ]  # fmt: skip
    assert {len(column) for column in result.columns.values()} == {3}


def test_relative_norms_are_each_seeds_own_ratios(last):
    config = {"depth": 4, "width": 16}
    seeds = [last(measure({**config, "seeds": n})) for n in (1, 2)]
    first = np.array(seeds[0].columns["pre_ln"])
    second = 2 * np.array(seeds[1].columns["pre_ln"]) - first
    ratios = np.log([first / first[0], second / second[0]])
    columns = seeds[1].columns
    np.testing.assert_allclose(columns["pre_ln_relative"], np.exp(ratios.mean(0)), rtol=1e-9)
    error = np.exp(ratios.mean(0)) * np.abs(ratios[0] - ratios[1]) / 2
    np.testing.assert_allclose(columns["pre_ln_relative_se"], error, rtol=1e-6, atol=1e-12)
    assert columns["pre_ln_relative"][0] == 1
    assert seeds[1].summary["ratio"]["pre_ln"]["geomean"] == columns["pre_ln_relative"][-1]


@pytest.mark.parametrize(
    "config",
    [{"attention": "softmax"}, {"stack": "causal"}, {"stack": "decoder"}],
)
def test_where_there_is_no_curve_none_is_shown(last, config):
    result = last(measure({"depth": 1, "width": 16, "seeds": 2, **config}))
    assert not [column for column in result.columns if column.endswith("_theory")]


def test_a_matrix_that_is_not_there_is_refused():
    sentence = "matrix must be one of W_V, W_1, W_2 where stack is encoder and attention uniform"
    with pytest.raises(ValueError, match=sentence):
        next(measure({"matrix": "W_Q"}))
    with pytest.raises(ValueError, match="matrix must be one of"):
        next(measure_last({"matrix": "cross_W_V"}))


def test_the_stream_s_curve_begins_with_the_loss_s_unit():
    assert theory.loss_gradient("linear", 128, 5) == 1
    assert theory.last_stream("post_ln", 12, 1, 5) == 1
