"""The sensitivity experiment: every number shown is the probe's at the state shown."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.experiments.sensitivity import LARGE, Sensitivity
from app.experiments.sensitivity_answers import DEEPEST, DEPTHS, MARKS
from app.experiments.work import Run
from app.nn.wirings import BASE
from app.probes import beta, sensitivity
from app.probes.result import Result
from app.probes.statistics import fits
from app.ui.numbers import r_squared, significant, with_error
from app.ui.strings import LANGUAGES
from tests.experiments.helpers import SMALL, finish, measured, shown, words

STATES: list[Mapping[str, str]] = [
    SMALL,
    {"width": "128", "seeds": "4", "depth": "24", "seed": "3", "axis": "log2"},
    {"width": "64", "seeds": "2", "depth": "7", "attention": "softmax", "change": "0.05"},
]


def last(answers: Iterator[Result | None]) -> Result:
    """The complete answer of a probe."""
    complete = [answer for answer in answers if answer is not None][-1]
    assert complete.done == complete.total
    return complete


def config(experiment: Sensitivity, **more: Any) -> dict[str, Any]:
    state = experiment.values
    picked = {name: state[name] for name in ("width", "attention", "seed", "seeds")}
    return {"wiring": BASE, **picked, **more}


def place(experiment: Sensitivity, depth: int) -> float:
    return math.log2(depth) if experiment.values["axis"] == "log2" else depth


def center(experiment: Sensitivity, wiring: str) -> str:
    return wiring if experiment.values["width"] >= 128 else f"{wiring}_geomean"


@pytest.mark.parametrize("state", STATES)
def test_curves_and_points_are_the_probes(state: Mapping[str, str]) -> None:
    experiment = measured(state)
    chart, depth = experiment.charts["sensitivity"], experiment.values["depth"]
    every = list(range(1, DEEPEST + 1))
    some = sorted({*DEPTHS, depth})
    estimate = last(sensitivity.estimate(config(experiment, depths=every)))
    change = experiment.values["change"]
    measure = last(sensitivity.measure(config(experiment, depths=some, change=change)))
    for wiring in BASE:
        name = center(experiment, wiring)
        curve = chart.data(f"{wiring}_estimate")
        assert curve["x"] == [place(experiment, n) for n in every]
        assert curve["y"] == estimate.columns[name]
        points = chart.data(f"{wiring}_measured")
        assert points["x"] == [place(experiment, n) for n in some]
        assert points["y"] == measure.columns[name]
        bars = chart.data(f"{wiring}_spread")
        assert bars["low"] == measure.columns[f"{wiring}_p10"]
        assert bars["high"] == measure.columns[f"{wiring}_p90"]
        theory = chart.data(f"{wiring}_theory")
        assert theory["y"] == estimate.columns.get(f"{wiring}_theory", [])


@pytest.mark.parametrize("state", STATES)
def test_shares_are_the_probes_with_attention_and_ffn_apart(state: Mapping[str, str]) -> None:
    experiment = shown(state)
    chart, depth = experiment.charts["beta"], experiment.values["depth"]
    columns = last(beta.measure(config(experiment, depth=depth))).columns
    for wiring in BASE:
        for kind in ("attention", "ffn"):
            rows = [row for row, which in enumerate(columns["kind"]) if which == kind]
            dots = chart.data(f"{wiring}_{kind}")
            assert dots["y"] == [columns[center(experiment, wiring)][row] for row in rows]
            layers = [columns["layer"][row] for row in rows]
            assert [round(x) for x in dots["x"]] == layers
            theory = columns.get(f"{wiring}_theory")
            drawn = chart.data(f"{wiring}_{kind}_theory")["y"]
            assert drawn == ([theory[row] for row in rows] if theory else [])
        first = [chart.data(f"{wiring}_{kind}")["x"][0] for kind in ("attention", "ffn")]
        assert first[0] < first[1]


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_sentence_reads_the_probes_ratio_with_its_uncertainty(
    state: Mapping[str, str], language: str
) -> None:
    experiment = measured(state, language)
    depth, change = experiment.values["depth"], experiment.values["change"]
    columns = last(sensitivity.measure(config(experiment, depths=[depth], change=change))).columns
    name = "ratio" if experiment.values["width"] >= 128 else "ratio_geomean"
    ratio, error = columns[name][0], columns[f"{name}_se"][0]
    sentence = words(experiment, "sentence")
    for part in (
        f"N = {depth}",
        with_error(ratio, error),
        significant(math.sqrt(ratio), 2),
        f"{change * 100:.3g} %",
        str(experiment.values["seeds"]),
    ):
        assert part in sentence


def test_before_anything_is_perturbed_the_sentence_reads_the_estimate_and_invites() -> None:
    experiment = shown({"depth": "24"})
    columns = last(sensitivity.estimate(config(experiment, depths=[24]))).columns
    sentence = words(experiment, "sentence")
    assert sentence.startswith("Estimate at N = 24, nothing perturbed yet")
    assert with_error(columns["ratio"][0], columns["ratio_se"][0]) in sentence
    assert "Press “Perturb and measure”" in sentence


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_marked_expectation_is_drawn_and_held_against_what_is_measured(language: str) -> None:
    state = {**SMALL, "depth": "24"}
    experiment = shown(state, language)
    say, chart = experiment.say, experiment.charts["sensitivity"]
    assert chart.data("mark") == {"x": [], "y": []}, "nobody has to expect anything"

    experiment.set({"expected": "1"})
    finish(experiment)
    estimate = last(sensitivity.estimate(config(experiment, depths=[24]))).columns
    assert chart.data("mark") == {"x": [24], "y": estimate["pre_ln_geomean"]}
    assert say("sensitivity.expected.marked", mark=1) in words(experiment, "sentence")

    experiment.press("perturb")
    finish(experiment)
    columns = last(sensitivity.measure(config(experiment, depths=[24], change=0.01))).columns
    ratio = columns["ratio_geomean"][0]
    nearest = min(MARKS, key=lambda mark: max(mark / ratio, ratio / mark))
    assert nearest != 1
    assert chart.data("mark") == {"x": [24], "y": columns["pre_ln_geomean"]}
    told = say("sensitivity.expected.other", mark=1, nearest=nearest, depth=24)
    assert told in words(experiment, "sentence")

    experiment.set({"expected": str(nearest)})
    finish(experiment)
    assert experiment.answer("measured") is not None, "a mark ends no measurement"
    told = say("sensitivity.expected.nearest", mark=nearest, depth=24)
    assert told in words(experiment, "sentence")
    assert chart.plot.y_range.end > chart.data("mark")["y"][0]


@pytest.mark.parametrize("state", [{"depth": "24"}, {"depth": "9", "seed": "2", "seeds": "8"}])
def test_both_laws_are_fitted_up_to_n_on_what_the_sentence_rests_on(
    state: Mapping[str, str],
) -> None:
    experiment = measured(state)
    upto = sorted(
        {n for n in (*DEPTHS, experiment.values["depth"]) if n <= experiment.values["depth"]}
    )
    columns = last(sensitivity.measure(config(experiment, depths=upto, change=0.01))).columns
    sentence, table = words(experiment, "sentence"), words(experiment, "table")
    for wiring in BASE:
        fit = fits(upto, columns[wiring])
        assert fit is not None
        for law in ("linear", "log"):
            assert r_squared(fit[law]["r2"]) in sentence
            assert significant(fit[law]["slope"]) in table
            assert significant(fit[law]["intercept"]) in table
        line = experiment.charts["sensitivity"].data(f"{wiring}_fit")
        assert line["x"] == [1, DEEPEST]
        assert line["y"][1] - line["y"][0] == pytest.approx(47 * fit["linear"]["slope"])


def test_on_the_log_axis_the_logarithmic_law_is_the_straight_line() -> None:
    experiment = shown({"depth": "48", "axis": "log2"})
    fit = fits(
        DEPTHS, last(sensitivity.estimate(config(experiment, depths=DEPTHS))).columns["pre_ln"]
    )
    assert fit is not None
    line = experiment.charts["sensitivity"].data("pre_ln_fit")
    assert line["x"] == [0, math.log2(DEEPEST)]
    assert line["y"][0] == pytest.approx(fit["log"]["intercept"])
    ticks = experiment.charts["sensitivity"].plot.xaxis[0]
    assert ticks.ticker.ticks == pytest.approx([0, 1, 2, 3, 4, 5, math.log2(48)])
    assert list(ticks.major_label_overrides.values()) == ["1", "2", "4", "8", "16", "32", "48"]


def test_post_ln_follows_n_and_pre_ln_follows_log_n() -> None:
    sentence = words(shown({"depth": "48"}), "sentence")
    assert re.search(r"Post-LN follows a·N \+ b \(R² [>\d. ]+\) rather than a·ln N", sentence)
    assert re.search(r"Pre-LN follows a·ln N \+ b \(R² [>\d. ]+\) rather than a·N", sentence)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_up_to_four_layers_the_laws_cannot_be_told_apart(depth: int) -> None:
    experiment = shown({**SMALL, "depth": str(depth)})
    assert f"up to N = {depth} cannot tell N from ln N" in words(experiment, "sentence")
    assert "rather than" not in words(experiment, "sentence")


def test_narrow_stacks_are_read_by_geometric_means_and_say_so() -> None:
    assert "geometric means" in words(shown(), "sentence")
    assert "geometric mean" in words(shown(), "details")
    assert "geometric" not in words(shown({"seeds": "2"}), "sentence")


def test_softmax_has_no_theory_curve_and_says_so() -> None:
    experiment = shown({**SMALL, "attention": "softmax"})
    chart = experiment.charts["sensitivity"]
    assert chart.data("post_ln_theory") == {"x": [], "y": []}
    assert [item.visible for item in chart._entries["theory"]] == [False, False]
    assert "no theory curve for softmax" in words(experiment, "sentence")
    assert "no theory curve" in words(experiment, "details")
    experiment.set({"attention": "uniform"})
    finish(experiment)
    assert [item.visible for item in chart._entries["theory"]] == [True, True]
    assert "theory curve" not in words(experiment, "sentence")


def test_a_change_too_large_for_the_first_order_is_called_that() -> None:
    assert "too far for a first-order law" not in words(shown({**SMALL, "depth": "48"}), "sentence")
    experiment = measured({**SMALL, "change": "0.1"})
    sentence = words(experiment, "sentence")
    found = re.search(r"From N = (\d+) on, a 10 % change moves Post-LN's output", sentence)
    assert found
    result = experiment.answer("measured")
    assert result is not None
    row = result.columns["depth"].index(int(found[1]))
    assert result.columns["post_ln_geomean"][row] * 0.1**2 >= LARGE
    below = max(n for n in DEPTHS if n < int(found[1]))
    assert result.columns["post_ln_geomean"][below - 1] * 0.1**2 < LARGE


def test_one_seed_has_no_uncertainty_and_says_so() -> None:
    experiment = measured({"width": "32", "seeds": "1"})
    assert "One seed gives no uncertainty" in words(experiment, "sentence")
    assert "±" not in words(experiment, "sentence")
    assert "; 1 seed." in words(experiment, "sentence")


def overflowing(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """The estimate, infinite from layer 6 on in one stack."""
    for answer in sensitivity.estimate(config):
        if answer is not None:
            columns = dict(answer.columns)
            for name in ("post_ln", "post_ln_geomean", "ratio", "ratio_geomean"):
                columns[name] = [*columns[name][:5], *[math.inf] * len(columns[name][5:])]
            yield replace(answer, columns=columns)


class Overflowed(Sensitivity):
    """The real experiment on numbers that overflow."""

    runs = (Run("estimate", overflowing, Sensitivity.runs[0].config), *Sensitivity.runs[1:])


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_what_overflows_is_named_with_its_place_and_left_out(language: str) -> None:
    experiment = Overflowed(language)
    experiment.set({**SMALL, "depth": "12"})
    finish(experiment)
    sentence = words(experiment, "sentence")
    assert "N = 6" in sentence
    assert "Post-LN" in sentence
    assert "∞" in sentence
    assert "nan" not in sentence.lower()
    heights = experiment.charts["sensitivity"].data("post_ln_estimate")["y"]
    assert all(math.isnan(height) for height in heights[5:])
    assert math.isfinite(experiment.charts["sensitivity"].plot.y_range.end)


@pytest.mark.parametrize("state", STATES)
def test_the_ranges_hold_everything_but_a_wild_seed(state: Mapping[str, str]) -> None:
    experiment = measured(state)
    for slot, glyphs in {
        "sensitivity": ("theory", "estimate", "measured"),
        "beta": ("attention", "ffn", "attention_theory", "ffn_theory"),
    }.items():
        chart = experiment.charts[slot]
        x, y = chart.plot.x_range, chart.plot.y_range
        highest = 0.0
        for wiring in BASE:
            for glyph in glyphs:
                data = chart.data(f"{wiring}_{glyph}")
                assert all(x.start <= place <= x.end for place in data["x"])
                assert all(y.start <= height <= y.end for height in data["y"])
                highest = max(highest, *data["y"]) if data["y"] else highest
        assert y.end <= 3.5 * highest


def test_axes_say_what_is_drawn() -> None:
    experiment = shown({**SMALL, "axis": "log2"})
    left, right = (experiment.figures[slot] for slot in ("sensitivity", "beta"))
    assert left.xaxis[0].axis_label == "number of layers N, spaced by log₂ N"
    assert left.yaxis[0].axis_label == "mean-square output change / δ²"
    assert right.xaxis[0].axis_label == "layer (attention, then FFN)"
    assert right.yaxis[0].axis_label == "β², the branch's share of variance"


def columns_of(experiment: Sensitivity, table: str) -> list[str]:
    html = experiment.parts()["table"]
    found = re.search(rf'<table data-table="{table}">.*?</table>', html)
    assert found
    return re.findall(r'data-column="(\w+)"', found[0])


def test_tables_have_the_columns_of_the_terminal_and_a_row_per_depth() -> None:
    experiment = measured({**SMALL, "depth": "7"})
    every = config(experiment, depths=[7])
    estimate = last(sensitivity.estimate(every))
    assert columns_of(experiment, "estimate") == list(estimate.columns)
    assert columns_of(experiment, "measured") == list(estimate.columns)
    shares = last(beta.measure(config(experiment, depth=7)))
    assert columns_of(experiment, "beta") == list(shares.columns)
    html = experiment.parts()["table"]
    table = html[html.index('data-table="measured"') : html.index('data-table="estimate"')]
    rows = re.findall(r'<tr><th scope="row">(\d+)</th>', table)
    assert [int(row) for row in rows] == sorted({*DEPTHS, 7})


def test_details_say_what_ran() -> None:
    details = words(
        measured({"width": "256", "seeds": "2", "seed": "9", "change": "0.02"}), "details"
    )
    for said in (
        "d = 256",
        "seed 9",
        "uniform",
        "k = 1 for attention",
        "k = 2 for the FFN",
        "δ = 2 %",
    ):
        assert said in details


def test_figures_agree_in_every_language_but_for_words() -> None:
    english, chinese = (measured(SMALL, language) for language in ("en", "zh-Hans"))
    for slot, chart in english.charts.items():
        for name in chart._sources:
            assert chart.data(name) == chinese.charts[slot].data(name)
    digits = [re.findall(r"\d[\d.]*", words(e, "table")) for e in (english, chinese)]
    assert digits[0] == digits[1]
