"""A wiring is its formula; the table says the rest."""

import numpy as np
import pytest

from app.nn.tensor import Tensor
from app.nn.wirings import WIRINGS, post_ln, pre_ln


class Symbol:
    """Writes down what is done to it: what the diagram and the formula are drawn from."""

    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Symbol(f"{self.text} + {other.text}")


def branch(h):
    return Symbol(f"F({h.text})")


def norm(x):
    return Symbol(f"LN({x.text})")


def test_post_ln_norms_the_sum():
    assert post_ln(Symbol("x"), branch, norm).text == "LN(x + F(x))"


def test_pre_ln_norms_the_branch_s_input():
    assert pre_ln(Symbol("x"), branch, norm).text == "x + F(LN(x))"


@pytest.mark.parametrize("wiring", WIRINGS.values(), ids=WIRINGS)
def test_the_same_step_runs_on_arrays_and_on_tensors(wiring):
    x = np.arange(6.0).reshape(2, 3)

    def double(h):
        return h * 2.0

    on_array = wiring.step(x, double, double)
    on_tensor = wiring.step(Tensor(x), double, double)
    np.testing.assert_array_equal(on_tensor.value, on_array)


def test_only_pre_ln_has_a_final_norm():
    assert {name: row.final_norm for name, row in WIRINGS.items()} == {
        "post_ln": False,
        "pre_ln": True,
    }


def test_a_row_stands_under_its_own_name_and_says_its_source():
    for name, row in WIRINGS.items():
        assert row.name == name
        assert row.step.__name__ == name
        assert "20" in row.source  # a year
