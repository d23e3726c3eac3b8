"""What all experiments do, shown on the one that is there: order, answers, supersession, stops."""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
from bokeh.core.serialization import Serializer
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent

from app import live
from app.experiments import EXPERIMENTS
from app.experiments.sensitivity import Sensitivity
from app.experiments.theorem import Theorem
from app.experiments.work import Run
from app.probes import gradients, sensitivity
from app.probes.result import Result
from app.ui import markup
from tests.experiments.helpers import (
    SMALL,
    finish,
    measured,
    patch_as_the_page,
    shown,
    words,
)


def test_building_computes_nothing_and_says_nothing() -> None:
    experiment = Sensitivity("en")
    assert experiment.status == "computing"
    assert experiment.shown == {}
    assert experiment.parts() == {"notice": ""}
    assert is_empty(experiment)


def is_empty(experiment: Sensitivity) -> bool:
    x = experiment.charts["sensitivity"].data("post_ln_estimate")["x"]
    return len(x) == 1 and math.isnan(x[0])


def test_roots_come_in_a_fixed_order_in_every_language() -> None:
    english, chinese = (
        [(slot, type(model)) for slot, model in Sensitivity(language).roots().items()]
        for language in ("en", "zh-Hans")
    )
    assert english == chinese
    slots = [slot for slot, _ in english]
    assert slots == [
        *(
            f"control:{n}"
            for n in (
                *("depth", "axis", "expected", "change"),
                *("width", "attention", "seeds", "seed"),
            )
        ),
        *("button:perturb", "button:stop"),
        *("figure:sensitivity", "figure:beta"),
    ]


def test_nothing_partial_is_shown_of_the_default_state() -> None:
    experiment = Sensitivity("en")
    while not experiment.shown:
        assert "sentence" not in experiment.parts()
        assert is_empty(experiment)
        experiment.step()
    assert experiment.step() is False, "table and details have a slice of their own"
    assert experiment.status == "ready"
    assert "24 seeds" in words(experiment, "sentence")


def test_another_state_shows_its_first_seeds_at_once() -> None:
    experiment = Sensitivity("en")
    experiment.set({"width": "256", "seeds": "8"})
    while "of 8 seeds" not in experiment.parts().get("sentence", ""):
        assert experiment.step()
    assert experiment.status == "computing"
    done, total = experiment.progress or (0, 0)
    assert 0 < done < total == 8
    finish(experiment)
    assert experiment.progress is None
    assert "; 8 seeds" in words(experiment, "sentence")


@pytest.mark.parametrize(
    ("name", "figure", "glyph"),
    [
        ("sensitivity", "sensitivity", "pre_ln_estimate"),
        ("gradients", "last", "pre_ln_measured"),
        ("theorem", "bounds", "pre_ln_measured"),
        ("wirings", "changes", "variant_points"),
        ("norms", "norms", "pre_ln_measured"),
        ("depth", "change", "pre_ln_measured"),
        ("attenuation", "claim", "pre_ln_measured"),  # from the last layer back
    ],
)
def test_before_its_first_seed_is_through_its_first_points_show_and_no_words_of_another(
    name: str, figure: str, glyph: str
) -> None:
    state = {"width": "64", "seeds": "2", "seed": "3"}
    experiment = EXPERIMENTS[name]("en")
    experiment.set({"width": "64", "seeds": "2"})
    while experiment.step():
        pass
    before = experiment.parts()
    experiment.set(state)
    while experiment.shown != experiment.state():
        experiment.step()
    assert experiment.status == "computing"
    assert experiment.progress == (0, 2)
    begun = experiment.charts[figure].data(glyph)["y"]
    parts = experiment.parts()
    assert set(parts) == set(before)
    for part in parts.keys() - {"notice"}:
        key = "beginning" if part == "sentence" else "not_there"
        assert parts[part] == markup.on_its_way(experiment.say(f"experiment.{key}"))
    while experiment.answer(experiment.runs[0].name).done < 1 or experiment._undrawn:
        experiment.step()
    whole = experiment.charts[figure].data(glyph)["y"]
    there = {place: number for place, number in enumerate(begun) if math.isfinite(number)}
    assert 0 < len(there) < len(whole)
    assert there == {place: whole[place] for place in there}
    while experiment.step():
        pass
    alone = EXPERIMENTS[name]("en")
    alone.set(state)
    while alone.step():
        pass
    assert experiment.parts() == alone.parts()


