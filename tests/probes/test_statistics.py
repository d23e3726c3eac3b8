"""What a table shows of the values per seed."""

import math

import numpy as np
import pytest

from app.probes.statistics import (
    fits,
    paired_ratio,
    paired_ratio_of_geomeans,
    spread,
    standard_error,
    told_apart,
)


def test_spread_of_values_that_can_be_checked_by_hand():
    columns = spread("w", np.array([[1.0, 2.0], [4.0, 2.0], [16.0, 2.0]]))
    assert columns["w"] == [7.0, 2.0]
    assert columns["w_se"] == pytest.approx([math.sqrt(63 / 3), 0])  # s² = (36 + 9 + 81)/2
    assert columns["w_geomean"] == pytest.approx([4.0, 2.0])
    assert columns["w_p10"] == pytest.approx([1.6, 2.0])
    assert columns["w_p90"] == pytest.approx([13.6, 2.0])


def test_one_seed_has_no_error():
    assert np.isnan(standard_error(np.ones((1, 3)))).all()
    assert math.isnan(spread("w", np.ones((1, 1)))["w_se"][0])


def test_a_ratio_of_proportional_values_has_no_error():
    below = np.random.default_rng(0).random((10, 3)) + 1
    ratio, error = paired_ratio(2.5 * below, below)
    np.testing.assert_allclose(ratio, 2.5)
    np.testing.assert_allclose(error, 0, atol=1e-15)


def test_the_paired_error_is_the_scatter_of_the_ratio_over_repetitions():
    rng = np.random.default_rng(1)
    below = 1 + 0.2 * rng.standard_normal((2000, 40, 1))
    above = 3 * below + 0.3 * rng.standard_normal(below.shape)
    pairs = [paired_ratio(a, b) for a, b in zip(above, below, strict=True)]
    ratios, errors = np.array(pairs)[:, :, 0].T
    assert np.mean(errors) == pytest.approx(np.std(ratios), rel=0.1)


def test_a_ratio_of_geometric_means_is_not_moved_by_one_wild_seed():
    below = np.ones((25, 1))
    above = np.exp(0.1 * np.random.default_rng(2).standard_normal((25, 1))) * 3
    calm, error = paired_ratio_of_geomeans(above, below)
    assert abs(calm - 3) <= 4 * error
    assert error == pytest.approx(3 * 0.1 / 5, rel=0.5)
    above[0] = 300
    assert paired_ratio_of_geomeans(above, below)[0] < 1.3 * calm
    assert paired_ratio(above, below)[0] > 4 * calm


def test_each_law_fits_its_own_points_and_not_the_other_s():
    depths = [1, 2, 4, 8, 16, 32]
    line = fits(depths, [3 * n + 1 for n in depths])
    assert line["linear"] == pytest.approx({"slope": 3, "intercept": 1, "r2": 1})
    assert line["log"]["r2"] < 0.9
    curve = fits(depths, [2 * math.log(n) - 1 for n in depths])
    assert curve["log"] == pytest.approx({"slope": 2, "intercept": -1, "r2": 1})
    assert curve["linear"]["r2"] < 0.9


def test_two_depths_cannot_tell_the_laws_apart():
    assert fits([6, 12], [1.0, 2.0]) is None
    assert fits([6, 6, 12], [1.0, 1.0, 2.0]) is None


def test_equal_values_are_fitted_by_a_level_line():
    assert fits([1, 2, 3], [5.0, 5.0, 5.0])["linear"] == {"slope": 0, "intercept": 5, "r2": 1}


def test_two_standard_errors_tell_a_difference_from_chance() -> None:
    assert told_apart(2.1, 1.0)
    assert told_apart(-2.1, 1.0)
    assert not told_apart(1.9, 1.0)
    assert not told_apart(5.0, math.nan), "one seed has no error, and tells nothing"
