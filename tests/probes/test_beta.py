"""β² per sublayer: its definition, its sums against the reference, and how it streams."""

import numpy as np
import pytest

from app.nn.ops import layer_norm
from app.nn.stack import StackConfig, draw_inputs, draw_layer
from app.probes import beta, draws, theory
from app.probes.statistics import fits

# Σβ² over 2N sublayers and its standard error; d = 128, d_ff = d, uniform, T = 5.
DEPTHS = (6, 12, 18, 24, 48)
REFERENCE = {
    "post_ln": ((4.17, 0.04), (9.12, 0.05), (14.17, 0.06), (19.13, 0.07), (38.8, 0.1)),
    "pre_ln": ((1.79, 0.02), (2.54, 0.03), (2.99, 0.04), (3.30, 0.04), (4.03, 0.05)),
}


@pytest.mark.parametrize("wiring", REFERENCE)
def test_the_sums_over_sublayers_are_the_reference_s(last, agrees, wiring):
    deepest_first = sorted(zip(DEPTHS, REFERENCE[wiring], strict=True), reverse=True)
    for depth, (reference, error) in deepest_first:  # the others are its beginnings
        ours = last(beta.measure({"depth": depth, "seeds": 32})).summary["sum"][wiring]
        assert agrees(ours["mean"], ours["se"], reference, error), depth


def sums(last, wiring, depths):
    squares = last(beta.measure({"wiring": wiring, "depth": 48, "seeds": 32})).columns[wiring]
    return [sum(squares[: 2 * depth]) for depth in depths]


def test_post_ln_s_sum_is_linear_in_the_number_of_layers(last):
    """0.82 per layer, not per sublayer."""
    depths = range(1, 49)
    law = fits(depths, sums(last, "post_ln", depths))["linear"]
    assert law["r2"] >= 0.9996
    assert law["slope"] == pytest.approx(0.82, abs=0.01)


def test_pre_ln_s_sum_is_linear_in_its_logarithm(last):
    whole, middle = range(1, 49), range(6, 25)
    assert fits(whole, sums(last, "pre_ln", whole))["log"]["r2"] >= 0.99
    law = fits(middle, sums(last, "pre_ln", middle))["log"]
    assert law["r2"] >= 0.9998
    assert law["slope"] == pytest.approx(0.97, abs=0.12)  # Σβ² ± 0.04 over a range of ln 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "config",
    [
        {"ff": 4, "width": 64},
        {"attention": "softmax", "width": 64},
        {"attention": "softmax", "ff": 4, "width": 128},
        {"tokens": 24, "width": 64},
        {"width": 256},
    ],
    ids=str,
)
def test_both_laws_hold_in_every_setting(last, config):
    depths, sums_of = range(1, 49), {}
    columns = last(beta.measure({"depth": 48, "seeds": 24, **config})).columns
    for wiring in ("post_ln", "pre_ln"):
        sums_of[wiring] = fits(depths, [sum(columns[wiring][: 2 * n]) for n in depths])
    assert sums_of["post_ln"]["linear"]["r2"] > 0.999 > sums_of["post_ln"]["log"]["r2"]
    assert sums_of["pre_ln"]["log"]["r2"] > 0.97 > sums_of["pre_ln"]["linear"]["r2"]


def test_each_sublayer_s_mean_lies_on_the_parameter_free_curve_at_large_width(last):
    result = last(beta.measure({"depth": 6, "width": 256, "seeds": 24, "ff": 2}))
    for wiring in ("post_ln", "pre_ln"):
        ours = np.array(result.columns[wiring])
        error = np.array(result.columns[f"{wiring}_se"])
        expected = np.array(theory.beta_squared(wiring, 6, 2, 5))
        np.testing.assert_array_equal(result.columns[f"{wiring}_theory"], expected)
        assert (np.abs(ours - expected) <= 4 * error + 0.03 * expected).all()


@pytest.mark.parametrize("attention", ["uniform", "softmax"])
def test_beta_is_its_definition_sublayer_by_sublayer(last, attention):
    """Written out without the wirings' table, one sample at a time."""
    config = {"depth": 3, "width": 32, "ff": 2, "attention": attention, "seeds": 3, "seed": 5}
    result = last(beta.measure(config))
    stack = StackConfig(3, 32, 2, attention, 5)
    squares = {"post_ln": [], "pre_ln": []}
    for sample in range(3):
        x = {w: draw_inputs(stack, 5, range(sample, sample + 1))[0] for w in squares}
        row = {w: [] for w in squares}
        for layer in range(3):
            drawn = draw_layer(stack, 5, range(sample, sample + 1), layer)
            for sublayer, matrices in zip(stack.sublayers, drawn, strict=True):
                branch = sublayer.branch([matrix[0] for matrix in matrices])
                F = {"post_ln": branch(x["post_ln"]), "pre_ln": branch(layer_norm(x["pre_ln"]))}
                for w in squares:
                    added = x[w] + F[w]
                    row[w].append(np.mean(np.var(F[w], 1)) / np.mean(np.var(added, 1)))
                    x[w] = layer_norm(added) if w == "post_ln" else added
        for w in squares:
            squares[w].append(row[w])
    for w, rows in squares.items():
        np.testing.assert_allclose(result.columns[w], np.mean(rows, axis=0), rtol=1e-11)
    assert result.columns["layer"] == [1, 1, 2, 2, 3, 3]
    assert result.columns["sublayer"] == [1, 2, 3, 4, 5, 6]
    assert result.columns["kind"] == ["attention", "ffn"] * 3


def test_columns_are_of_one_length_and_complete(last):
    result = last(beta.measure({"depth": 2, "width": 16, "seeds": 3}))
    assert {len(column) for column in result.columns.values()} == {4}
    suffixes = ("", "_se", "_geomean", "_p10", "_p90", "_theory")
    assert list(result.columns) == [
        "layer", "sublayer", "kind",
        *(f"{w}{suffix}" for w in ("post_ln", "pre_ln") for suffix in suffixes),
    ]  # fmt: skip
    assert result.config["seeds"] == result.summary["seeds"] == 3


def test_softmax_attention_has_no_curve(last):
    result = last(beta.measure({"depth": 1, "width": 16, "seeds": 2, "attention": "softmax"}))
    assert not [column for column in result.columns if column.endswith("_theory")]


def test_how_many_seeds_go_together_changes_no_digit(last, monkeypatch):
    config = {"depth": 3, "width": 80, "seeds": 5, "attention": "softmax"}
    together = last(beta.measure(config))
    monkeypatch.setattr(draws, "RUN", 1)
    assert last(beta.measure(config)) == together