def test_what_can_be_stopped_shows_whole_seeds_only() -> None:
    experiment = shown()
    experiment.press("perturb")
    while experiment.answer("measured") is None:
        experiment.step()
    assert experiment.answer("measured").whole


def test_the_last_of_fifty_values_wins_in_one_step_and_starts_nothing() -> None:
    experiment = measured()
    for depth in range(1, 49):
        experiment.set({"depth": str(depth)})
    experiment.set({"depth": "7", "axis": "log2"})
    assert [experiment.step(), experiment.step()] == [True, False]  # figures, then the table
    assert experiment.shown == experiment.state() | {"depth": "7", "axis": "log2"}
    assert experiment.status == "ready"
    assert "At N = 7 " in words(experiment, "sentence")


def test_the_last_of_many_values_that_need_computing_wins_too() -> None:
    experiment = shown()
    for seed in range(1, 50):
        experiment.set({"seed": str(seed)})
    finish(experiment)
    assert experiment.shown["seed"] == "49"
    assert words(experiment, "sentence") == words(shown({**SMALL, "seed": "49"}), "sentence")


def test_a_value_that_was_there_before_is_back_at_once() -> None:
    experiment = shown()
    first = experiment.parts()
    experiment.set({"seed": "5"})
    finish(experiment)
    assert experiment.parts() != first
    experiment.set({"seed": "0"})
    assert [experiment.step(), experiment.step()] == [True, False]
    assert experiment.parts() == first


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_the_same_state_gives_the_same_words_by_any_way(language: str) -> None:
    straight = measured({**SMALL, "depth": "24", "change": "0.02"}, language)
    about = shown({"width": "64", "seeds": "2"}, language)
    about.press("perturb")
    about.step()
    about.set({**SMALL, "depth": "3", "axis": "log2"})
    finish(about)
    about.set({"change": "0.02", "depth": "24", "axis": "linear"})
    about.press("perturb")
    finish(about)
    assert about.parts() == straight.parts()
    for slot, chart in about.charts.items():
        for name in chart._sources:
            assert chart.data(name) == straight.charts[slot].data(name), name


def test_a_measurement_survives_depth_and_axis_but_not_what_it_was_measured_at() -> None:
    experiment = measured()
    points = experiment.charts["sensitivity"].data("post_ln_measured")
    experiment.set({"depth": "24", "axis": "log2"})
    finish(experiment)
    assert experiment.charts["sensitivity"].data("post_ln_measured")["y"] == points["y"]
    assert words(experiment, "notice") == ""
    for change in ({"change": "0.05"}, {"seed": "1"}, {"width": "64"}, {"attention": "softmax"}):
        experiment = measured()
        experiment.set(change)
        finish(experiment)
        assert experiment.charts["sensitivity"].data("post_ln_measured")["y"] == []
        assert "points were removed" in words(experiment, "notice")


def test_the_word_about_removed_points_stays_until_the_button_is_pressed_again() -> None:
    experiment = measured()
    for change in ("0.02", "0.05", "0.1"):
        experiment.set({"change": change})
    experiment.set({"depth": "3"})
    finish(experiment)
    assert "points were removed" in words(experiment, "notice")
    experiment.press("perturb")
    assert words(experiment, "notice") == ""


def test_a_running_measurement_goes_on_while_depth_changes_and_ends_when_width_does() -> None:
    experiment = shown()
    experiment.press("perturb")
    experiment.set({"depth": "6"})
    experiment.step()
    assert experiment.status == "computing"
    assert experiment.works["measured"].running
    experiment.set({"width": "64"})
    assert "was ended" in words(experiment, "notice")
    finish(experiment)
    assert experiment.answer("measured") is None
    assert "Estimate" in words(experiment, "sentence")


def stopped_at(seeds: int, state: Mapping[str, str]) -> Sensitivity:
    experiment = shown(state)
    experiment.press("perturb")
    while (experiment.progress or (0, 0))[0] < seeds:
        experiment.step()
    experiment.press("stop")
    finish(experiment)
    return experiment


def test_stop_keeps_what_is_there_and_says_on_how_many_seeds_it_rests() -> None:
    experiment = stopped_at(1, {"width": "128", "seeds": "24"})
    result = experiment.answer("measured")
    assert result is not None
    assert result.done < 24
    assert experiment.status == "stopped"
    assert f"stopped after {result.done} of 24 seeds" in words(experiment, "sentence")
    experiment.set({"depth": "24"})
    finish(experiment)
    assert experiment.status == "stopped"


