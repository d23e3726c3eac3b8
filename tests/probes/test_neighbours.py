"""Neighbouring states in one pass: the numbers of `depth`, and a shallower stack's are a prefix."""

import pytest

from app.probes import depth, neighbours

SMALL = {"width": 32, "seeds": 3, "seed": 2}


@pytest.mark.parametrize("quantity", ["change", "cosine"])
@pytest.mark.parametrize("attention", ["uniform", "softmax"])
def test_they_are_those_of_depth_which_merges_layers_besides(last, quantity, attention):
    config = {**SMALL, "depth": 6, "quantity": quantity, "attention": attention}
    assert last(neighbours.measure(config)).columns == last(depth.measure(config)).columns


@pytest.mark.parametrize("quantity", ["change", "cosine"])
def test_a_shallower_stack_is_a_prefix_of_a_deeper_one(last, quantity):
    deep, shallow = (
        last(neighbours.measure({**SMALL, "depth": n, "quantity": quantity})).columns
        for n in (9, 4)
    )
    for name, column in shallow.items():
        assert column == deep[name][:4]
