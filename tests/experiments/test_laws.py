"""Linear or logarithmic? What may be said about fits of both laws."""

import math

import pytest

from app.experiments import laws
from app.ui.strings import LANGUAGES, strings

DEPTHS = (1, 2, 4, 6, 8, 12, 16, 24, 32, 48)
LINEAR = [1.1 * n - 0.4 for n in DEPTHS]
LOGARITHMIC = [1.3 * math.log(n) + 0.7 for n in DEPTHS]


@pytest.mark.parametrize(
    ("linear", "log", "expected"),
    [
        (0.999, 0.87, "linear"),
        (0.90, 0.995, "log"),
        (0.985, 0.999, "both"),
        (0.951, 0.956, "both"),
        (0.987, 0.969, "both"),  # Pre-LN measured with four seeds, up to N = 8
        (0.818, 0.906, "neither"),  # Post-LN measured with four seeds, up to N = 24
        (0.6, 0.8, "neither"),
    ],
)
def test_a_law_wins_only_where_the_other_does_not_fit(
    linear: float, log: float, expected: str
) -> None:
    assert laws.verdict({"linear": {"r2": linear}, "log": {"r2": log}}) == expected


def test_only_finite_values_up_to_n_are_fitted() -> None:
    wild = [*LINEAR[:6], math.inf, math.nan, 0.0, 0.0]
    fit = laws.fit_up_to(16, DEPTHS, {"post_ln": wild})["post_ln"]
    assert fit is not None
    assert fit["linear"]["slope"] == pytest.approx(1.1)
    assert fit["linear"]["intercept"] == pytest.approx(-0.4)
    assert laws.at(fit, "linear", 48) == pytest.approx(1.1 * 48 - 0.4)


def test_a_logarithmic_law_is_found_and_carried_on() -> None:
    fit = laws.fit_up_to(12, DEPTHS, {"pre_ln": LOGARITHMIC})["pre_ln"]
    assert fit is not None
    assert laws.verdict(fit) == "log"
    assert laws.at(fit, "log", 48) == pytest.approx(1.3 * math.log(48) + 0.7)


@pytest.mark.parametrize("depth", [1, 2])
def test_too_few_depths_give_no_fit(depth: int) -> None:
    assert laws.fit_up_to(depth, DEPTHS, {"post_ln": LINEAR}) == {"post_ln": None}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    ("depth", "key"), [(4, "laws.too_shallow"), (8, "laws.sentence"), (48, "laws.sentence")]
)
def test_the_sentence_names_a_law_only_from_five_layers_on(
    language: str, depth: int, key: str
) -> None:
    say = strings(language)
    fitted = laws.fit_up_to(depth, DEPTHS, {"post_ln": LINEAR, "pre_ln": LOGARITHMIC})
    begin = str(say.raw(key)).split("{")[0]
    assert laws.sentence(say, depth, fitted).startswith(begin)
    assert (key == "laws.too_shallow") == ("R²" not in laws.sentence(say, depth, fitted))


def test_two_laws_that_both_fit_both_wirings_are_undecided() -> None:
    bent = [n**0.42 for n in DEPTHS]
    fitted = laws.fit_up_to(6, DEPTHS, {"post_ln": bent, "pre_ln": bent})
    assert "cannot be told apart" in laws.sentence(strings("en"), 6, fitted)


def test_the_table_has_a_row_per_wiring_and_law() -> None:
    fitted = laws.fit_up_to(48, DEPTHS, {"post_ln": LINEAR, "pre_ln": LOGARITHMIC})
    table = laws.table(strings("en"), 48, fitted, "measured")
    assert [row[:2] for row in table.rows] == [
        ["Post-LN", "a·N + b"],
        ["Post-LN", "a·ln N + b"],
        ["Pre-LN", "a·N + b"],
        ["Pre-LN", "a·ln N + b"],
    ]
    assert table.rows[0][2:] == ["1.10", "−0.400", "> 0.9999"]
