"""What all probes of stacks promise: partial answers, pauses, a byte budget, the same digits."""

import tracemalloc

import numpy as np
import pytest

from app.nn import ops
from app.nn.stack import BLOCK, StackConfig, draw_layer
from app.probes import (
    attenuation,
    depth,
    draws,
    gradients,
    jacobian,
    norms,
    sensitivity,
    weights,
    wirings,
)
from app.probes.draws import Layers
from app.probes.options import PRODUCT

SMALL = {"width": 32, "seeds": 5}
PROBES = {
    "norms": (norms.measure, {**SMALL, "depth": 3}),
    "jacobian": (jacobian.measure, SMALL),
    "gradients": (gradients.measure, {**SMALL, "depth": 3}),
    "decoder": (
        gradients.measure,
        {**SMALL, "depth": 2, "stack": "decoder", "attention": "softmax"},
    ),
    "last_layer": (gradients.measure_last, {**SMALL, "depths": (1, 3)}),
    "attenuation": (attenuation.measure, {**SMALL, "depth": 3}),
    "depth": (depth.measure, {**SMALL, "depth": 4}),
    "wirings": (
        wirings.measure,
        {**SMALL, "depths": (1, 3), "depth": 2, "wiring": "post_ln,admin,deepnorm,mhc,olmo2"},
    ),
}
STACKS = {name: of for name, of in PROBES.items() if name != "jacobian"}


def each(probes):
    return pytest.mark.parametrize(("probe", "config"), probes.values(), ids=probes)


@each(PROBES)
def test_the_same_config_gives_the_same_digits_and_another_seed_others(last, probe, config):
    first, again = last(probe(config)), last(probe(config))
    assert first == again
    assert last(probe({**config, "seed": 1})).columns != first.columns
    assert first.config["seeds"] == first.total == first.summary["seeds"] == 5


@each(STACKS)
@pytest.mark.parametrize("size", [1, 2 * 12 * 32 * 32])
def test_how_many_seeds_go_together_changes_no_digit(last, monkeypatch, probe, config, size):
    together = last(probe(config))
    monkeypatch.setattr(draws, "RUN", size)
    assert last(probe(config)) == together


@each(STACKS)
def test_whether_layers_are_kept_or_drawn_again_changes_no_digit(last, monkeypatch, probe, config):
    kept = last(probe(config))
    monkeypatch.setattr(draws, "KEPT", 0)
    assert last(probe(config)) == kept


@each(STACKS)
def test_a_partial_answer_is_the_answer_over_the_first_seeds(last, monkeypatch, probe, config):
    monkeypatch.setattr(draws, "RUN", 1)
    partial = [answer for answer in probe(config) if answer is not None and answer.whole]
    assert [answer.done for answer in partial] == [1, 2, 3, 4, 5]
    for answer in partial[1:]:
        alone = last(probe({**config, "seeds": answer.done}))
        np.testing.assert_equal(answer.columns, alone.columns)


@each(PROBES)
def test_columns_are_of_one_length(last, probe, config):
    assert len({len(column) for column in last(probe(config)).columns.values()}) == 1


@pytest.mark.parametrize(
    ("probe", "config"),
    [
        (norms.measure, {"width": 768, "ff": 4, "depth": 1, "seeds": 2, "tokens": 7}),
        (gradients.measure, {"width": 768, "ff": 4, "depth": 1, "seeds": 2}),
        (gradients.measure_last, {"width": 768, "ff": 4, "depths": 1, "seeds": 1}),
        (attenuation.measure, {"width": 768, "depth": 2, "seeds": 1}),
        (depth.measure, {"width": 768, "depth": 2, "seeds": 1}),
    ],
)
def test_no_more_than_two_blocks_are_drawn_between_two_pauses(monkeypatch, probe, config):
    drawn = 0

    class Counting(np.random.Generator):
        def standard_normal(self, *arguments, **keywords):
            nonlocal drawn
            numbers = super().standard_normal(*arguments, **keywords)
            drawn += numbers.size
            return numbers

    monkeypatch.setattr("app.nn.stack.np.random.Generator", Counting)
    total = 0
    for _ in probe(config):
        assert drawn <= 2 * BLOCK
        total, drawn = total + drawn, 0
    assert total > 0


