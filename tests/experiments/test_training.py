"""Training live: three runs that grow together, stop, go on, end with their settings, and stay."""

from dataclasses import replace

import numpy as np
import pytest

from app.experiments import recorded
from app.experiments.training import Training
from app.experiments.training_answers import QUANTITIES, RUNS, Answers, Shown, seen
from app.experiments.training_words import reading
from app.nn.training import COLLAPSED, CUT_OFF
from app.probes import training as probe
from app.ui.strings import strings
from tests.experiments.helpers import words

SHORT = {"steps": "20", "depth": "2"}


def rest(experiment):
    while experiment.step():
        pass
    return experiment


def at(state, language="en"):
    experiment = Training(language)
    experiment.set(state)
    return rest(experiment)


def trained(state=SHORT, language="en"):
    experiment = at(state, language)
    experiment.press("train")
    return rest(experiment)


@pytest.fixture(scope="module")
def whole():
    """A finished run that nothing is done to."""
    return trained()


@pytest.fixture(scope="module")
def default():
    return at({})


def until(experiment, done):
    """Run until so many steps are shown."""
    while experiment.answer("trained") is None or experiment.answer("trained").done < done:
        experiment.step()
    experiment.step()  # draws
    return experiment


@pytest.mark.parametrize(
    ("more", "said"),
    [({}, True), ({"depth": 12}, False), ({"optimizer": "sgd"}, False), ({"rate": 0.01}, False)],
)
def test_a_higher_rate_is_named_only_where_it_is_known_to_part_the_runs(more, said):
    known = recorded.contrast("en").result
    summary = {**known.summary, "post_ln": {**known.summary["post_ln"], "verdict": "learns"}}
    config = {**known.config, "rate": 0.003, **more}
    now = Shown(replace(known, config=config, summary=summary), "trained")
    sentences = list(reading(strings("en"), Answers(config, now, None)))
    assert (strings("en")("training.higher_rate", rate="0.01") in sentences) is said


# ---------------------------------------------------------------- before anything is pressed


def test_the_default_shows_the_recorded_run_and_says_that_it_is_recorded(default):
    experiment = default
    assert experiment.status == "ready"
    known = recorded.contrast("en").result
    assert words(experiment, "sentence").startswith("Recorded beforehand, after 200 steps:")
    for run in RUNS:
        drawn = experiment.charts["loss"].data(f"{run}_points")
        assert drawn["y"][0] == known.summary[run]["start"]
        assert drawn["y"][-1] == pytest.approx(known.summary[run]["validation"], abs=1e-3)
        assert experiment.charts["loss"].data(f"{run}_before")["x"] == []
    assert experiment.results() == {"recorded": known}


def test_the_recorded_verdicts_are_read_by_collapse_against_the_unigram_entropy(default):
    said = words(default, "sentence")
    for part in (
        "Post-LN without warm-up is stuck at a loss of 3.11",
        "Post-LN with 100 steps of warm-up learns",
        "Pre-LN without warm-up learns",
        "warm-up rescues Post-LN",
        "unigram entropy",
        "is 3.10",
        "mean cosine of 1.0000",
    ):
        assert part in said.replace("\xa0", " ")


def test_each_text_has_its_recorded_run():
    experiment = at({"text": "zh-Hans", "rate": "0.015"})
    assert words(experiment, "sentence").startswith("Recorded beforehand")
    assert experiment.results() == {"recorded": recorded.contrast("zh-Hans").result}


def test_other_settings_show_nothing_of_their_own_and_the_recorded_run_faint():
    experiment = at({"rate": "0.003"})
    chart = experiment.charts["loss"]
    assert words(experiment, "sentence").startswith("Nothing has been trained at these settings")
    assert "The faint curves were recorded beforehand, at rate 0.01, 100 steps" in words(
        experiment, "sentence"
    )
    assert all(chart.data(f"{run}_points")["x"] == [] for run in RUNS)
    assert all(len(chart.data(f"{run}_before")["x"]) == 11 for run in RUNS)
    assert experiment.results() == {}
    assert words(experiment, "table") == ""


# ---------------------------------------------------------------- a run


def test_a_finished_run_shows_the_probe_s_numbers(whole):
    experiment = whole
    config = {"steps": 20, "depth": 2}
    answer = [each for each in probe.contrast(config) if each is not None][-1]
    assert experiment.results()["trained"].columns.keys() == answer.columns.keys()
    for run in RUNS:
        batch = experiment.charts["loss"].data(f"{run}_batch")
        assert batch["y"] == answer.columns[run]
        line = experiment.charts["signs"].data(f"{run}_line")
        assert line["y"] == seen("cosine", answer.columns[f"{run}_cosine"])
        loss = experiment.charts["loss"].data(f"{run}_points")
        assert loss["x"] == list(range(0, 21, 2))
        assert loss["y"][-1] == answer.summary[run]["validation"]
    assert words(experiment, "sentence").startswith("Trained here, after 20 steps:")
    assert experiment.status == "ready"


def test_all_three_curves_grow_together_from_the_first_steps():
    experiment = at(SHORT)
    experiment.press("train")
    assert experiment.progress == (0, 20)
    until(experiment, probe.EVERY)
    lengths = {len(experiment.charts["loss"].data(f"{run}_batch")["x"]) for run in RUNS}
    assert lengths == {probe.EVERY}
    assert experiment.status == "computing"
    assert experiment.progress == (probe.EVERY, 20)
    told = words(experiment, "sentence")  # the losses are those of the last look, not of this step
    assert told.startswith(f"Step {probe.EVERY} of 20, losses as of step 4:")


