"""Numbers in words: few digits, the same everywhere."""

import math

import pytest

from app.ui.numbers import percent, r_squared, scientific, significant, unadorned, whole, with_error


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [
        (0.0123, 3, "0.0123"),
        (5.664, 3, "5.66"),
        (9.996, 3, "10.0"),
        (54.19, 3, "54.2"),
        (-2.0, 3, "−2.00"),
        (-0.0001, 1, "−0.0001"),
        (0.0, 3, "0"),
        (123456.0, 3, "123000"),
        (1.234e6, 3, "1.23 × 10⁶"),
        (1.234e-5, 3, "1.23 × 10⁻⁵"),
        (math.inf, 3, "∞"),
        (math.nan, 3, "–"),
    ],
)
def test_significant_digits(value: float, digits: int, text: str) -> None:
    assert significant(value, digits) == text


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (5.712, 0.43, "5.7 ± 0.4"),
        (5.712, 0.134, "5.71 ± 0.13"),
        (27.8, 1.49, "27.8 ± 1.5"),
        (123.4, 12.0, "123 ± 12"),
        (9.99, 0.096, "10.0 ± 0.1"),
        (10.48, 2.33, "10 ± 2"),
        (1043.0, 260.0, "1000 ± 300"),
        (1.0, math.nan, "1.00"),
        (math.nan, 0.1, "–"),
    ],
)
def test_a_value_has_the_digits_of_its_error(value: float, error: float, text: str) -> None:
    assert with_error(value, error) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.5, "0.500"), (0.9938, "0.994"), (0.99961, "0.9996"), (1.0, "> 0.9999"), (-0.3, "−0.300")],
)
def test_r_squared_is_told_from_one(value: float, text: str) -> None:
    assert r_squared(value) == text


def test_shares_are_percentages_without_needless_zeros() -> None:
    assert [percent(share) for share in (0.001, 0.01, 0.05, 0.1)] == ["0.1", "1", "5", "10"]


@pytest.mark.parametrize(
    ("value", "text"),
    [(6.9877e-4, "6.99 × 10⁻⁴"), (9.996, "1.00 × 10¹"), (-0.5, "−5.00 × 10⁻¹"), (0.0, "0")],
)
def test_scientific_numbers_always_have_their_power_of_ten(value: float, text: str) -> None:
    assert scientific(value) == text


def test_whole_numbers_have_their_thousands_apart() -> None:
    assert [whole(4000), whole(100), whole(1_234_567)] == ["4,000", "100", "1,234,567"]


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("1,234,567", "1234567"),
        ("−1,234.50", "-1234.50"),
        ("6.988 × 10⁻⁴", "6.988e-4"),
        ("1.23 × 10⁶", "1.23e6"),
        ("0.025", "0.025"),
        ("12,34", "12,34"),
        ("33.2 %", "33.2 %"),
        ("6 + 6", "6 + 6"),
        ("Stream x", "Stream x"),
    ],
)
def test_a_number_for_readers_is_one_for_programs(text: str, read: str) -> None:
    assert unadorned(text) == read
