"""Where lines may end: not within names and formulas, nor between a formula and its comma."""

import re

import pytest

from app.lines import apart, glued, unbroken


@pytest.mark.parametrize(
    "whole", ["Pre-LN", "Post-LN", "Sandwich-LN", "warm-up", "‖∂L/∂W₂‖", "‖∂L/∂x₀‖/‖∂L/∂y‖"]
)
def test_a_name_or_a_formula_stays_in_one_piece(whole: str) -> None:
    html = unbroken(f"of {whole}, say")
    assert f'<span class="whole">{whole}</span>' in html
    assert re.sub("<[^>]+>", "", html) == f"of {whole}, say"


def test_matrices_and_states_have_true_indices() -> None:
    assert unbroken("W_Q and W_V") == (
        '<span class="whole">W<sub>Q</sub></span> and <span class="whole">W<sub>V</sub></span>'
    )
    assert unbroken("cross_W_Q max_l") == "cross_W_Q max_l"
    assert unbroken("‖∂L/∂x_l‖/‖∂L/∂x_N‖") == (
        '<span class="whole">‖∂L/∂x<sub>l</sub>‖/‖∂L/∂x<sub>N</sub>‖</span>'
    )
    assert unbroken("x_{l+1} − x_l") == "x<sub>l+1</sub> − x<sub>l</sub>"


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (", and", (",", " and", "")),
        (" and", ("", " and", "")),
        ("），所以（", ("），", "所以", "（")),
        ("层", ("", "层", "")),
        (" (", ("", " ", "(")),
    ],
)
def test_commas_and_brackets_go_to_the_formula_beside_them(
    words: str, expected: tuple[str, str, str]
) -> None:
    assert apart(words, after=True, before=True) == expected
    assert apart(words, after=False, before=False) == ("", words, "")


def test_a_formula_is_bound_to_them_and_to_nothing_else() -> None:
    assert glued("<b>x</b>", "", "") == "<b>x</b>"
    assert glued("<b>x</b>", "(", "),") == '<span class="glued">(<b>x</b>),</span>'