def test_pressed_again_a_stopped_measurement_goes_on_to_the_same_digits() -> None:
    state = {"width": "128", "seeds": "8"}
    experiment = stopped_at(1, state)
    experiment.press("perturb")
    finish(experiment)
    assert experiment.status == "ready"
    assert experiment.parts() == measured(state).parts()


def test_stop_can_be_pressed_only_while_something_runs() -> None:
    experiment = shown()
    perturb, stop = experiment.buttons["perturb"], experiment.buttons["stop"]
    assert (perturb.disabled, stop.disabled) == (False, True)
    experiment.press("perturb")
    assert (perturb.disabled, stop.disabled) == (True, False)
    finish(experiment)
    assert (perturb.disabled, stop.disabled) == (False, True)


def test_computing_makes_no_models_and_changes_no_ids() -> None:
    experiment = Sensitivity("en")
    document = Document()
    for model in experiment.roots().values():
        document.add_root(model)
    before = {model.id for model in document.models}
    experiment.set({**SMALL, "attention": "softmax"})
    finish(experiment)
    experiment.press("perturb")
    finish(experiment)
    experiment.set({"depth": "48", "axis": "log2", "attention": "uniform"})
    finish(experiment)
    document.models.invalidate()
    assert {model.id for model in document.models} == before


@pytest.mark.parametrize(
    "state",
    [
        {**SMALL, "depth": "1"},
        {**SMALL, "depth": "48", "axis": "log2", "attention": "softmax"},
        {**SMALL, "depth": "1", "axis": "log2"},
        {"axis": "log2"},
    ],
)
def test_a_link_overwrites_all_of_the_figures_that_stood_there(state: Mapping[str, str]) -> None:
    """The page paints the finished default state; the worker begins with empty figures and sends
    only what it changes. Nothing of the old figures may be left standing."""
    default, built = live.fresh("sensitivity", "en")
    while default.step():
        pass
    page = Document.from_json(built.document.to_json())
    experiment, built = live.fresh("sensitivity", "en")
    events: list[DocumentPatchedEvent] = []
    built.document.callbacks.on_change(events.append)  # type: ignore[arg-type]
    experiment.set(state)
    while experiment.step():
        pass
    references = built.document.models.synced_references
    patch = {"events": Serializer(references=references, deferred=False).encode(events)}
    patch_as_the_page(page, json.loads(json.dumps(patch)))
    for slot, id in built.roots.items():
        if slot.startswith("figure:"):
            ours, theirs = (properties(d, id) for d in (built.document, page))
            assert theirs == ours


def properties(document: Document, root: str) -> dict[tuple[str, str], str]:
    """Every property of every model under a root, as text."""
    models = document.models[root].references()
    return {
        (f"{type(model).__name__} {model.id}", name): json.dumps(
            Serializer(references=models).encode(value)
        )
        for model in models
        for name, value in model.properties_with_values().items()
    }


# ---------------------------------------------------------------------------- notices and errors


@pytest.mark.parametrize(
    ("state", "kept", "said"),
    [
        ({"depth": "99"}, {"depth": "48"}, "Depth N: 99 is outside 1 … 48, so 48 is used."),
        ({"width": "100"}, {"width": "128"}, "so the nearest value, 128, is used."),
        ({"change": "0.3"}, {"change": "0.1"}, "0.3 is outside 0.001 … 0.1, so 0.1 is used"),
        ({"change": "0.03"}, {"change": "0.02"}, "0.03 is not offered here"),
        ({"attention": "sparse"}, {"attention": "uniform"}, "“sparse” is no value"),
        ({"seed": "two"}, {"seed": "0"}, "“two” is no value"),
        ({"colour": "red"}, {}, "No experiment here has a setting “colour”; it was ignored."),
    ],
)
def test_what_cannot_be_taken_is_said_in_a_sentence(
    state: Mapping[str, str], kept: Mapping[str, str], said: str
) -> None:
    experiment = Sensitivity("en")
    notices = experiment.set(state)
    assert len(notices) == 1
    assert said in notices[0]
    assert said in words(experiment, "notice")
    assert experiment.state() == Sensitivity("en").state() | kept


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_states_survive_the_round_trip(language: str) -> None:
    state = {"depth": "24", "axis": "log2", "expected": "4", "change": "0.002", "width": "256",
             "attention": "softmax", "seeds": "8", "seed": "4294967295"}  # fmt: skip
    experiment = Sensitivity(language)
    assert experiment.set(state) == []
    assert experiment.state() == state