def test_stop_keeps_what_is_there_and_train_goes_on_to_the_same_digits(whole):
    experiment = at(SHORT)
    experiment.press("train")
    until(experiment, 10)
    experiment.press("stop")
    rest(experiment)
    assert experiment.status == "stopped"
    told = words(experiment, "sentence")
    assert told.startswith("Stopped after step 10 of 20, losses as of step 10:")
    experiment.press("train")
    rest(experiment)
    for name, column in experiment.results()["trained"].columns.items():
        np.testing.assert_array_equal(column, whole.results()["trained"].columns[name])


def test_another_setting_ends_the_run_and_says_so():
    experiment = at(SHORT)
    experiment.press("train")
    until(experiment, 5)
    experiment.set({"rate": "0.02"})
    rest(experiment)
    assert "was ended" in words(experiment, "notice")
    assert experiment.results() == {}
    assert experiment.status == "ready"


def test_what_only_chooses_how_to_look_does_not_end_the_run():
    experiment = at(SHORT)
    experiment.press("train")
    until(experiment, 5)
    experiment.set({"what": "logit", "compare": "nothing"})
    rest(experiment)
    assert experiment.results()["trained"].done == 20
    assert words(experiment, "notice") == ""


def test_a_finished_run_stays_faint_and_comes_back_at_its_settings_until_reset():
    experiment = trained()
    before = experiment.charts["loss"].data("pre_ln_points")
    experiment.set({"rate": "0.02"})
    rest(experiment)
    chart = experiment.charts["loss"]
    assert chart.data("pre_ln_before")["y"] == before["y"]
    assert "The faint curves are your run before, at rate 0.01" in words(experiment, "sentence")
    experiment.set({"compare": "recorded"})
    rest(experiment)
    assert len(chart.data("pre_ln_before")["x"]) == 11
    assert "recorded beforehand" in words(experiment, "sentence")
    experiment.set({"compare": "nothing"})
    rest(experiment)
    assert chart.data("pre_ln_before")["x"] == []
    experiment.set({"rate": "0.01"})
    rest(experiment)
    assert chart.data("pre_ln_points") == before
    assert words(experiment, "notice") == ""
    experiment.press("reset")
    rest(experiment)
    assert chart.data("pre_ln_points")["x"] == []


def test_a_run_at_the_recorded_settings_lies_on_the_recorded_one():
    """Its first steps do: later ones drift as far as rounding takes them."""
    experiment = at({})
    experiment.press("train")
    until(experiment, 20)
    signs, losses = experiment.charts["signs"], experiment.charts["loss"]
    for run in RUNS:
        now, then = signs.data(f"{run}_line")["y"][:15], signs.data(f"{run}_before")["y"][:15]
        assert now == pytest.approx(then, rel=0.02, abs=2e-6)
        assert losses.data(f"{run}_points")["y"][:2] == pytest.approx(
            losses.data(f"{run}_before")["y"][:2], abs=0.02
        )


def test_a_run_that_diverges_is_said_to_and_leaves_the_axes_sound():
    experiment = trained({**SHORT, "rate": "1.0", "optimizer": "sgd"})
    known = experiment.results()["trained"]
    broken = {**known.summary, "pre_ln": {**known.summary["pre_ln"]}}
    broken["pre_ln"] |= {"validation": float("nan"), "verdict": "diverges"}
    known.summary.update(broken)
    known.columns["pre_ln_validation"][-1] = known.columns["pre_ln"][-1] = float("nan")
    experiment.draw()
    y = experiment.charts["loss"].plot.y_range
    assert 0 <= y.start < y.end < 10
    assert any("Pre-LN without warm-up has diverged" in text for text in experiment.sentences())


# ---------------------------------------------------------------- axes, tables, languages


@pytest.mark.parametrize("what", QUANTITIES)
def test_the_second_figure_s_axis_says_and_spans_what_is_chosen(what):
    experiment = at({"what": what})
    chart = experiment.charts["signs"]
    assert chart.plot.yaxis[0].axis_label == experiment.say(f"training.quantity.{what}")
    limit = QUANTITIES[what].limit
    heights = [y for run in RUNS for y in chart.data(f"{run}_line")["y"]]
    assert chart.plot.y_range.start <= min(heights)
    assert chart.plot.y_range.end >= max(heights)
    assert chart.data("rule")["y"] == ([limit, limit] if limit else [])


def test_the_limits_drawn_are_those_of_the_verdict():
    assert QUANTITIES["cosine"].limit == pytest.approx(1 - COLLAPSED)
    assert QUANTITIES["lower"].limit == CUT_OFF


def test_the_table_has_the_csv_s_columns_at_the_looks(whole):
    html = whole.parts()["table"]
    for run in RUNS:
        for suffix in ("", "_validation", *(f"_{what}" for what in QUANTITIES)):
            assert f'data-column="{run}{suffix}"' in html
    assert html.count("<tr><th") >= 10 + 3
    assert "NaN" not in html


def test_both_languages_show_the_same_numbers(default):
    english, chinese = default, at({}, "zh-Hans")
    for slot in english.charts:
        for run in RUNS:
            ours, theirs = (e.charts[slot].data(f"{run}_line") for e in (english, chinese))
            assert ours == theirs
    assert "3.11" in words(chinese, "sentence")
    assert "卡住" in words(chinese, "sentence")
