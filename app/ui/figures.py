"""Figures that are built once and afterwards only change their data and properties.

A `Chart` makes all its models when its glyphs are declared. What comes later (`show`, `ticks`,
`limits` …) sets `ColumnDataSource.data` and plain properties, and only where something differs:
so a document keeps its ids, redraws leak nothing, and a patch holds what is new.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bokeh.core.properties import value as fixed_text
from bokeh.models import ColumnDataSource, FixedTicker, LegendItem, Range1d, Span
from bokeh.plotting import figure

from app.ui import theme
from app.ui.theme import Series

Column = Sequence[float] | Sequence[str]

# Between the two papers: readable on either (a glyph cannot follow the page's scheme).
NEUTRAL = "#7b818b"


class Chart:
    """One Bokeh figure and its named glyphs.

    The x axis has the ticks that it is given (so that a switch of scale is a change of numbers),
    the y axis chooses its own.
    """

    def __init__(self, *, height: int = 320) -> None:
        self.plot: figure = theme.figure(
            height=height, x_range=Range1d(0, 1), y_range=Range1d(0, 1), min_border_right=8
        )
        self.plot.xaxis[0].ticker = FixedTicker(ticks=[])
        self.plot.xgrid.visible = False
        self.plot.yaxis[0].ticker.desired_num_ticks = 5
        self._sources: dict[str, ColumnDataSource] = {}
        self._glyphs: dict[str, Any] = {}
        self._spans: dict[str, Span] = {}
        self._entries: dict[str, LegendItem] = {}

    # ------------------------------------------------------------------ declared once

    def line(self, name: str, series: Series, entry: str | None = None, **options: Any) -> None:
        source = self._source(name, "x", "y")
        glyph = self.plot.line("x", "y", source=source, **{**series.line(), **options})
        self._add(name, glyph, entry)

    def points(self, name: str, series: Series, entry: str | None = None, **options: Any) -> None:
        source = self._source(name, "x", "y")
        glyph = self.plot.scatter("x", "y", source=source, **{**series.points(), **options})
        self._add(name, glyph, entry)

    def spread(self, name: str, series: Series, **options: Any) -> None:
        """Vertical bars from `low` to `high`."""
        source = self._source(name, "x", "low", "high")
        glyph = self.plot.segment(
            "x", "low", "x", "high", source=source, **{**series.whisker(), **options}
        )
        self._add(name, glyph, None)

    def labels(self, name: str, color: str, **options: Any) -> None:
        """Words in the plot, to the right of their point: the direct legend of a curve."""
        source = self._source(name, "x", "y", "text")
        style = {
            "text_color": color,
            "text_font": fixed_text(theme.FONT),
            "text_font_size": "14px",
            "text_font_style": "bold",
            "text_baseline": "middle",
            "x_offset": 6,
        }
        glyph = self.plot.text("x", "y", "text", source=source, **{**style, **options})
        self._add(name, glyph, None)

    def upright(self, name: str) -> None:
        """A thin vertical line that marks one x."""
        span = Span(
            dimension="height", location=0, line_color=NEUTRAL, line_dash=[3, 3], level="underlay"
        )
        self.plot.add_layout(span)
        self._spans[name] = span

    def legend(self, columns: int = 2) -> None:
        """Put the entries declared so far under the plot."""
        theme.legend_below(self.plot, columns)
        self._entries = {
            name: item
            for name, glyph in self._glyphs.items()
            for item in self.plot.legend[0].items
            if glyph in item.renderers
        }

    # ------------------------------------------------------------------ changed afterwards

    def show(self, name: str, **columns: Column) -> None:
        """Give a glyph its data. Figures leave out what is not a finite number."""
        data = {key: [_plain(entry) for entry in column] for key, column in columns.items()}
        source = self._sources[name]
        if source.data != data:
            source.data = data

    def visible(self, name: str, shown: bool) -> None:
        _change(self._glyphs[name], visible=shown)
        if name in self._entries:
            _change(self._entries[name], visible=shown)

    def entry(self, name: str, text: str) -> None:
        """Another text for a glyph's legend entry."""
        _change(self._entries[name], label=fixed_text(text))

    def size(self, name: str, size: float) -> None:
        _change(self._glyphs[name].glyph, size=size)

    def mark(self, name: str, x: float) -> None:
        _change(self._spans[name], location=x)

    def limits(self, *, x: tuple[float, float], y: tuple[float, float]) -> None:
        _change(self.plot.x_range, start=x[0], end=x[1])
        _change(self.plot.y_range, start=y[0], end=y[1])

    def ticks(self, places: Mapping[float, str]) -> None:
        """The x axis' ticks, and what is written at each."""
        _change(self.plot.xaxis[0].ticker, ticks=list(places))
        _change(self.plot.xaxis[0], major_label_overrides=dict(places))

    def axis_labels(self, *, x: str, y: str) -> None:
        _change(self.plot.xaxis[0], axis_label=x)
        _change(self.plot.yaxis[0], axis_label=y)

    def data(self, name: str) -> dict[str, list[Any]]:
        """What a glyph shows now."""
        return dict(self._sources[name].data)

    # ------------------------------------------------------------------

    def _source(self, name: str, *columns: str) -> ColumnDataSource:
        source = ColumnDataSource(name=name, data={column: [] for column in columns})
        self._sources[name] = source
        return source

    def _add(self, name: str, glyph: Any, entry: str | None) -> None:
        self._glyphs[name] = glyph
        if entry is not None:
            item = LegendItem(label=fixed_text(entry), renderers=[glyph])
            if not self.plot.legend:
                from bokeh.models import Legend

                self.plot.add_layout(Legend())
            self.plot.legend[0].items.append(item)


# ---------------------------------------------------------------------------- choosing a scale


def nice_ceiling(highest: float) -> float:
    """The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 × 10ᵏ: a range that seldom jumps."""
    if not math.isfinite(highest) or highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next((step * power for step in steps if step * power >= highest), 10 * power)


def layer_ticks(depth: int) -> dict[float, str]:
    """Ticks for layers 1 … depth: 1, and even steps that leave room for their numbers."""
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, depth) if depth / step <= 8)
    layers = sorted({1, *range(step, depth + 1, step)})
    if len(layers) > 2 and layers[1] == 2 and step == 2:
        layers.remove(2 if depth > 4 else 1)
    return {float(layer): str(layer) for layer in layers}


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Move values (two, say the heights of two labels) so far from each other as `gap`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for below, above in zip(order, order[1:], strict=False):
        lack = gap - (moved[above] - moved[below])
        if lack > 0:
            moved[below] -= lack / 2
            moved[above] += lack / 2
    return moved


def finite(*columns: Iterable[float]) -> list[float]:
    return [entry for column in columns for entry in column if math.isfinite(entry)]


# ---------------------------------------------------------------------------- helpers


def _plain(entry: Any) -> Any:
    """Python's own numbers, so that arrays travel inline; NaN where there is nothing to draw."""
    if isinstance(entry, str):
        return entry
    number = float(entry)
    return number if math.isfinite(number) else math.nan


def _change(model: Any, **properties: Any) -> None:
    for name, new in properties.items():
        if getattr(model, name) != new:
            setattr(model, name, new)
