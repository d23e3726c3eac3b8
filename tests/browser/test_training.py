"""Training in the browser: begins when it is told to, grows, stops, ends with its settings."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from app.probes import training
from tests.browser.driver import Lesson

RUNS = ("post_ln", "post_ln_warm", "pre_ln")
SHORT = "?training.steps=20&training.depth=2"


@pytest.fixture
def training_lesson(lesson: Lesson) -> Lesson:
    lesson.name = "training"
    return lesson


def lengths(lesson: Lesson) -> list[int]:
    return [len(lesson.drawn("loss", f"{run}_batch")["x"]) for run in RUNS]


def test_three_runs_grow_together_and_end_at_the_probe_s_numbers(training_lesson: Lesson) -> None:
    lesson = training_lesson.open(SHORT).ready()
    assert lengths(lesson) == [0, 0, 0]  # nothing starts by itself
    assert "Nothing has been trained" in lesson.part("sentence")
    lesson.section.evaluate(
        """section => {
          window.seen = [];
          section.addEventListener("normlab:state", ({ detail }) => seen.push(detail.done));
        }"""
    )
    lesson.press("train").settled()
    grown = lesson.page.evaluate("[...new Set(seen)].filter((done) => done > 0)")
    assert grown == [5, 10, 15]  # and at 20 it is ready
    assert lengths(lesson) == [20, 20, 20]
    answer = [a for a in training.contrast({"steps": 20, "depth": 2}) if a is not None][-1]
    for run in RUNS:
        drawn = lesson.drawn("loss", f"{run}_points")["y"]
        assert drawn[-1] == pytest.approx(answer.summary[run]["validation"], abs=0.02)
    assert "Trained here, after 20 steps" in lesson.part("sentence")


def test_stop_is_heard_and_another_setting_ends_the_run_and_says_so(
    training_lesson: Lesson,
) -> None:
    lesson = training_lesson.open("?training.steps=400&training.depth=2").ready()
    lesson.button("train").click()
    lesson.part_with("sentence", "of 400, losses as of step")
    lesson.button("stop").click()
    lesson.until(state="stopped")
    assert "Stopped after step" in lesson.part("sentence")
    assert not lesson.restarted()
    assert 0 < lengths(lesson)[0] < 400
    lesson.button("train").click()
    lesson.until(state="computing")
    lesson.keys("rate", "ArrowLeft")
    lesson.settled()
    lesson.part_with("notice", "was ended")
    assert lengths(lesson) == [0, 0, 0]
    expect(lesson.button("stop")).to_be_disabled()
