"""The merging experiment: errors, groups and sentences are the probe's."""

import math
import re
from importlib.resources import files

import pytest

from app.experiments.merging import DEPTHS, Merging
from app.nn.wirings import BASE
from app.probes import depth
from app.ui.numbers import with_error
from tests.experiments.helpers import words
from tests.experiments.layered import broken, holds, last, rested, stack

SMALL = {"width": "32", "seeds": "4", "depth": "6", "layer": "1"}
STATES = [SMALL, {**SMALL, "quantity": "drop", "layer": "5"}, {**SMALL, "attention": "softmax"}]


def probed(experiment):
    values = experiment.values
    return last(
        depth.measure(stack(experiment, depth=values["depth"], quantity=values["quantity"]))
    )


@pytest.mark.parametrize("state", STATES)
def test_the_errors_are_the_probe_s_and_the_chosen_layer_is_lit(state):
    experiment = rested(Merging, state)
    result, chart, layer = probed(experiment), experiment.charts["errors"], int(state["layer"])
    for wiring in BASE:
        errors = chart.data(f"{wiring}_measured")
        assert errors == {"x": result.columns["layer"], "y": result.columns[wiring]}
        lit = chart.data(f"{wiring}_chosen")
        assert lit == {"x": [layer], "y": [result.columns[wiring][layer]]}
        pairs = chart.data(f"{wiring}_pairs")["y"]
        merging = experiment.values["quantity"] == "merge"
        assert pairs == ([result.summary["pairs"][wiring]["mean"]] if merging else [])
        holds(chart, *(f"{wiring}_{g}" for g in ("measured", "spread", "chosen", "pairs")))
    assert chart.data("unrelated")["y"] == [math.sqrt(2)] * 2
    holds(chart, "unrelated")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_sentence_reads_the_layer_the_pairs_and_the_effective_depth(state, language):
    experiment = rested(Merging, state, language)
    result, layer = probed(experiment), int(state["layer"])
    sentence = words(experiment, "sentence")
    for wiring in BASE:
        columns = result.columns
        assert with_error(columns[wiring][layer], columns[f"{wiring}_se"][layer]) in sentence
        for name in ("pairs", "effective_depth"):
            of = result.summary[name][wiring]
            assert with_error(of["mean"], of["se"]) in sentence


def test_the_steps_of_a_single_stack_are_counted_without_decimals():
    experiment = rested(Merging, {**SMALL, "seeds": "1", "depth": "6"})
    steps = probed(experiment).summary["effective_depth"]["pre_ln"]["mean"]
    assert f"become {steps:.0f} sequential steps in Pre-LN" in words(experiment, "sentence")


def test_the_groups_are_boxes_side_by_side_that_hold_every_layer_once():
    experiment = rested(Merging, {**SMALL, "depth": "12", "width": "64"})
    sizes = probed(experiment).summary["groups"]
    for wiring in BASE:
        boxes = experiment.charts["groups"].data(wiring)
        held = [
            [layer for layer in range(12) if left <= layer <= right]
            for left, right in zip(boxes["left"], boxes["right"], strict=True)
        ]
        assert [len(layers) for layers in held] == sizes[wiring]
        assert [layer for layers in held for layer in layers] == list(range(12))
    assert len(sizes["pre_ln"]) < len(sizes["post_ln"])


def test_where_it_holds_is_where_all_deeper_layers_stay_below_the_tolerance():
    experiment = rested(Merging, {"width": "64", "seeds": "8", "depth": "16"})
    column = probed(experiment).columns["pre_ln"]
    found = re.search(r"less than 0\.3 from l = (\d+) on", words(experiment, "sentence"))
    assert found
    first = int(found[1])
    assert all(error <= 0.3 for error in column[first:])
    assert column[first - 1] > 0.3


def test_a_layer_that_is_not_there_is_said_and_the_last_is_taken():
    experiment = rested(Merging, {**SMALL, "layer": "40"})
    assert "There is no layer 40" in words(experiment, "sentence")
    assert experiment.charts["errors"].data("pre_ln_chosen")["x"] == [4]


def test_the_layer_starts_no_computation():
    experiment = rested(Merging, SMALL)
    before = experiment.answer("merging")
    experiment.set({"layer": "3"})
    while experiment.step():
        pass
    assert experiment.answer("merging") is before
    assert experiment.charts["errors"].data("pre_ln_chosen")["x"] == [3]


def test_what_overflows_is_named_and_left_out():
    experiment = rested(broken(Merging, "merging", "pre_ln", 0, math.inf), SMALL)
    assert "Pre-LN's value at layer 0 is not a finite number (∞)" in words(experiment, "sentence")
    assert math.isfinite(experiment.charts["errors"].plot.y_range.end)


def test_the_board_knows_the_depths_that_the_slider_has():
    template = files("app.web") / "templates/boards/merging.html"
    found = re.search(r"set depths = \[([\d, ]+)\]", template.read_text(encoding="utf-8"))
    assert found
    assert tuple(int(depth) for depth in found[1].split(",")) == DEPTHS
