"""The norms experiment: figure, sentence and table are the probe's, cut to N layers."""

import math

import pytest

from app.experiments.norms import Norms
from app.nn.wirings import BASE
from app.probes import norms
from app.ui.numbers import with_error
from tests.experiments.helpers import words
from tests.experiments.layered import broken, holds, last, rested, stack

SMALL = {"width": "64", "seeds": "4"}
STATES = [SMALL, {**SMALL, "depth": "3", "attention": "softmax", "tokens": "2", "seed": "5"}]


@pytest.mark.parametrize("state", STATES)
def test_the_curves_are_those_of_a_stack_of_this_depth(state):
    experiment = rested(Norms, state)
    depth = experiment.values["depth"]
    columns = last(norms.measure(stack(experiment, depth=depth))).columns
    chart = experiment.charts["norms"]
    for wiring in BASE:
        assert chart.data(f"{wiring}_measured") == {"x": columns["layer"], "y": columns[wiring]}
        bars = chart.data(f"{wiring}_spread")
        assert (bars["low"], bars["high"]) == (columns[f"{wiring}_p10"], columns[f"{wiring}_p90"])
        assert chart.data(f"{wiring}_theory")["y"] == columns.get(f"{wiring}_theory", [])
        holds(chart, *(f"{wiring}_{g}" for g in ("measured", "spread", "theory")))
    bounds = chart.data("bounds")
    assert (bounds["low"], bounds["high"]) == (columns["lower"], columns["upper"])
    holds(chart, "bounds")
    near = experiment.charts["post"]
    assert near.data("post_ln_measured")["y"] == columns["post_ln"]
    holds(near, "post_ln_measured", "post_ln_spread", "post_ln_theory")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_sentence_reads_both_streams_at_n_and_how_many_seeds_are_inside(state, language):
    experiment = rested(Norms, state, language)
    depth = experiment.values["depth"]
    columns = last(norms.measure(stack(experiment, depth=depth))).columns
    sentence = words(experiment, "sentence")
    for wiring in BASE:
        assert with_error(columns[wiring][-1], columns[f"{wiring}_se"][-1]) in sentence
    assert f"{columns['pre_ln_inside'][-1] * 100:.3g} %" in sentence
    assert f"{1 + depth / 2:g}" in sentence
    assert f"{1 + 3 * depth / 2:g}" in sentence


def test_the_depth_starts_no_computation():
    experiment = rested(Norms, SMALL)
    before = experiment.answer("norms")
    experiment.set({"depth": "20"})
    while experiment.step():
        pass
    assert experiment.answer("norms") is before
    assert len(experiment.charts["norms"].data("pre_ln_measured")["x"]) == 20


def test_one_seed_has_no_spread_to_speak_of():
    sentence = words(rested(Norms, {**SMALL, "seeds": "1"}), "sentence")
    assert "One seed gives no uncertainty" in sentence
    assert "±" not in sentence
    assert "10–90" not in sentence


def test_one_layer_is_one_and_a_single_position_is_like_no_other():
    assert "After N = 1 layer Pre-LN's" in words(rested(Norms, {**SMALL, "depth": "1"}), "sentence")
    assert "alike" in words(rested(Norms, SMALL), "sentence")
    assert "alike" not in words(rested(Norms, {**SMALL, "tokens": "1"}), "sentence")


def test_softmax_is_outside_the_lemma_and_has_no_curve():
    experiment = rested(Norms, STATES[1])
    assert "assumes uniform attention" in words(experiment, "sentence")
    legend = experiment.charts["norms"]._entries["theory"]
    assert not any(item.visible for item in legend)


@pytest.mark.parametrize("value", [math.inf, math.nan])
def test_what_overflows_is_named_with_its_layer_and_left_out(value):
    experiment = rested(broken(Norms, "norms", "pre_ln", 2, value), SMALL)
    sentence = words(experiment, "sentence")
    assert "Pre-LN's value at layer 3 is not a finite number" in sentence
    assert "nan" not in sentence
    assert math.isnan(experiment.charts["norms"].data("pre_ln_measured")["y"][2])
    assert math.isfinite(experiment.charts["norms"].plot.y_range.end)


def test_the_table_has_the_probe_s_columns_and_a_row_per_layer():
    experiment = rested(Norms, {**SMALL, "depth": "5"})
    html = experiment.parts()["table"]
    columns = last(norms.measure(stack(experiment, depth=5))).columns
    assert [name for name in columns if f'data-column="{name}"' not in html] == []
    assert html.count('<th scope="row">') == 5
