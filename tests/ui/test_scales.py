"""Ranges can always be drawn; ticks are few, round, in order and never fewer than two."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.ui.scales import depth_ticks, log_range, log_ticks, sound

ENDS = st.floats(-12, 12).map(lambda e: 10.0**e)


@given(ENDS, st.floats(1.001, 1e12))
def test_a_logarithmic_axis_has_two_to_seven_ticks_within_it(low: float, factor: float) -> None:
    high = low * factor
    places = list(log_ticks(low, high))
    assert 2 <= len(places) <= 7
    assert places == sorted(places)
    assert low * (1 - 1e-6) <= places[0]
    assert places[-1] <= high * (1 + 1e-6)


@given(ENDS, st.floats(1.5, 1e12))
def test_no_two_ticks_are_written_alike_and_each_is_what_it_says(low: float, factor: float) -> None:
    ticks = log_ticks(low, low * factor)
    assert len(set(ticks.values())) == len(ticks)
    for place, text in ticks.items():
        assert read(text) == pytest.approx(place, rel=1e-9)


def test_ticks_are_those_a_person_would_write() -> None:
    assert list(log_ticks(0.01, 100).values()) == ["0.01", "0.1", "1", "10", "100"]
    assert list(log_ticks(0.02, 0.2).values()) == ["0.02", "0.05", "0.1", "0.2"]
    assert list(log_ticks(1e-7, 1e-3).values()) == ["10⁻⁷", "10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³"]
    assert list(log_ticks(1e-5, 1e-4).values())[:2] == ["10⁻⁵", "2 × 10⁻⁵"]
    assert list(log_ticks(0.9, 1.1).values()) == ["0.9", "1", "1.1"]


@given(st.lists(st.floats(), max_size=5))
def test_whatever_the_data_there_is_a_range_for_them(values: list[float]) -> None:
    low, high = log_range(values)
    assert 0 < low < high < math.inf
    assert high / low >= 3.9
    for value in values:
        if math.isfinite(value) and 1e-300 < value < 1e300:
            assert low <= value <= high


def test_one_point_and_none_have_a_range() -> None:
    assert log_range([]) == log_range([math.nan, -1.0, 0.0]) == (0.1, 10.0)
    assert log_range([1.0]) == (0.5, 2.0)


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize(
    "ends",
    [(math.nan, 1.0), (1.0, 1.0), (0.0, 0.0), (math.nan, math.nan), (-math.inf, 5.0), (3.0, 2.0)],
)
def test_no_axis_is_of_zero_width_or_not_a_number(ends: tuple[float, float], log: bool) -> None:
    low, high = sound(*ends, log=log)
    assert -math.inf < low < high < math.inf
    assert low > 0 or not log
    assert sound(1.0, 2.0, log=log) == (1.0, 2.0)


def test_ticks_of_depths_leave_room_for_each_other() -> None:
    assert list(depth_ticks((1, 2, 4, 6, 8, 12, 16, 24, 32, 48))) == [1, 2, 4, 8, 16, 32, 48]
    assert list(depth_ticks((1, 2, 6, 12, 24)).values()) == ["1", "2", "6", "12", "24"]
    assert list(depth_ticks((5,))) == [5]


def read(text: str) -> float:
    superscripts = str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")
    if "×" in text:
        mantissa, power = text.split(" × 10")
    else:
        mantissa, power = (
            ("1", text[2:]) if text[2:3] in "⁻⁰¹²³⁴⁵⁶⁷⁸⁹" and text[2:] else (text, "⁰")
        )
    return float(mantissa) * 10.0 ** int(power.translate(superscripts))
