"""Where lines may end: not within names and formulas, nor between a formula and its comma."""

import re

import pytest

from app.lines import glued, unbroken

JOINER = "\N{WORD JOINER}"


@pytest.mark.parametrize(
    "whole", ["Pre-LN", "Post-LN", "Sandwich-LN", "‖∂L/∂W₂‖", "‖∂L/∂x_l‖/‖∂L/∂x_N‖"]
)
def test_a_name_or_a_formula_stays_in_one_piece(whole: str) -> None:
    html = unbroken(f"of {whole}, say")
    assert f'<span class="whole">{whole}</span>' in html
    assert re.sub("<[^>]+>", "", html) == f"of {whole}, say"


def test_a_matrix_has_a_true_index() -> None:
    assert unbroken("W_Q and W_V") == (
        '<span class="whole">W<sub>Q</sub></span> and <span class="whole">W<sub>V</sub></span>'
    )
    assert unbroken("cross_W_Q warm-up") == "cross_W_Q warm-up"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (", and", f"{JOINER}, and"),
        (" and", " and"),
        ("，所以", f"{JOINER}，所以"),
        ("层", "层"),
    ],
)
def test_what_follows_a_formula_keeps_to_it_unless_a_word_begins(words: str, expected: str) -> None:
    assert glued(words, after=True, before=False) == expected


@pytest.mark.parametrize("opening", "(“（")
def test_an_opening_bracket_keeps_to_its_formula(opening: str) -> None:
    assert glued(f"so {opening}", after=False, before=True) == f"so {opening}{JOINER}"
    assert glued("so ", after=False, before=True) == "so "
