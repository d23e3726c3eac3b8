"""The depth experiment: neighbouring layers' change and cosine are the probe's."""

import pytest

from app.experiments.depth import Depth
from app.nn.wirings import BASE
from app.probes import depth
from app.ui.numbers import with_error
from tests.experiments.helpers import words
from tests.experiments.layered import holds, last, rested, stack

SMALL = {"width": "32", "seeds": "4", "depth": "9"}
STATES = [SMALL, {**SMALL, "depth": "4", "attention": "softmax", "tokens": "2", "seed": "3"}]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("quantity", ["change", "cosine"])
def test_the_curves_are_those_of_a_stack_of_this_depth(state, quantity):
    experiment = rested(Depth, state)
    config = stack(experiment, depth=experiment.values["depth"], quantity=quantity)
    columns = last(depth.measure(config)).columns
    chart = experiment.charts[quantity]
    for wiring in BASE:
        assert chart.data(f"{wiring}_measured") == {"x": columns["layer"], "y": columns[wiring]}
        assert chart.data(f"{wiring}_spread")["low"] == columns[f"{wiring}_p10"]
        assert chart.data(f"{wiring}_theory")["y"] == columns.get(f"{wiring}_theory", [])
        holds(chart, *(f"{wiring}_{g}" for g in ("measured", "spread", "theory")))


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_sentence_reads_the_last_layer_and_the_first(language):
    experiment = rested(Depth, SMALL, language)
    sentence = words(experiment, "sentence")
    for quantity, rows in (("change", (0, -1)), ("cosine", (-1,))):
        columns = last(depth.measure(stack(experiment, depth=9, quantity=quantity))).columns
        for wiring in BASE:
            for row in rows:
                assert with_error(columns[wiring][row], columns[f"{wiring}_se"][row]) in sentence


def test_who_is_more_alike_is_said_only_where_it_can_be_told():
    assert "Pre-LN's neighbours are more alike" in words(
        rested(Depth, {"width": "64", "seeds": "8"}), "sentence"
    )
    one = words(rested(Depth, {**SMALL, "seeds": "1"}), "sentence")
    assert "it cannot be told" in one
    assert "One seed gives no uncertainty" in one


def test_the_depth_starts_no_computation():
    experiment = rested(Depth, SMALL)
    before = [experiment.answer(quantity) for quantity in ("change", "cosine")]
    experiment.set({"depth": "30"})
    while experiment.step():
        pass
    assert [experiment.answer(quantity) for quantity in ("change", "cosine")] == before
    assert experiment.shown["depth"] == "30"
    assert len(experiment.charts["cosine"].data("pre_ln_measured")["x"]) == 30
