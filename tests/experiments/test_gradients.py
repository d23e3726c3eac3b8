"""The gradients experiment: what it draws and says is the probe's at the state shown."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.experiments.gradients import Gradients
from app.experiments.gradients_answers import DEPTHS, last_config, present, verdict
from app.experiments.work import Run
from app.nn.wirings import BASE
from app.probes import gradients
from app.probes.result import Result
from app.ui.numbers import significant, with_error
from tests.experiments.helpers import finish, words

SMALL = {"width": "32", "seeds": "2", "depth": "4"}
STATES: list[Mapping[str, str]] = [
    SMALL,
    {**SMALL, "attention": "softmax", "matrix": "W_Q", "seed": "5", "loss": "linear"},
    {**SMALL, "stack": "decoder", "matrix": "cross_W_V", "ff": "2", "tokens": "12"},
    {**SMALL, "stack": "decoder_iid"},
]


def shown(state: Mapping[str, str] = SMALL, language: str = "en") -> Gradients:
    experiment = Gradients(language)
    experiment.set(state)
    finish(experiment)
    return experiment


def last(answers: Iterator[Result | None]) -> Result:
    complete = [answer for answer in answers if answer is not None][-1]
    assert complete.done == complete.total
    return complete


def config(experiment: Gradients) -> dict[str, Any]:
    """What a reader would type at a terminal for this state."""
    values = experiment.values
    stack = "encoder" if values["stack"] == "encoder" else "decoder"
    memory = "iid" if values["stack"] == "decoder_iid" else "encoder"
    names = ("matrix", "attention", "width", "ff", "tokens", "loss", "seeds", "seed")
    return {"stack": stack, "memory": memory, **{name: values[name] for name in names}}


@pytest.mark.parametrize("state", STATES)
def test_the_profile_is_the_probes_relative_to_layer_1(state: Mapping[str, str]) -> None:
    experiment = shown(state)
    columns = last(gradients.measure({**config(experiment), "depth": 4})).columns
    for wiring in BASE:
        points = experiment.profile.data(f"{wiring}_measured")
        assert points["x"] == columns["layer"] == [1, 2, 3, 4]
        assert points["y"] == columns[f"{wiring}_relative"]
        assert points["y"][0] == 1
        bars = experiment.profile.data(f"{wiring}_spread")
        assert bars["low"] == columns[f"{wiring}_relative_p10"]
        assert bars["high"] == columns[f"{wiring}_relative_p90"]
        error = experiment.profile.data(f"{wiring}_error")
        width = [(b - a) / 2 for a, b in zip(error["low"], error["high"], strict=True)]
        assert width == pytest.approx(columns[f"{wiring}_relative_se"])
        curve = columns.get(f"{wiring}_theory")
        drawn = experiment.profile.data(f"{wiring}_theory")["y"]
        assert drawn == ([value / curve[0] for value in curve] if curve else [])


@pytest.mark.parametrize("state", STATES)
def test_the_last_layer_is_the_probes_at_every_l(state: Mapping[str, str]) -> None:
    experiment = shown(state)
    result = last(gradients.measure_last({**config(experiment), "depths": DEPTHS}))
    for wiring in BASE:
        points = experiment.last.data(f"{wiring}_measured")
        assert points["x"] == list(DEPTHS)
        assert points["y"] == result.columns[f"{wiring}_geomean"]
        line = experiment.last.data(f"{wiring}_fit")
        rise = math.log(line["y"][-1] / line["y"][0]) / math.log(DEPTHS[-1] / DEPTHS[0])
        assert rise == pytest.approx(result.summary["slope"][wiring]["mean"])
        middle = [sum(map(math.log, ys)) for ys in (line["y"], points["y"])]
        assert middle[0] == pytest.approx(middle[1])
        assert experiment.last.data(f"{wiring}_theory")["y"] == result.columns.get(
            f"{wiring}_theory", []
        )


@pytest.mark.parametrize(
    ("state", "language"), [*((state, "en") for state in STATES), (SMALL, "zh-Hans")]
)
def test_sentences_read_the_probes_numbers(state: Mapping[str, str], language: str) -> None:
    experiment = shown(state, language)
    profile = last(gradients.measure({**config(experiment), "depth": 4})).summary
    power = last(gradients.measure_last({**config(experiment), "depths": DEPTHS})).summary
    sentence, table = words(experiment, "sentence"), words(experiment, "table")
    for wiring in BASE:
        ratio, slope = profile["ratio"][wiring], profile["slope"][wiring]
        assert with_error(ratio["geomean"], ratio["geomean_se"]) in sentence
        assert with_error(slope["mean"], slope["se"]) in sentence
        exponent = power["slope"][wiring]
        assert with_error(exponent["mean"], exponent["se"]) in sentence
        assert with_error(ratio["mean"], ratio["se"]) in table
        if "theory" in exponent:
            assert significant(round(exponent["theory"], 3)) in sentence
    assert ("theory curve" in sentence) == (language == "en" and not experiment.answers.has_theory)
    assert str(experiment.values["seeds"]) in sentence


def test_by_default_post_ln_is_flat_pre_ln_falls_and_the_last_layer_obeys_theory() -> None:
    experiment = shown({})
    sentence = words(experiment, "sentence")
    assert "Post-LN's profile is flat within its error" in sentence
    assert "Pre-LN's profile falls towards the output" in sentence
    assert "does not grow towards the output" in sentence
    ratios = [experiment.answers.ratio(wiring) for wiring in BASE]
    assert abs(ratios[0]["mean"] - 1.12) < 4 * math.hypot(0.06, ratios[0]["se"])
    assert abs(ratios[1]["mean"] - 0.32) < 4 * math.hypot(0.01, ratios[1]["se"])
    for wiring in BASE:
        exponent = experiment.answers.exponent(wiring)
        assert abs(exponent["mean"] - exponent["theory"]) < 4 * exponent["se"]
    drawn = experiment.profile
    for wiring in BASE:
        theory, error = drawn.data(f"{wiring}_theory")["y"], drawn.data(f"{wiring}_error")
        for layer in range(1, 12):
            half = (error["high"][layer] - error["low"][layer]) / 2
            middle = (error["high"][layer] + error["low"][layer]) / 2
            assert abs(middle - theory[layer]) < 4 * half


def test_a_decoder_rises_with_an_encoders_memory_and_not_with_an_independent_one() -> None:
    state = {"depth": "6", "width": "64", "seeds": "4", "tokens": "24"}
    rising = shown({**state, "stack": "decoder"})
    assert "Post-LN's profile rises towards the output" in words(rising, "sentence")
    assert f"= {significant(math.log10(2) / 2)} per layer" in words(rising, "sentence")
    assert rising.answers.ratio("post_ln")["geomean"] > 4
    guide = rising.profile.data("guide")["y"]
    assert guide[-1] / guide[0] == pytest.approx(2 ** (5 / 2))
    independent = shown({**state, "stack": "decoder_iid"})
    assert "has not collapsed" in words(independent, "sentence")
    assert independent.answers.ratio("post_ln")["geomean"] < 2
    assert independent.profile.data("guide")["y"] == []


CHANGES = {
    "depth": "7", "stack": "decoder", "matrix": "W_1", "attention": "softmax", "width": "64",
    "ff": "4", "tokens": "24", "loss": "linear", "seeds": "4", "seed": "9",
}  # fmt: skip


def test_the_layer_is_drawn_that_runs() -> None:
    """In each state one drawing per wiring, with cross-attention where the stack has it."""
    drawings = Gradients("en").drawings
    for stack in ("encoder", "decoder", "decoder_iid"):
        shown = [it for it in drawings if stack in it.when.removeprefix("stack=").split("|")]
        assert [it.wiring for it in shown] == ["post_ln", "pre_ln"]
        assert {it.decoder for it in shown} == {stack != "encoder"}


def test_every_control_changes_what_is_drawn() -> None:
    experiment = shown()
    assert set(CHANGES) == set(experiment.controls)
    before = experiment.profile.data("pre_ln_measured")
    for name, value in CHANGES.items():
        experiment.set({name: value})
        finish(experiment)
        assert experiment.shown[name] == value
        assert experiment.profile.data("pre_ln_measured") != before
        experiment.set(SMALL | {name: experiment._defaults[name]} | SMALL)
        finish(experiment)
        assert experiment.profile.data("pre_ln_measured") == before


def test_the_depth_leaves_the_last_layers_alone() -> None:
    experiment = shown()
    before = experiment.answer("last")
    experiment.set({"depth": "5"})
    finish(experiment)
    assert experiment.answer("last") is before


@pytest.mark.parametrize(
    ("state", "used"),
    [
        ({"matrix": "W_Q"}, "W_V"),
        ({"matrix": "cross_W_O"}, "W_V"),
        ({"matrix": "cross_W_Q", "stack": "decoder"}, "cross_W_V"),
        ({"matrix": "cross_W_K", "attention": "softmax"}, "W_K"),
        ({"matrix": "cross_W_K", "attention": "softmax", "stack": "decoder"}, "cross_W_K"),
    ],
)
def test_for_a_matrix_that_is_not_there_another_is_shown_and_named(
    state: Mapping[str, str], used: str
) -> None:
    experiment = Gradients("en")
    experiment.set({**SMALL, **state})
    assert present(experiment.values) == used
    finish(experiment)
    label = experiment.figures["last"].yaxis[0].axis_label
    assert label == f"‖∂L/∂{used.replace('cross_', 'cross-')}‖ in the last layer"
    instead = state["matrix"] != used
    assert ("is shown" in words(experiment, "sentence").split(".")[0]) == instead


def test_one_seed_has_no_uncertainty_and_says_so() -> None:
    sentence = words(shown({**SMALL, "seeds": "1"}), "sentence")
    assert "One seed gives no uncertainty" in sentence
    assert "±" not in sentence
    assert "flat" not in sentence
    assert "nan" not in sentence.lower()


def test_what_can_be_told_from_zero() -> None:
    assert verdict({"mean": 0.02, "se": 0.01}) == "flat"
    assert verdict({"mean": 0.021, "se": 0.01}) == "rises"
    assert verdict({"mean": -0.021, "se": 0.01}) == "falls"
    assert verdict({"mean": -0.021, "se": math.nan}) == "unknown"
    assert verdict({"mean": math.inf, "se": 1.0}) == "unknown"


def overflowing(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """The profile, infinite from layer 3 on in one stack."""
    for answer in gradients.measure(config):
        if answer is not None:
            columns = dict(answer.columns)
            for name in ("", "_relative", "_relative_se", "_relative_p90"):
                held = columns[f"post_ln{name}"]
                columns[f"post_ln{name}"] = [*held[:2], *[math.inf] * len(held[2:])]
            broken = {"mean": math.inf, "se": math.nan, "geomean": math.inf, "geomean_se": math.nan}
            summary = {
                **answer.summary,
                "ratio": {**answer.summary["ratio"], "post_ln": broken},
                "slope": {**answer.summary["slope"], "post_ln": {"mean": math.nan, "se": math.nan}},
            }
            yield replace(answer, columns=columns, summary=summary)


class Overflowed(Gradients):
    """The real experiment on numbers that overflow."""

    runs = (Run("profile", overflowing, Gradients.runs[0].config), Gradients.runs[1])


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_what_overflows_is_named_with_its_place_and_left_out(language: str) -> None:
    experiment = Overflowed(language)
    experiment.set(SMALL)
    finish(experiment)
    sentence = words(experiment, "sentence")
    assert {"en": "in layer 3 (∞)", "zh-Hans": "第 3 层"}[language] in sentence
    assert "nan" not in sentence.lower()
    heights = experiment.profile.data("post_ln_measured")["y"]
    assert all(math.isnan(height) for height in heights[2:])
    assert math.isfinite(experiment.profile.plot.y_range.end)


def test_axes_and_captions_say_what_is_drawn() -> None:
    experiment = shown()
    left, right = experiment.figures["profile"], experiment.figures["last"]
    assert left.xaxis[0].axis_label == "layer, of N = 4"
    assert left.yaxis[0].axis_label == "‖∂L/∂W₂‖ ÷ that of layer 1"
    assert right.xaxis[0].axis_label == "number of layers L, log scale"
    assert right.xaxis[0].ticker.ticks == [2, 4, 8, 24]
    for chart in experiment.charts.values():
        for wiring in BASE:
            for glyph in ("measured", "theory"):
                for height in chart.data(f"{wiring}_{glyph}")["y"]:
                    assert chart.plot.y_range.start <= height <= chart.plot.y_range.end


def test_tables_have_the_columns_of_the_terminal() -> None:
    experiment = shown()
    html = experiment.parts()["table"]
    tables = dict(re.findall(r'<table data-table="(\w+)">(.*?)</table>', html))
    assert list(tables) == ["slopes", "relative", "norms", "last"]
    columns = {name: re.findall(r'data-column="(\w+)"', table) for name, table in tables.items()}
    profile = experiment.answer("profile")
    assert profile is not None
    assert {*columns["relative"], *columns["norms"]} == set(profile.columns)
    assert columns["last"] == list(
        last(gradients.measure_last(last_config(experiment.values))).columns
    )


def test_figures_agree_in_every_language_but_for_words() -> None:
    english, chinese = (shown(SMALL, language) for language in ("en", "zh-Hans"))
    for slot, chart in english.charts.items():
        for name in chart._sources:
            if not name.endswith("_label"):
                assert chart.data(name) == chinese.charts[slot].data(name)
