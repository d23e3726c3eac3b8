"""The schedule experiment: its rates are those that training takes."""

import math
from collections.abc import Mapping

import pytest

from app.experiments.schedule import STEPS, WARMUPS, WIDTHS, Schedule
from app.experiments.schedule_values import LAST, Rule
from app.nn.training import TrainingConfig
from app.ui.numbers import scientific, whole
from tests.experiments.helpers import finish, words


def shown(state: Mapping[str, str] | None = None, language: str = "en") -> Schedule:
    experiment = Schedule(language)
    experiment.set(state or {})
    finish(experiment)
    return experiment


def training(experiment: Schedule, schedule: str) -> TrainingConfig:
    """A training run that follows the schedule."""
    values = experiment.values
    return TrainingConfig(
        "post_ln",
        width=values["width"],
        warmup=values["warmup"],
        schedule=schedule,
        rate=experiment.rule.peak,
    )


@pytest.mark.parametrize(("width", "warmup"), [*zip(WIDTHS, WARMUPS, strict=False), (512, 16_000)])
def test_both_figures_draw_what_training_takes(width: int, warmup: int) -> None:
    experiment = shown({"width": str(width), "warmup": str(warmup)})
    for curve, schedule in (("original", "original"), ("linear", "linear")):
        run = training(experiment, schedule)
        drawn = experiment.log.data(curve)
        assert drawn["y"] == [run.rate_at(int(step)) for step in drawn["x"]]
        thousandths = experiment.linear.data(curve)
        assert thousandths["x"] == drawn["x"]
        assert thousandths["y"] == [1000 * rate for rate in drawn["y"]]
    assert drawn["x"][0] == 1
    assert drawn["x"][-1] == LAST


def test_the_papers_peak_is_marked_and_said() -> None:
    experiment = shown()
    sentence = words(experiment, "sentence")
    assert "peak of 6.99 × 10⁻⁴ at step 4,000" in sentence
    assert "1.75 × 10⁻⁷, 1/4,000 of it" in sentence
    assert "reached at step 2,000, and left again at step 16,000" in sentence
    assert experiment.linear.data("peak_label")["text"] == ["6.99 × 10⁻⁴"]
    peak = experiment.linear.data("peak")
    assert peak["x"] == [4000]
    assert peak["y"] == [max(experiment.linear.data("original")["y"])]
    assert peak["y"][0] == pytest.approx(1000 / math.sqrt(512 * 4000))


@pytest.mark.parametrize("warmup", [w for w in WARMUPS if w])
def test_half_the_peak_is_where_the_rule_has_it(warmup: int) -> None:
    rule = Rule(512, warmup, 1)
    assert rule.half_before == warmup // 2
    assert rule.half_after == 4 * warmup


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_without_warm_up_the_rule_is_called_undefined_and_its_limit_is_shown(language: str) -> None:
    experiment = shown({"warmup": "0", "width": "256"}, language)
    sentence = words(experiment, "sentence")
    assert {"en": "divides by zero", "zh-Hans": "要除以零"}[language] in sentence
    assert scientific(1 / 16) in sentence
    assert " 4 " in sentence
    glyphs = experiment.log._glyphs
    assert [glyphs[name].visible for name in ("original", "linear", "without")] == [1, 0, 0]
    experiment.set({"warmup": "100"})
    finish(experiment)
    assert glyphs["linear"].visible
    assert glyphs["without"].visible


def test_the_step_is_read_off_the_curve() -> None:
    experiment = Schedule("en")
    for step in STEPS:
        experiment.set({"step": str(step), "width": "64"})
        finish(experiment)
        rate = training(experiment, "original").rate_at(step)
        assert f"At step {whole(step)} the rate is {scientific(rate)}" in words(
            experiment, "sentence"
        )
        assert experiment.log.data("at") == {"x": [step], "y": [rate]}


def test_every_control_changes_the_sentence() -> None:
    before = words(shown(), "sentence")
    for name, value in {"width": "1024", "warmup": "500", "step": "2000"}.items():
        assert words(shown({name: value}), "sentence") != before


def test_the_frame_holds_peak_and_label() -> None:
    experiment = Schedule("en")
    for warmup in WARMUPS:
        experiment.set({"warmup": str(warmup)})
        finish(experiment)
        chart = experiment.linear
        peak = chart.data("peak_label")["y"][0]
        assert chart.plot.y_range.start == 0
        assert peak < chart.plot.y_range.end <= 2 * peak


def test_nothing_runs_and_nothing_is_random() -> None:
    experiment = shown()
    assert experiment.works == {}
    assert experiment.wirings == ()
    assert "seed" not in experiment.controls
    assert "no seed" in words(experiment, "details")