def overflowing(config: Mapping[str, Any]) -> Iterator[Result | None]:
    yield None
    yield next(result for result in sensitivity.measure(config) if result)
    raise FloatingPointError("overflow in layer 7")


class Overflowing(Sensitivity):
    """The real experiment on numbers that break off after some seeds."""

    runs = (
        *Sensitivity.runs[:2],
        Run("measured", overflowing, Sensitivity.runs[2].config, "perturb"),
    )


def test_a_number_that_overflows_ends_the_run_with_a_sentence_and_can_be_tried_again() -> None:
    experiment = Overflowing("en")
    experiment.set({"seeds": "24"})
    finish(experiment)
    experiment.press("perturb")
    finish(experiment)
    assert experiment.status == "error"
    assert "broke off: a number overflowed (overflow in layer 7)" in words(experiment, "notice")
    assert not experiment.buttons["perturb"].disabled
    experiment.set({"depth": "6"})
    finish(experiment)
    assert experiment.status == "ready"
    assert words(experiment, "notice") == ""


def test_what_was_on_its_way_is_not_promised_any_more_when_it_fails() -> None:
    def begun(config: Mapping[str, Any]) -> Iterator[Result | None]:
        for answer in gradients.measure_last(config):
            yield answer
            if answer is not None and not answer.whole:
                raise MemoryError

    class Failing(Theorem):
        runs = (Run("last", begun, Theorem.runs[0].config),)

    experiment = Failing("en")
    experiment.set({"seed": "3"})
    while experiment.shown != experiment.state():
        experiment.step()
    promised = {part for part, html in experiment.parts().items() if "on-its-way" in html}
    assert promised == {"sentence", "table", "details", "terminal", "assumptions"}
    finish(experiment)
    assert experiment.status == "error"
    assert {experiment.parts()[part] for part in promised} == {""}
    assert "broke off" in words(experiment, "notice")


def failing_once() -> type[Sensitivity]:
    """The real experiment, whose estimate finds too little memory the first time."""
    failures = [MemoryError()]

    def estimate(config: Mapping[str, Any]) -> Iterator[Result | None]:
        yield None
        if failures:
            raise failures.pop()
        yield from sensitivity.estimate(config)

    class FailingOnce(Sensitivity):
        runs = (Run("estimate", estimate, Sensitivity.runs[0].config), *Sensitivity.runs[1:])

    return FailingOnce


@pytest.mark.parametrize("move", ["set", "press"])
def test_what_failed_by_itself_is_tried_again_at_the_next_move(move: str) -> None:
    experiment = failing_once()("en")
    experiment.set(SMALL)
    finish(experiment)
    assert experiment.status == "error"
    assert "not enough memory" in words(experiment, "notice")
    if move == "set":
        experiment.set({"depth": "6"})
    else:
        experiment.press("perturb")
    finish(experiment)
    assert experiment.status == "ready"
    assert "Post-LN" in words(experiment, "sentence")


def broken(config: Mapping[str, Any]) -> Iterator[Result | None]:
    yield None
    raise TypeError("a bug")


class Broken(Sensitivity):
    runs = (*Sensitivity.runs[:2], Run("measured", broken, Sensitivity.runs[2].config, "perturb"))


def test_a_bug_is_raised_for_the_console_and_leaves_the_experiment_usable() -> None:
    experiment = Broken("en")
    experiment.set(SMALL)
    finish(experiment)
    experiment.press("perturb")
    with pytest.raises(TypeError, match="a bug"):
        finish(experiment)
    assert experiment.status == "error"
    assert "error in this program" in words(experiment, "notice")
    experiment.set({"depth": "3"})
    finish(experiment)
    assert experiment.status == "ready"


def test_the_clock_writes_into_its_own_element_and_only_where_a_place_is_known() -> None:
    experiment = shown()
    assert "data-timing" not in experiment.parts()["details"]
    experiment.where = "NumPy in your browser"
    experiment.set({"depth": "3"})
    finish(experiment)
    details = experiment.parts()["details"]
    assert details.count("<p data-timing>") == 1
    assert "NumPy in your browser" in details
