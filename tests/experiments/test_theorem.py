"""The theorem: every sign is explained, lit up and read; every assumption is held to what ran."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from app.experiments.gradients import Gradients
from app.experiments.gradients_answers import DEPTHS
from app.experiments.theorem import Theorem
from app.experiments.theorem_figures import LIT, bound_shape, wider_theory
from app.experiments.theorem_words import furthest_from_theory
from app.experiments.work import Run
from app.nn.wirings import BASE
from app.probes import gradients
from app.probes.result import Result
from app.ui.numbers import significant, with_error
from app.ui.strings import LANGUAGES, strings
from tests.experiments.helpers import finish, words

SMALL = {"width": "32", "seeds": "2"}


def shown(state: Mapping[str, str] = SMALL, language: str = "en") -> Theorem:
    experiment = Theorem(language)
    experiment.set(state)
    finish(experiment)
    return experiment


def last(answers: Iterator[Result | None]) -> Result:
    return [answer for answer in answers if answer is not None][-1]


def assumed(experiment: Theorem) -> dict[str, str]:
    html = experiment.parts()["assumptions"]
    return dict(re.findall(r'data-assumption="(\w+)" data-holds="(\w+)"', html))


@pytest.mark.parametrize(
    "state", [SMALL, {**SMALL, "attention": "softmax", "ff": "4", "loss": "linear", "seed": "3"}]
)
def test_figure_and_sentence_are_the_probes(state: Mapping[str, str]) -> None:
    experiment = shown(state)
    names = ("attention", "ff", "width", "loss", "seeds", "seed")
    config = {name: experiment.values[name] for name in names}
    result = last(gradients.measure_last({**config, "depths": DEPTHS, "matrix": "W_2"}))
    for wiring in BASE:
        assert (
            experiment.bounds.data(f"{wiring}_measured")["y"] == result.columns[f"{wiring}_geomean"]
        )
        slope = result.summary["slope"][wiring]
        assert with_error(slope["mean"], slope["se"]) in words(experiment, "sentence")


def test_it_answers_as_the_gradients_experiment_does() -> None:
    theorem, gradient = Theorem("en"), Gradients("en")
    assert theorem.runs[0].config(theorem.values) == gradient.runs[1].config(gradient.values)


def test_a_sign_starts_no_computation() -> None:
    experiment = shown()
    before = experiment.answer("last")
    for term in LIT:
        experiment.set({"term": term})
        finish(experiment)
        assert experiment.answer("last") is before
        assert experiment.shown["term"] == term


def test_each_sign_lights_up_another_part_and_reads_it() -> None:
    experiment = shown()
    seen, read = set(), set()
    for term, lit in LIT.items():
        experiment.set({"term": term})
        finish(experiment)
        strong = set()
        for name, renderer in experiment.bounds._glyphs.items():
            glyph = renderer.glyph
            alphas = [getattr(glyph, f"{of}_alpha", None) for of in ("line", "text", "fill")]
            of_band = alphas[0] is None and alphas[2] == 0.2
            if renderer.visible and (1.0 in alphas[:2] or of_band):
                strong.add(name)
        assert {name for name in lit if not name.endswith("_label")} <= strong
        assert {name for name in strong if not name.endswith("_label")} <= lit
        seen.add(
            frozenset(strong) | {f"size {experiment.bounds._glyphs['pre_ln_measured'].glyph.size}"}
        )
        read.add(words(experiment, "sentence"))
    assert len(seen) == len(read) == len(LIT)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_sign_has_a_name_an_explanation_and_a_reading(language: str) -> None:
    say = strings(language)
    for term in LIT:
        assert say.raw(f"theorem.option.term.choices.{term}")
        assert "$" in str(say.raw(f"theorem.board.about.{term}")) or term == "start"
        assert say.raw(f"theorem.lit.{term}")
    names = [say.raw(f"theorem.option.term.choices.{term}") for term in LIT]
    assert len(set(names)) == len(names)
    assert not any("$" in str(name) or "\\" in str(name) for name in names)


@pytest.mark.parametrize(
    ("state", "broken"),
    [
        ({}, set()),
        ({"attention": "softmax"}, {"uniform", "head"}),
        ({"ff": "4"}, {"square"}),
        ({"loss": "linear"}, {"loss"}),
    ],
)
def test_assumptions_are_held_against_what_ran(state: Mapping[str, str], broken: set[str]) -> None:
    found = assumed(shown({"width": "64", "seeds": "8", **state}))
    del found["wide"]
    assert {name for name, holds in found.items() if holds == "no"} == broken
    assert found["bounded"] == "open"
    assert all(found[name] == "yes" for name in set(found) - broken - {"bounded"})


def test_a_width_is_large_where_the_points_lie_near_the_curve_for_infinite_width() -> None:
    wide = shown({"width": "128", "seeds": "8"})
    off = furthest_from_theory(wide.last)
    assert off is not None
    assert off == max(
        abs(wide.last.columns[f"{w}_geomean"][i] / wide.last.columns[f"{w}_theory"][i] - 1)
        for w in BASE
        for i in range(len(DEPTHS))
    )
    assert assumed(wide)["wide"] == ("yes" if off <= 0.1 else "no")
    assert f"{100 * off:.2g} %" in words(wide, "assumptions")
    softmax = shown({**SMALL, "attention": "softmax"})
    assert furthest_from_theory(softmax.last) is None
    assert assumed(softmax)["wide"] == "open"


def test_the_bounds_have_the_theorems_shape_and_leave_nine_seeds_of_ten_below() -> None:
    experiment = shown()
    for wiring, power in (("post_ln", 0.0), ("pre_ln", -0.5)):
        line = experiment.bounds.data(f"{wiring}_bound")
        assert line["y"] == bound_shape(experiment.last, wiring)
        rise = math.log(line["y"][-1] / line["y"][0]) / math.log(DEPTHS[-1] / DEPTHS[0])
        assert rise == pytest.approx(power)
        tops = experiment.last.columns[f"{wiring}_p90"]
        gaps = [above / top for above, top in zip(line["y"], tops, strict=True)]
        assert min(gaps) == pytest.approx(1)
    x, y = experiment.bounds.data("slope")["x"], experiment.bounds.data("slope")["y"]
    assert math.log(y[2] / y[0]) / math.log(x[2] / x[0]) == pytest.approx(-0.5)


@pytest.mark.parametrize(("loss", "times"), [("ce", math.sqrt(2)), ("linear", 2)])
def test_twice_the_width_lengthens_the_gradient_less_than_the_bound_allows(
    loss: str, times: float
) -> None:
    experiment = shown({**SMALL, "term": "width", "loss": loss})
    wider = wider_theory(experiment.last, "pre_ln")
    for value, before in zip(wider, experiment.last.columns["pre_ln_theory"], strict=True):
        assert value / before == pytest.approx(times)
    sentence = words(experiment, "sentence")
    allowed = 2 * math.sqrt(math.log(64) / math.log(32))
    assert f"{significant(times)} times as long" in sentence
    assert f"would allow {significant(allowed)} times" in sentence
    softmax = shown({**SMALL, "term": "width", "attention": "softmax"})
    assert softmax.bounds.data("pre_ln_wider") == {"x": [], "y": []}
    assert "no curve to be lit up" in words(softmax, "sentence")


def test_the_papers_figure_is_read_as_what_it_is() -> None:
    sentence = words(shown({**SMALL, "term": "depth"}), "sentence")
    assert "Figure 3(c)" in sentence
    assert significant(math.log(0.13 / 0.3) / math.log(14 / 6), 2) == "−0.99"
    assert "a power of −0.99" in sentence
    assert "quoted here is the theorem" in sentence


CHANGES = {
    "term": "norm", "attention": "softmax", "ff": "2", "width": "64", "loss": "linear",
    "seeds": "4", "seed": "9",
}  # fmt: skip


def test_every_control_changes_the_sentence() -> None:
    experiment = shown()
    assert set(CHANGES) == set(experiment.controls)
    before = words(experiment, "sentence")
    for name, value in CHANGES.items():
        assert words(shown({**SMALL, name: value}), "sentence") != before


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_one_seed_has_no_uncertainty_and_says_so(language: str) -> None:
    sentence = words(shown({"width": "32", "seeds": "1"}, language), "sentence")
    assert strings(language)("experiment.one_seed") in sentence
    assert "±" not in sentence
    assert "nan" not in sentence.lower()
    assert strings(language)("theorem.both") not in sentence


def overflowing(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """The last layer's gradients, infinite in Post-LN from the fourth depth on."""
    for answer in gradients.measure_last(config):
        if answer is not None:
            columns = dict(answer.columns)
            for of in ("", "_geomean", "_p90"):
                held = columns[f"post_ln{of}"]
                columns[f"post_ln{of}"] = [*held[:3], *[math.inf] * len(held[3:])]
            broken = {**answer.summary["slope"], "post_ln": {"mean": math.nan, "se": math.nan}}
            yield replace(answer, columns=columns, summary={**answer.summary, "slope": broken})


class Overflowed(Theorem):
    """The real experiment on numbers that overflow."""

    runs = (Run("last", overflowing, Theorem.runs[0].config),)


@pytest.mark.parametrize("term", sorted(LIT))
def test_what_overflows_is_named_and_left_out(term: str) -> None:
    experiment = Overflowed("en")
    experiment.set({**SMALL, "term": term})
    finish(experiment)
    assert f"in the last of L = {DEPTHS[3]} layers (∞)" in words(experiment, "sentence")
    for part in ("sentence", "assumptions"):
        assert "nan" not in words(experiment, part).lower()
    assert math.isfinite(experiment.bounds.plot.y_range.end)
