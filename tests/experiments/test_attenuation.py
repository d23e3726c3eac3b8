"""The attenuation experiment: claim and measurement side by side, both the probe's."""

import math

import pytest

from app.experiments.attenuation import Attenuation
from app.nn.wirings import BASE
from app.probes import attenuation
from app.probes.draws import stack_config
from app.probes.options import validated
from app.ui.numbers import significant, with_error
from app.ui.strings import strings
from tests.experiments.helpers import finish, words
from tests.experiments.layered import holds, last, rested, stack

SMALL = {"width": "32", "seeds": "4", "depth": "6"}
STATES = [SMALL, {**SMALL, "attention": "uniform", "loss": "ce", "tokens": "2", "seed": "4"}]


def probed(experiment, **more):
    values = experiment.values
    config = stack(experiment, depth=values["depth"], loss=values["loss"])
    return last(attenuation.measure({**config, **more}))


@pytest.mark.parametrize("state", STATES)
def test_claim_and_measurement_are_the_probe_s(state):
    experiment = rested(Attenuation, state)
    result = probed(experiment)
    for chart in experiment.charts.values():
        for wiring in BASE:
            drawn = chart.data(f"{wiring}_measured")
            assert drawn["x"] == result.columns["layer"]
            assert drawn["y"] == result.columns[f"{wiring}_geomean"]
            assert chart.data(f"{wiring}_theory")["y"] == result.columns.get(f"{wiring}_theory", [])
            holds(chart, *(f"{wiring}_{g}" for g in ("measured", "spread", "theory")))
        assert chart.y_log
    chart = experiment.charts["claim"]
    assert chart.data("claim")["y"] == result.columns["claim"]
    near = experiment.charts["measured"]
    alone = near.data("alone")
    assert alone["x"] == [6, 5, 4, 3, 2, 1, 0]
    assert alone["y"] == result.summary["norms_passed"][:13:2]
    holds(chart, "claim")
    floor = 1 / math.sqrt(experiment.values["tokens"])
    assert near.data("floor")["y"] == [floor, floor]
    holds(near, "floor", "alone")


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_sentence_reads_both_wirings_the_claim_and_how_far_they_are_apart(state, language):
    experiment = rested(Attenuation, state, language)
    result = probed(experiment)
    sentence = words(experiment, "sentence")
    for wiring in BASE:
        whole = result.summary["whole"][wiring]
        assert with_error(whole["geomean"], whole["geomean_se"]) in sentence
    claim = result.columns["claim"][0]
    assert significant(claim, 2) in sentence
    apart = math.log10(result.summary["whole"]["post_ln"]["geomean"] / claim)
    assert significant(apart, 2) in sentence
    norms = 2 * experiment.values["depth"]
    alone, left = result.summary["norms_in_a_row"], result.summary["norms_passed"]
    said = significant(left[norms]) if norms < 48 else with_error(alone["mean"], alone["se"])
    assert said in sentence
    assert f"{min(norms, 48)} in a row" in sentence or language != "en"


def test_the_article_s_width_is_measured_when_asked_for_and_can_be_stopped(monkeypatch):
    monkeypatch.setattr("app.experiments.attenuation.WIDE", 128)  # the real one takes long
    experiment = rested(Attenuation, SMALL)
    chart = experiment.charts["measured"]
    assert chart.data("post_ln_wide") == {"x": [], "y": []}
    assert "d = 128" not in words(experiment, "sentence")
    experiment.press("widen")
    while experiment.answer("wide") is None:
        experiment.step()
    experiment.press("stop")
    finish(experiment)
    assert experiment.status == "stopped"
    experiment.press("widen")
    finish(experiment)
    wide = probed(experiment, width=128, seeds=4)
    for wiring in BASE:
        assert chart.data(f"{wiring}_wide")["y"] == wide.columns[f"{wiring}_geomean"]
        whole = wide.summary["whole"][wiring]
        said = with_error(whole["geomean"], whole["geomean_se"])
        assert said in words(experiment, "sentence")
    holds(chart, "post_ln_wide", "pre_ln_wide")
    experiment.set({"depth": "5"})
    finish(experiment)
    assert chart.data("post_ln_wide") == {"x": [], "y": []}
    assert "were removed" in words(experiment, "notice")


@pytest.mark.parametrize(
    ("language", "unit", "word"), [("en", 1e6, "million"), ("zh-Hans", 1e8, "亿")]
)
def test_the_button_says_how_many_parameters_the_article_s_width_has(language, unit, word):
    experiment = Attenuation(language)
    run = next(run for run in experiment.runs if run.action == "widen")
    config = validated(run.config(experiment.values), attenuation.TAKES)
    stack = stack_config(config, config["depth"])
    parameters = stack.depth * sum(sublayer.size for sublayer in stack.sublayers)
    said = strings(language)("action.widen.help")
    assert f"{float(f'{parameters:.2g}') / unit:g} {word}" in said
    assert f"N = {stack.depth}" in said


def test_one_seed_has_no_uncertainty():
    sentence = words(rested(Attenuation, {**SMALL, "seeds": "1"}), "sentence")
    assert "One seed gives no uncertainty" in sentence
    assert "±" not in sentence


@pytest.mark.parametrize("state", [{"depth": "1"}, {"tokens": "1", "depth": "12", "seeds": "8"}])
def test_with_a_single_layer_or_position_nothing_is_put_down_to_averaging(state):
    sentence = words(rested(Attenuation, {**SMALL, **state}), "sentence")
    assert "averaging" not in sentence
    assert f"N = {state['depth']}" in sentence
