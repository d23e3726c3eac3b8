"""LayerNorm's Jacobian: the law, and what it is made of."""

import numpy as np
import pytest

from app.probes.jacobian import SCALES, drawn, jacobian, measure, singular_values, spectral_norm


def test_the_spectral_norm_times_the_length_is_the_root_of_the_width(last, agrees):
    """d = 256: 1.0027 ± 0.0007, never below 1 − ε/σ²."""
    result = last(measure({"seeds": 64}))
    row = SCALES.index(1.0)
    ours, error, lowest = (result.columns[f"product{s}"][row] for s in ("", "_se", "_p10"))
    assert agrees(ours, error, 1.0027, 0.0007)
    assert lowest > 1 - 2e-5


def test_what_is_k_times_as_large_has_a_jacobian_k_times_smaller(last):
    norms = np.array(last(measure({"seeds": 8})).columns["norm"]) * SCALES
    np.testing.assert_allclose(norms, norms[-1], rtol=2e-4)  # up to ε, which the smallest feels


def test_power_iteration_finds_the_largest_singular_value():
    x, start = drawn({"width": 48, "seed": 2}, range(5))
    expected = [np.linalg.svd(jacobian(row), compute_uv=False)[0] for row in x]
    np.testing.assert_allclose(spectral_norm(x, start), expected, rtol=1e-9)


@pytest.mark.parametrize("width", [8, 64])
def test_all_but_two_singular_values_are_one_over_sigma(width):
    x = np.random.default_rng(0).standard_normal(width) * 3 + 1
    s = np.sqrt(x.var() + 1e-5)
    values = np.linalg.svd(jacobian(x), compute_uv=False)
    np.testing.assert_allclose(values[: width - 2], 1 / s, rtol=1e-10)
    assert (values[-2:] < 1e-5).all()
    x_hat = (x - x.mean()) / s
    expected = (np.eye(width) - np.ones((width, width)) / width) / s
    expected -= np.outer(x_hat, x_hat) / width / s
    np.testing.assert_allclose(jacobian(x), expected, atol=1e-12)


def test_the_singular_values_of_the_first_seed_s_x_in_order(last):
    result = last(singular_values({"width": 32, "scale": 4, "seed": 3}))
    x = 4 * drawn({"width": 32, "seed": 3}, range(1))[0][0]
    expected = np.linalg.svd(jacobian(x), compute_uv=False)
    np.testing.assert_allclose(result.columns["singular"], expected, atol=1e-12)
    np.testing.assert_allclose(result.columns["law"], expected, atol=1e-5)
    assert result.columns["index"] == list(range(1, 33))
    assert result.summary["deviation"] == pytest.approx(x.std())
