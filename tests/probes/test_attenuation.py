"""What is left of a gradient on its way back: the reference and the parameter-free curve."""

import numpy as np
import pytest

from app.probes.attenuation import (
    NORMS_IN_A_ROW,
    curve,
    measure,
    norms_in_a_row,
    norms_passed,
)


@pytest.fixture(scope="module")
def uniform(last):
    return last(measure({"attention": "uniform", "ff": 1, "seeds": 32}))


@pytest.mark.parametrize("wiring", ["post_ln", "pre_ln"])
def test_the_ratios_lie_on_the_parameter_free_curve(uniform, wiring):
    ours = np.array(uniform.columns[f"{wiring}_geomean"])
    theory = np.array(uniform.columns[f"{wiring}_theory"])
    error = np.array(uniform.columns[f"{wiring}_se"])
    assert (np.abs(ours - theory) <= 4 * error + 0.1 * theory).all()


def test_the_top_six_layers_lose_a_little_and_then_nothing_is_lost_but_the_start_rises():
    """log₁₀ 0.05–0.07 each, a floor near 1/√T, then a rise."""
    ratios = curve("post_ln", 24, 4, 5)
    assert min(ratios) == pytest.approx(1 / np.sqrt(5), rel=0.05)
    assert ratios[0] > 1.3 * min(ratios)


def test_post_ln_loses_nothing_like_a_factor_of_root_d_per_layer(last, agrees):
    """Softmax, 4d, T = 5, L = 24; d makes no difference, so that of the page, 128. The reference
    at 768: geometric mean 0.94 ± 0.05 with `linear`."""
    result = last(measure({"wiring": "post_ln", "seeds": 32}))
    whole = result.summary["whole"]["post_ln"]
    assert agrees(whole["geomean"], whole["geomean_se"], 0.94, 0.05)
    assert result.columns["claim"][0] == pytest.approx(128.0**-12)
    assert result.columns["claim"][-1] == result.columns["post_ln"][-1] == 1
    assert np.log10(768.0**-12) == pytest.approx(-34.6, abs=0.03)
    losses = np.diff(np.log10(result.columns["post_ln_geomean"]))[-6:]
    assert losses.mean() == pytest.approx(0.06, abs=0.03)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "reference"), [("linear", 0.94), ("ce", 1.00)])
def test_nor_at_the_width_of_the_article(last, agrees, loss, reference):
    """d = 768: 57 million parameters a seed, drawn again for the way back."""
    result = last(measure({"wiring": "post_ln", "width": 768, "loss": loss, "seeds": 24}))
    whole = result.summary["whole"]["post_ln"]
    assert agrees(whole["geomean"], whole["geomean_se"], reference, 0.05)
    losses = np.diff(np.log10(result.columns["post_ln_geomean"]))[-6:]
    assert 0.05 < losses.mean() < 0.07  # the most in the last layer, ever less before it
    assert (np.diff(losses) > 0).all()


def test_nor_is_pre_ln_s_gradient_the_identity(last):
    """4.4 to 6.5 with either attention."""
    for config in ({}, {"attention": "uniform", "ff": 1}):
        whole = last(measure({"wiring": "pre_ln", "seeds": 24, **config})).summary["whole"][
            "pre_ln"
        ]
        assert 4.4 - 4 * whole["se"] <= whole["mean"] <= 6.5 + 4 * whole["se"]


def test_forty_eight_norms_in_a_row_lose_what_the_first_one_does(agrees):
    """d = 64: 0.987, all of it in the first: on normalised input the Jacobian is a projection."""
    config = {"width": 64, "seed": 0}
    ours = norms_in_a_row(config, range(200))
    error = ours.std(ddof=1) / np.sqrt(len(ours))
    assert NORMS_IN_A_ROW == 48
    assert agrees(ours.mean(), error, 0.987, error)
    left = norms_passed(config, range(50))
    assert left.shape == (50, 49)
    assert (left[:, 0] == 1).all()
    assert (left[:, 1] < 1).all()  # the projection
    np.testing.assert_allclose(left[:, 2:-1], left[:, 1:2].repeat(46, 1), rtol=1e-3)
    np.testing.assert_array_equal(left[:, -1], ours[:50])  # the last divides by the deviation of x


def test_columns_are_of_one_length_and_complete(last):
    result = last(measure({"depth": 2, "width": 16, "seeds": 3, "attention": "uniform"}))
    suffixes = ("", "_se", "_geomean", "_p10", "_p90", "_theory")
    assert list(result.columns) == [
        "layer", "claim", *(f"{w}{s}" for w in ("post_ln", "pre_ln") for s in suffixes),
    ]  # fmt: skip
    assert {len(column) for column in result.columns.values()} == {3}
