"""A chart: built once, then only data and properties change; scales are chosen from the data."""

import math

import pytest
from bokeh.document import Document

from app.ui.figures import Chart, apart, finite, layer_ticks, nice_ceiling
from app.ui.theme import SERIES


@pytest.fixture
def chart() -> Chart:
    chart = Chart()
    for wiring in ("post_ln", "pre_ln"):
        chart.line(f"{wiring}_line", SERIES[wiring]["theory"])
        chart.points(f"{wiring}_dots", SERIES[wiring]["measured"])
        chart.spread(f"{wiring}_bars", SERIES[wiring]["measured"])
        chart.labels(f"{wiring}_name", "#000000")
    chart.upright("mark")
    chart.legend(
        {
            "line": (["post_ln_line"], ["pre_ln_line"], "theory"),
            "dots": (["post_ln_dots", "post_ln_bars"], ["pre_ln_dots"], "measured"),
        }
    )
    return chart


def change_everything(chart: Chart, shift: float) -> None:
    for wiring in ("post_ln", "pre_ln"):
        chart.show(f"{wiring}_line", x=[1, 2], y=[shift, 2])
        chart.show(f"{wiring}_dots", x=[1, 2], y=[shift, math.nan])
        chart.show(f"{wiring}_bars", x=[1], low=[0], high=[shift])
        chart.show(f"{wiring}_name", x=[2], y=[shift], text=["name"])
        chart.size(f"{wiring}_dots", 4 + shift)
    chart.visible(False, "post_ln_dots", row="line")
    chart.reword("dots", f"word {shift}")
    chart.mark("mark", shift)
    chart.limits(x=(0, shift), y=(0, shift))
    chart.ticks({1.0: "1", shift: str(shift)})
    chart.axis_labels(x=f"x {shift}", y="y")


def test_no_change_makes_a_model(chart: Chart) -> None:
    document = Document()
    document.add_root(chart.plot)
    change_everything(chart, 3)
    before = {model.id for model in document.models}
    change_everything(chart, 5)
    document.models.invalidate()
    assert {model.id for model in document.models} == before


def test_what_is_the_same_is_not_sent_again(chart: Chart) -> None:
    document = Document()
    document.add_root(chart.plot)
    change_everything(chart, 3)
    events: list[object] = []
    document.callbacks.on_change(events.append)
    chart.show("post_ln_line", x=[1, 2], y=[3, 2])
    chart.limits(x=(0, 3), y=(0, 3))
    assert events == []
    change_everything(chart, 4)
    assert events != []


def test_a_row_of_the_legend_holds_two_samples_and_one_word(chart: Chart) -> None:
    labels = [item.label.value for item in chart.plot.legend[0].items]
    assert labels == ["", "theory", "", "measured"]
    chart.visible(False, row="line")
    chart.reword("dots", "seen")
    assert [item.visible for item in chart.plot.legend[0].items] == [False, False, True, True]
    assert chart.plot.legend[0].items[3].label.value == "seen"


def test_numbers_that_are_not_finite_leave_a_gap(chart: Chart) -> None:
    chart.show("post_ln_line", x=[1, 2, 3], y=[1, math.inf, 3])
    assert chart.data("post_ln_line")["x"] == [1, 2, 3]
    assert math.isnan(chart.data("post_ln_line")["y"][1])
    assert finite([1, math.inf], [math.nan, 2]) == [1, 2]


def test_a_figure_is_deaf_to_wheel_and_pan(chart: Chart) -> None:
    assert chart.plot.toolbar.tools == []
    assert chart.plot.toolbar_location is None


@pytest.mark.parametrize("height", [0.003, 0.62, 0.8, 1.0, 9.9, 10.1, 54.2, 1e7])
def test_the_ceiling_is_a_round_number_just_above(height: float) -> None:
    ceiling = nice_ceiling(height)
    assert height <= ceiling <= 1.5 * height
    assert float(f"{ceiling:.1e}") == pytest.approx(ceiling)


def test_nothing_to_show_still_has_a_scale() -> None:
    assert nice_ceiling(0.0) == nice_ceiling(math.nan) == nice_ceiling(-2.0) == 1.0


@pytest.mark.parametrize("depth", range(1, 49))
def test_ticks_of_layers_are_few_and_within_the_stack(depth: int) -> None:
    ticks = layer_ticks(depth)
    assert 1 <= len(ticks) <= 9
    assert all(1 <= place <= depth and text == str(int(place)) for place, text in ticks.items())


def test_labels_are_moved_apart_and_keep_their_order() -> None:
    assert apart([0.5, 0.1], 0.2) == [0.5, 0.1]
    moved = apart([0.30, 0.29], 0.08)
    assert moved[0] - moved[1] == pytest.approx(0.08)
