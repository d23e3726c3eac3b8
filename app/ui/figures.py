"""Figures that are built once and afterwards only change their data and properties.

A `Chart` makes all its models when its glyphs are declared. What comes later (`show`, `ticks`,
`limits` …) sets `ColumnDataSource.data` and plain properties, and only where something differs:
so a document keeps its ids, redraws leak nothing, and a patch holds what is new.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from bokeh.core.properties import value as fixed_text
from bokeh.models import ColumnDataSource, FixedTicker, Range1d
from bokeh.models.annotations import Legend, LegendItem, Span
from bokeh.plotting import figure

from app.ui import theme
from app.ui.theme import Series

Column = Sequence[float] | Sequence[str]

# Between the two papers: readable on either (a glyph cannot follow the page's scheme).
NEUTRAL = "#7b818b"

_LABEL_SPACE = 74  # pixels to the right of the frame, for names at the ends of curves

# Two samples and one word in a row, on a phone as well.
_PAIRED = """
.bk-grid { grid: auto-flow / max-content auto !important; column-gap: 4px !important; }
.bk-item:nth-child(odd) .bk-label { display: none; }
.bk-label { white-space: normal !important; }
"""


# What a chart holds before it is told anything. The page may already show another state's chart
# (the stored one) when ours begins, and is sent only what changes: so everything told must differ
# from what is held, also an empty curve.
_UNTOLD = {"x": [math.nan], "y": [math.nan], "low": [math.nan], "high": [math.nan], "text": [""]}
_NOWHERE = (-2, -1)


class Chart:
    """One Bokeh figure and its named glyphs.

    The x axis has the ticks that it is given (so that a switch of scale is a change of numbers),
    the y axis chooses its own.
    """

    def __init__(self, *, height: int = 320) -> None:
        self.plot: figure = theme.figure(
            height=height,
            x_range=Range1d(start=_NOWHERE[0], end=_NOWHERE[1]),
            y_range=Range1d(start=_NOWHERE[0], end=_NOWHERE[1]),
            min_border_right=_LABEL_SPACE,
        )
        self.plot.xaxis[0].ticker = FixedTicker(ticks=[])
        self.plot.xgrid.visible = False
        self.plot.yaxis[0].ticker.desired_num_ticks = 5
        self.plot.yaxis[0].ticker.num_minor_ticks = 0
        self._sources: dict[str, ColumnDataSource] = {}
        self._glyphs: dict[str, Any] = {}
        self._spans: dict[str, Span] = {}
        self._entries: dict[str, list[LegendItem]] = {}

    # ------------------------------------------------------------------ declared once

    def line(self, name: str, series: Series, **options: Any) -> None:
        source = self._source(name, "x", "y")
        style = {**series.line(), **options}
        self._glyphs[name] = self.plot.line("x", "y", source=source, **style)

    def points(self, name: str, series: Series, **options: Any) -> None:
        source = self._source(name, "x", "y")
        style = {**series.points(), **options}
        self._glyphs[name] = self.plot.scatter("x", "y", source=source, **style)

    def spread(self, name: str, series: Series, **options: Any) -> None:
        """Vertical bars from `low` to `high`."""
        source = self._source(name, "x", "low", "high")
        style = {**series.whisker(), **options}
        self._glyphs[name] = self.plot.segment("x", "low", "x", "high", source=source, **style)

    def labels(self, name: str, color: str) -> None:
        """Words to the right of their points, outside the frame as well: curves named directly."""
        source = self._source(name, "x", "y", "text")
        self._glyphs[name] = self.plot.text(
            "x",
            "y",
            "text",
            source=source,
            level="overlay",  # glyphs proper are cut off at the frame
            text_color=color,
            text_font=fixed_text(theme.FONT),
            text_font_size="14px",
            text_font_style="bold",
            text_baseline="middle",
            x_offset=7,
        )

    def upright(self, name: str) -> None:
        """A thin vertical line that marks one x."""
        span = Span(
            dimension="height",
            location=None,
            line_color=NEUTRAL,
            line_dash=[3, 3],
            level="underlay",
        )
        self.plot.add_layout(span)
        self._spans[name] = span

    def legend(self, rows: Mapping[str, tuple[Sequence[str], Sequence[str], str]]) -> None:
        """A legend under the plot. Each row shows two samples and one word for both: by the row's
        name, the glyphs of the left sample, those of the right one, and the word."""
        items = []
        for name, (left, right, word) in rows.items():
            pair = [
                LegendItem(label=fixed_text(text), renderers=[self._glyphs[g] for g in glyphs])
                for glyphs, text in ((left, ""), (right, word))
            ]
            self._entries[name] = pair
            items += pair
        self.plot.add_layout(Legend(items=items))
        legend = theme.legend_below(self.plot)
        legend.stylesheets = [*legend.stylesheets, _PAIRED]
        legend.glyph_width = 30

    # ------------------------------------------------------------------ changed afterwards

    def show(self, name: str, **columns: Column) -> None:
        """Give a glyph its data. Figures leave out what is not a finite number."""
        data = {key: [_plain(entry) for entry in column] for key, column in columns.items()}
        source = self._sources[name]
        if source.data != data:
            source.data = data

    def visible(self, shown: bool, *names: str, row: str | None = None) -> None:
        """Show glyphs or hide them, and their row in the legend."""
        for name in names:
            _change(self._glyphs[name], visible=shown)
        for item in self._entries[row] if row else ():
            _change(item, visible=shown)

    def reword(self, row: str, word: str) -> None:
        """Another word for a row of the legend."""
        _change(self._entries[row][1], label=fixed_text(word))

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
        source = ColumnDataSource(name=name, data={column: _UNTOLD[column] for column in columns})
        self._sources[name] = source
        return source


# ---------------------------------------------------------------------------- choosing a scale


def nice_ceiling(highest: float) -> float:
    """The next of 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10 × 10ᵏ: a range that seldom jumps."""
    if not math.isfinite(highest) or highest <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(highest))
    steps = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
    return next((step * power for step in steps if step * power >= highest), 10 * power)


def layer_ticks(depth: int) -> dict[float, str]:
    """Ticks for layers 1 … depth, in even steps that leave room for their numbers."""
    step = next(step for step in (1, 2, 4, 8, 16, 32, 64, depth) if depth / step <= 8)
    layers = {*range(step, depth + 1, step)} | ({1} if step > 2 else set())
    return {float(layer): str(layer) for layer in sorted(layers)}


def apart(places: Sequence[float], gap: float) -> list[float]:
    """Move values (two, say the heights of two labels) so far from each other as `gap`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for below, above in pairwise(order):
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