LARGE = {"width": 768, "ff": 4, "attention": "softmax", "seeds": 1}


@pytest.mark.parametrize(
    ("probe", "config"),
    [
        (sensitivity.measure, {"depths": 1}),
        (norms.measure, {"depth": 1}),
        (attenuation.measure, {"depth": 1}),
        (gradients.measure, {"depth": 1}),
        (gradients.measure, {"depth": 1, "stack": "decoder"}),
        (gradients.measure_last, {"depths": 1}),
        (depth.measure, {"depth": 4, "wiring": "pre_ln"}),
        (wirings.measure, {"depth": 1, "depths": 1, "wiring": "post_ln,admin,mhc"}),
    ],
)
def test_no_more_is_multiplied_between_two_pauses_than_a_time_slice_holds(
    monkeypatch, probe, config
):
    """Six products of the largest FFN that is allowed: some 30 ms at what Pyodide does."""
    multiplied, multiply = 0, ops.matrix_product

    def counting(x, y):
        nonlocal multiplied
        product = multiply(x, y)
        multiplied += product.size * x.shape[-1]
        return product

    monkeypatch.setattr(ops, "matrix_product", counting)
    total = 0
    for _ in probe({**LARGE, "tokens": 7, **config}):
        assert multiplied <= 6 * PRODUCT
        total, multiplied = total + multiplied, 0
    assert total > PRODUCT


def test_how_many_changed_stacks_go_together_changes_no_digit(last, monkeypatch):
    config = {"depth": 5, "width": 80, "seeds": 3, "quantity": "drop", "attention": "softmax"}
    together = last(depth.measure(config))
    monkeypatch.setattr(depth, "PART", 1)
    assert last(depth.measure(config)) == together


MANY = "post_ln,pre_ln,hyper_connections,mhc"  # ten streams


@pytest.mark.parametrize(
    ("probe", "config"),
    [
        (attenuation.measure, {**LARGE, "depth": 2}),
        (gradients.measure, {**LARGE, "depth": 2}),
        (gradients.measure_last, {**LARGE, "depths": (1, 2)}),
        (depth.measure, {**LARGE, "depth": 2}),
        (norms.measure, {**LARGE, "depth": 1, "tokens": 7}),
        (gradients.measure, {"depth": 48, "width": 128, "seeds": 6, "tokens": 32}),
        (depth.measure, {"depth": 24, "width": 64, "seeds": 24}),
        (depth.measure, {"depth": 32, "width": 64, "seeds": 12, "tokens": 32}),
        (
            wirings.measure,
            {"wiring": MANY, "depths": 2, "depth": 44, "width": 64, "seeds": 5, "tokens": 32},
        ),
    ],
)
def test_a_probe_stays_within_64_megabytes(last, probe, config):
    tracemalloc.start()
    last(probe(config))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak <= 64 * 2**20


@pytest.mark.slow
@pytest.mark.parametrize("probe", [attenuation.measure, gradients.measure])
def test_the_largest_stack_stays_within_64_megabytes(last, probe):
    test_a_probe_stays_within_64_megabytes(last, probe, {**LARGE, "depth": 48, "tokens": 7})


@pytest.mark.parametrize("first", [0, 2**14, 2**30])
@pytest.mark.parametrize("kept", [0, 2**30])
@pytest.mark.parametrize("samples", [range(1), range(2)], ids=["one", "two"])
def test_layers_come_in_any_order_and_again(monkeypatch, samples, kept, first):
    monkeypatch.setattr(draws, "KEPT", kept)
    monkeypatch.setattr(weights, "KEPT", first)
    stack = StackConfig(3, 16, attention="softmax")
    layers = Layers(stack, 5, samples)
    for index in (0, 1, 2, 3, 5, 4, 4, 5, 1, 0, 3):
        drawing = layers.matrices(index)
        while True:
            try:
                next(drawing)
            except StopIteration as end:
                ours = end.value
                break
        expected = draw_layer(stack, 5, samples, index // 2)[index % 2]
        for mine, theirs in zip(ours, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)
