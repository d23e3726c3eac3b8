"""The recorded grid and its sweep: they show what was recorded, and say what cannot be told."""

import re
from html import unescape

import pytest

from app.experiments import recorded
from app.experiments.grid import DEPTHS, MARKS, RATES, WARMUPS, RecordedGrid, nearest
from app.experiments.grid_figures import SEEDS
from app.experiments.sweep import Line, Sweep
from app.nn.wirings import BASE
from tests.experiments.helpers import words


def at(kind, state, language="en"):
    """An experiment of this kind, or the given one, at rest at `state`."""
    experiment = kind(language) if isinstance(kind, type) else kind
    experiment.set(state)
    while experiment.step():
        pass
    assert experiment.status == "ready"
    return experiment


def cells(html):
    """(verdict, whether it is the chosen one, words) of each cell."""
    found = re.findall(r'<td data-verdict="(\w+)"( aria-current="true")?>(.*?)</td>', html)
    return [(v, bool(chosen), unescape(re.sub("<[^>]+>", "", text))) for v, chosen, text in found]


# ---------------------------------------------------------------- the grid


@pytest.mark.parametrize("depth", DEPTHS)
def test_every_cell_says_its_verdict_by_word_mark_and_loss(depth):
    experiment = at(RecordedGrid, {"depth": str(depth)})
    shown = iter(cells(experiment.parts()["grid"]))
    grid = recorded.grid()
    for wiring in BASE:
        for rate in grid.rates(depth):
            for warmup in WARMUPS:
                cell = grid.cell(depth, rate, warmup, wiring)
                first, _, text = next(shown)
                assert first == next(iter(cell.verdicts))
                for verdict, count in cell.verdicts.items():
                    word = experiment.say(f"training.verdict.{verdict}")
                    said = f"{word} {count}/{len(cell.runs)}"
                    assert f"{MARKS[verdict]}\N{NO-BREAK SPACE}{said}" in text
                assert text.endswith(f"{cell.loss:.2f}")
    assert next(shown, None) is None


def test_the_chosen_cell_is_marked_once_per_wiring_and_drawn_with_every_seed():
    experiment = at(RecordedGrid, {"depth": "12", "rate": "0.002", "warmup": "300"})
    grid = recorded.grid()
    marked = [text for _, chosen, text in cells(experiment.parts()["grid"]) if chosen]
    assert len(marked) == 2
    for wiring in BASE:
        cell = grid.cell(12, 0.002, 300, wiring)
        assert len(cell.runs) == SEEDS
        for seed, run in enumerate(cell.runs):
            drawn = experiment.charts["loss"].data(f"{wiring}_{seed}")
            assert drawn == {"x": grid.steps, "y": run.curves["validation"]}
        middle = experiment.charts["loss"].data(f"{wiring}_points")["y"][-1]
        assert middle == cell.loss


def test_the_sentence_counts_seeds_and_gives_the_range_of_their_losses():
    said = words(at(RecordedGrid, {"depth": "12", "rate": "0.003", "warmup": "300"}), "sentence")
    cell = recorded.grid().cell(12, 0.003, 300, "post_ln")
    assert set(cell.verdicts) == {"learns", "waits"}
    assert "Post-LN learns in 2 of 3 seeds and has learnt nothing in 1 of 3" in said
    assert f"(loss {cell.losses[0]:.2f} to {cell.losses[-1]:.2f})" in said


def test_a_rate_that_was_not_recorded_is_replaced_by_the_nearest_and_said():
    experiment = RecordedGrid("en")
    for depth in DEPTHS:
        for rate in RATES:
            at(experiment, {"depth": str(depth), "rate": str(rate)})
            recorded_here = rate in recorded.grid().rates(depth)
            assert ("was not recorded" in words(experiment, "sentence")) != recorded_here
            assert len([1 for _, chosen, _ in cells(experiment.parts()["grid"]) if chosen]) == 2
    assert nearest(0.02, [0.001, 0.01]) == 0.01
    assert nearest(0.003, [0.001, 0.01]) == 0.001  # in ratio: 3 against 3.3


