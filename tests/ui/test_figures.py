"""A chart: built once, then only data and properties change; scales are chosen from the data."""

import math
from collections.abc import Callable

import pytest
from bokeh.document import Document

from app.ui.figures import Chart
from app.ui.scales import apart, finite, layer_ticks, nice_ceiling
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


def assert_no_model_is_made(chart: Chart, change: Callable[[Chart, float], None]) -> None:
    document = Document()
    document.add_root(chart.plot)
    change(chart, 3)
    before = {model.id for model in document.models}
    change(chart, 5)
    document.models.invalidate()
    assert {model.id for model in document.models} == before


def test_no_change_makes_a_model(chart: Chart) -> None:
    assert_no_model_is_made(chart, change_everything)


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


def test_a_row_may_hold_one_sample_or_three() -> None:
    for samples in (1, 3):
        chart = Chart()
        for sample in range(samples):
            chart.line(f"line{sample}", SERIES["admin"]["measured"])
        row = (*([f"line{sample}"] for sample in range(samples)), "seen")
        chart.legend({"row": row})
        chart.reword("row", "known")
        assert chart.plot.legend[0].ncols == samples
        labels = [item.label.value for item in chart.plot.legend[0].items]
        assert labels == [""] * (samples - 1) + ["known"]


@pytest.fixture
def logarithmic() -> Chart:
    chart = Chart(x_log=True, y_log=True)
    series = SERIES["deepnorm"]["measured"]
    chart.area("band", series)
    chart.line("line", series)
    chart.points("dots", series)
    chart.spread("spread", series)
    chart.bars("bars", series)
    chart.level("level")
    return chart


def change_logarithmic(chart: Chart, shift: float) -> None:
    for name in ("band", "spread", "bars"):
        chart.show(name, x=[1, 2], low=[0, 0.5], high=[shift, shift])
    for name in ("line", "dots"):
        chart.show(name, x=[1, 2], y=[shift, 0.0])
        chart.restyle(name, SERIES["admin" if shift > 4 else "mhc"]["measured"])
    chart.restyle("spread", SERIES["admin" if shift > 4 else "mhc"]["measured"])
    chart.mark("level", shift)
    chart.limits(x=(1, 10 * shift), y=(0.1, 10 * shift))
    chart.ticks({1.0: "1", shift: str(shift)})


def test_no_change_of_a_logarithmic_chart_makes_a_model(logarithmic: Chart) -> None:
    assert_no_model_is_made(logarithmic, change_logarithmic)


def test_a_logarithmic_axis_leaves_out_what_it_cannot_show(logarithmic: Chart) -> None:
    change_logarithmic(logarithmic, 3)
    assert logarithmic.data("line")["y"][0] == 3  # the value itself, not its logarithm
    assert math.isnan(logarithmic.data("line")["y"][1])
    assert 0 < logarithmic.data("band")["low"][0] < 1e-99  # reaches down to the frame


def test_a_logarithmic_axis_writes_its_own_ticks(logarithmic: Chart) -> None:
    logarithmic.limits(x=(1, 48), y=(1e-7, 1e-3))
    axis = logarithmic.plot.yaxis[0]
    assert list(axis.ticker.ticks) == list(axis.major_label_overrides)
    assert axis.major_label_overrides[1e-5] == "10⁻⁵"
    assert logarithmic.plot.ygrid[0].ticker is axis.ticker


def test_a_chart_without_data_has_a_range(chart: Chart) -> None:
    chart.limits(x=(math.nan, math.nan), y=(1.0, 1.0))
    for axis in (chart.plot.x_range, chart.plot.y_range):
        assert axis.start < axis.end


def test_a_glyph_can_take_another_series_look(logarithmic: Chart) -> None:
    series = SERIES["olmo2"]["measured"]
    for name in ("line", "dots", "spread"):
        logarithmic.restyle(name, series)
    renderers = {renderer.data_source.name: renderer for renderer in logarithmic.plot.renderers}
    assert renderers["line"].glyph.line_dash == list(series.dash)
    assert renderers["dots"].glyph.marker == series.marker
    for name in ("line", "dots", "spread"):
        assert renderers[name].glyph.line_color == series.color


def test_a_mark_can_be_taken_away(chart: Chart) -> None:
    for place, location in ((3.0, 3.0), (None, None), (math.nan, None)):
        chart.mark("mark", place)
        assert chart.plot.center[-1].location == location


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
    three = apart([0.3, 0.29, 0.31], 0.08)
    assert three[1] < three[0] < three[2]
    assert min(three[0] - three[1], three[2] - three[0]) > 0.0799
