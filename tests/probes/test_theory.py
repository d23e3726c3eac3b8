"""The parameter-free curves against the two published rows, and their limits."""

import math

import numpy as np
import pytest

from app.nn.wirings import WIRINGS
from app.probes import theory
from app.probes.statistics import fits

DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48)


@pytest.mark.parametrize(
    ("wiring", "row"),
    [
        ("post_ln", [0.83, 1.84, 3.99, 6.06, 8.11, 12.42, 16.94, 26.20, 35.53, 54.19]),
        ("pre_ln", [0.75, 1.37, 2.24, 2.81, 3.23, 3.80, 4.21, 4.76, 5.14, 5.66]),
    ],
)
def test_the_sensitivity_curve_is_the_published_row_to_two_decimals(wiring, row):
    curve = theory.sensitivity_curve(wiring, DEPTHS, ff=1, tokens=5)
    assert [round(value, 2) for value in curve] == row


def test_four_layers_cannot_tell_n_from_its_logarithm():
    """Either law fits Pre-LN's first four depths to a hundredth; 24 layers tell them apart."""
    for deepest, apart in ((4, 0.01), (24, 0.1)):
        depths = range(1, deepest + 1)
        laws = fits(depths, theory.sensitivity_curve("pre_ln", depths, ff=1, tokens=5))
        difference = laws["log"]["r2"] - laws["linear"]["r2"]
        assert difference < apart if deepest == 4 else difference > apart


def test_a_curve_at_one_depth_is_a_point_of_the_curve_at_all():
    whole = theory.sensitivity_curve("pre_ln", range(1, 49), 4, 5)
    assert theory.sensitivity_curve("pre_ln", [17], 4, 5) == [whole[16]]


def test_post_ln_s_beta_squared_tends_to_a_half_and_a_third():
    beta = theory.beta_squared("post_ln", 48, ff=1, tokens=5)
    assert beta[-2:] == pytest.approx([1 / 2, 1 / 3], abs=1e-4)
    assert beta[0] == pytest.approx(1 / 6)  # v = 1/T on independent positions: (1/5)/(6/5)


def test_pre_ln_s_stream_grows_by_between_a_half_and_three_halves_per_layer():
    """Xiong et al. 2020, Lemma 2: (1 + l/2) ≤ E‖x_l‖²/d ≤ (1 + 3l/2)."""
    for layer, moments in enumerate(theory.forward("pre_ln", 24, 1, 8)[1::2], start=1):
        assert 1 + layer / 2 <= moments.q_sum <= 1 + 3 * layer / 2


def test_pre_ln_s_stream_is_the_measured_one():
    """d = 512, T = 8: 1.62, 2.41, 4.36, 9.04, 14.18 within ±0.01 … 0.11."""
    stream = theory.forward("pre_ln", 12, 1, 8)[1::2]
    measured = {
        1: (1.62, 0.01),
        2: (2.41, 0.02),
        4: (4.36, 0.03),
        8: (9.04, 0.07),
        12: (14.18, 0.11),
    }
    for layer, (value, error) in measured.items():
        assert abs(stream[layer - 1].q_sum - value) <= 4 * error


def test_post_ln_s_sum_before_the_ffn_s_norm_is_three_halves():
    """After the attention it is 1 + v, on the way from 1 + 1/T to 2 as the positions collapse."""
    trace = theory.forward("post_ln", 48, 1, 8)
    assert [m.q_sum for m in trace[1::2]] == pytest.approx([1.5] * 48)
    sums = [m.q_sum for m in trace[0::2]]
    assert sums == sorted(sums)
    assert [sums[0], sums[-1]] == pytest.approx([1 + 1 / 8, 2], abs=1e-3)


def test_the_last_layer_s_gradient_falls_with_depth_in_pre_ln_only():
    depths = (2, 4, 6, 8, 10, 12, 14, 18, 24)
    slopes = {}
    for wiring in ("post_ln", "pre_ln"):
        norms = [math.sqrt(theory.gradients(wiring, n, 1, 5)[-1].w_2) for n in depths]
        slopes[wiring] = np.polyfit(np.log(depths), np.log(norms), 1)[0]
    assert slopes["pre_ln"] == pytest.approx(-0.51, abs=0.005)
    assert slopes["post_ln"] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize(
    ("wiring", "w_2", "w_1"), [("pre_ln", 0.32, 0.40), ("post_ln", 1.12, 1.56)]
)
def test_the_gradient_profile_is_the_measured_one(wiring, w_2, w_1):
    """N = 12; the measured ones are ±0.01 (Pre) and ±0.06 (Post)."""
    layers = theory.gradients(wiring, 12, 1, 5)
    error = {"pre_ln": 0.01, "post_ln": 0.06}[wiring]
    assert abs(math.sqrt(layers[-1].w_2 / layers[0].w_2) - w_2) <= 4 * error
    assert abs(math.sqrt(layers[-1].w_1 / layers[0].w_1) - w_1) <= 4 * error


def test_one_position_alone_has_a_curve_too():
    assert theory.sensitivity_curve("post_ln", [1], 1, 1)[0] > 0


def test_admin_s_constant_is_another_one_for_every_depth():
    whole = theory.sensitivity_curve("admin_constant", (6, 24), 1, 5)
    assert whole == [theory.sensitivity_curve("admin_constant", [n], 1, 5)[0] for n in (6, 24)]
    assert whole[0] == theory.noise_moments("admin_constant", 6, 1, 5)[-1]
    assert whole[0] != theory.noise_moments("admin_constant", 24, 1, 5)[11]


def test_every_curve_is_of_a_wiring_that_may_have_uniform_attention():
    assert all("uniform" in WIRINGS[wiring].attentions for wiring in theory.CURVES)


def test_there_is_no_curve_for_softmax_attention():
    assert theory.has_curve("post_ln", "uniform")
    assert not theory.has_curve("post_ln", "softmax")
    assert not theory.has_curve("another", "uniform")