def test_the_signs_lie_within_their_axis_whatever_is_chosen():
    for what in ("cosine", "lower", "gradient", "logit"):
        experiment = at(RecordedGrid, {"what": what})
        y = experiment.charts["signs"].plot.y_range
        for wiring in BASE:
            heights = experiment.charts["signs"].data(f"{wiring}_0")["y"]
            assert y.start <= min(heights) <= max(heights) <= y.end


def test_details_say_when_and_by_which_command_it_was_recorded():
    details = words(at(RecordedGrid, {}), "details")
    grid = recorded.grid()
    assert f"on {grid.date} with NumPy {grid.versions['numpy']}" in details
    assert "python -m lessons.recorded.record" in details


# ---------------------------------------------------------------- the sweep


def test_the_sweep_draws_the_middle_seed_and_the_range_of_all():
    experiment = at(Sweep, {"depth": "12", "warmup": "100"})
    grid, chart = recorded.grid(), experiment.charts["sweep"]
    for name, wiring, warmup in (("post_ln", "post_ln", 0), ("pre_ln_warm", "pre_ln", 100)):
        every = [grid.cell(12, rate, warmup, wiring) for rate in grid.rates(12)]
        assert chart.data(f"{name}_points")["y"] == [cell.loss for cell in every]
        bars = chart.data(f"{name}_spread")
        assert bars["low"] == [cell.losses[0] for cell in every]
        assert bars["high"] == [cell.losses[-1] for cell in every]


def test_crosses_stand_where_most_seeds_are_stuck():
    chart = at(Sweep, {"depth": "4", "warmup": "300"}).charts["sweep"]
    assert chart.data("stuck")["y"] == [recorded.grid().cell(4, 0.02, 0, "post_ln").loss]


def test_the_rates_written_at_the_axis_leave_room_for_each_other():
    chart = at(Sweep, {"depth": "12"}).charts["sweep"]
    axis = chart.plot.xaxis[0]
    assert list(axis.ticker.ticks) == recorded.grid().rates(12)
    labels = axis.major_label_overrides
    assert {float(text): rate for rate, text in labels.items()} == {rate: rate for rate in labels}
    beside = [rate for rate, text in labels.items() if not text.startswith("\n")]
    assert beside == [0.0003, 0.001, 0.003, 0.01], "the rate in between is written a line lower"


def test_the_sweep_says_up_to_which_rate_each_wiring_learns():
    deep = words(at(Sweep, {"depth": "12", "warmup": "100"}), "sentence")
    assert "Post-LN learns up to a rate of 0.001 without warm-up (at 0.002, no longer" in deep
    assert "up to a rate of 0.002 with 100 steps of it" in deep
    assert "Pre-LN learns at every recorded rate, up to 0.01, with warm-up or without" in deep
    assert "cannot be told apart" not in deep


def test_the_sweep_says_when_the_best_losses_cannot_be_told_apart():
    shallow = at(Sweep, {"depth": "4", "warmup": "100"})
    best = {
        wiring: min(
            (line.best for line in shallow.lines.values() if line.wiring == wiring),
            key=lambda at: at[1].loss,
        )[1].losses
        for wiring in BASE
    }
    overlap = best["post_ln"][0] <= best["pre_ln"][-1] and best["pre_ln"][0] <= best["post_ln"][-1]
    assert overlap == ("cannot be told apart" in words(shallow, "sentence"))
    assert overlap


def test_a_line_that_never_learns_reaches_nowhere():
    stuck = recorded.grid().cell(12, 0.01, 0, "post_ln")
    good = recorded.grid().cell(12, 0.001, 0, "pre_ln")
    rates = [0.1, 0.2]
    assert Line("post_ln", 0, rates, [stuck, good]).learns_up_to == 0
    assert Line("post_ln", 0, rates, [good, stuck]).learns_up_to == 1
    assert Line("post_ln", 0, rates, [good, good]).learns_up_to == 2


@pytest.mark.parametrize("kind", [RecordedGrid, Sweep])
def test_both_languages_show_the_same_digits(kind):
    digits = [
        re.findall(r"\d+\.\d+", words(at(kind, {}, language), "table"))
        for language in ("en", "zh-Hans")
    ]
    assert digits[0] == digits[1] != []
