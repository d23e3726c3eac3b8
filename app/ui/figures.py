"""Figures that are built once and afterwards only change their data and properties.

A `Chart` makes all its models when its glyphs are declared. What comes later (`show`, `ticks`,
`limits` …) sets `ColumnDataSource.data` and plain properties, and only where something differs:
so a document keeps its ids, redraws leak nothing, and a patch holds what is new.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from bokeh.core.properties import value as fixed_text
from bokeh.core.serialization import NumberRep, Serializer
from bokeh.models import AllIndices, CDSView, ColumnDataSource, FixedTicker, Range1d
from bokeh.models.annotations import Legend, LegendItem, Span
from bokeh.models.glyph import Glyph
from bokeh.models.glyphs import Line, Quad, Scatter, Segment, Text, VArea, VBar
from bokeh.models.selections import UnionRenderers
from bokeh.plotting import figure

from app.ui import theme
from app.ui.scales import log_ticks, sound
from app.ui.theme import Series

Column = Sequence[float] | Sequence[str]

# Between the two papers: readable on either (a glyph cannot follow the page's scheme).
NEUTRAL = "#7b818b"

_LABEL_SPACE = 74  # pixels to the right of the frame, for names at the ends of curves


def _in_rows(samples: int) -> str:
    """So many samples and one word in a row of the legend, on a phone as well."""
    columns = "max-content " * (samples - 1) + "auto"
    unnamed = f".bk-item:not(:nth-child({samples}n)) .bk-label {{ display: none; }}\n"
    # BokehJS centers the legend before it knows how wide its place is: the words must fit by
    # themselves, beside the samples and within the frame of an experiment.
    rest = 92 + 40 * samples
    return (
        f".bk-grid {{ grid: auto-flow / {columns} !important; column-gap: 4px !important; }}\n"
        f"{unnamed if samples > 1 else ''}"
        ".bk-label { white-space: normal !important; width: max-content;"
        f" max-width: min(280px, 100vw - {rest}px); }}\n"
    )


# What a chart holds before it is told anything. The page may already show another state's chart
# (the stored one) when ours begins, and is sent only what changes: so everything told must differ
# from what is held, also an empty curve.
_UNTOLD: dict[str, list[Any]] = {
    **{name: [math.nan] for name in ("x", "y", "low", "high", "left", "right")},
    "text": [""],
}
_NOWHERE = (-2, -1)
_NOWHERE_LOG = (1e-30, 1e-29)
_FLOOR = 1e-300  # where a bar begins that reaches down to nothing on a log axis


class Chart:
    """One Bokeh figure and its named glyphs.

    The x axis has the ticks that it is given (so that a switch of scale is a change of numbers), a
    linear y axis chooses its own, and a logarithmic one has those of `log_ticks`. Data are the
    values themselves on either kind of axis; what is not positive is left out of a logarithmic one.
    """

    def __init__(
        self,
        *,
        height: int = 320,
        x_log: bool = False,
        y_log: bool = False,
        label_space: int = _LABEL_SPACE,
    ) -> None:
        self.x_log, self.y_log = x_log, y_log
        x, y = (_NOWHERE_LOG if log else _NOWHERE for log in (x_log, y_log))
        self.plot: figure = theme.figure(
            height=height,
            x_range=Range1d(start=x[0], end=x[1]),
            y_range=Range1d(start=y[0], end=y[1]),
            x_axis_type="log" if x_log else "linear",
            y_axis_type="log" if y_log else "linear",
            min_border_right=label_space,
        )
        self.plot.xaxis[0].ticker = FixedTicker(ticks=[])
        self.plot.xgrid.visible = False
        if y_log:
            ticker = FixedTicker(ticks=[])
            self.plot.yaxis[0].ticker = self.plot.ygrid[0].ticker = ticker
        else:
            self.plot.yaxis[0].ticker.desired_num_ticks = 5
            self.plot.yaxis[0].ticker.num_minor_ticks = 0
        self._policy, self._all = UnionRenderers(), AllIndices()
        self._sources: dict[str, ColumnDataSource] = {}
        self._told: set[str] = set()
        self._glyphs: dict[str, Any] = {}
        self._spans: dict[str, Span] = {}
        self._entries: dict[str, list[LegendItem]] = {}

    # ------------------------------------------------------------------ declared once

    def line(self, name: str, series: Series, **options: Any) -> None:
        style = {**series.line(), **options}
        self._add(name, Line(x="x", y="y", **style), "x", "y")

    def points(self, name: str, series: Series, **options: Any) -> None:
        style = {**series.points(), **options}
        self._add(name, Scatter(x="x", y="y", **style), "x", "y")

    def spread(self, name: str, series: Series, **options: Any) -> None:
        """Vertical bars from `low` to `high`."""
        style = {**series.whisker(), **options}
        glyph = Segment(x0="x", y0="low", x1="x", y1="high", **style)
        self._add(name, glyph, "x", "low", "high")

    def area(self, name: str, series: Series, **options: Any) -> None:
        """A band from `low` to `high`. What is declared after it is drawn over it."""
        style = {**series.band(), **options}
        self._add(name, VArea(x="x", y1="low", y2="high", **style), "x", "low", "high")

    def bars(self, name: str, series: Series, *, width: float = 0.8, **options: Any) -> None:
        """Upright bars from `low` to `high`; `width` in units of x."""
        style = {**series.bar(), "width": width, **options}
        self._add(name, VBar(x="x", bottom="low", top="high", **style), "x", "low", "high")

    def boxes(self, name: str, series: Series, **options: Any) -> None:
        """Boxes from `left` to `right` and from `low` to `high`."""
        style = {**series.bar(), **options}
        glyph = Quad(left="left", right="right", bottom="low", top="high", **style)
        self._add(name, glyph, "left", "right", "low", "high")

    def labels(self, name: str, color: str, **options: Any) -> None:
        """Words to the right of their points, outside the frame as well: curves named directly."""
        glyph = Text(
            x="x",
            y="y",
            text="text",
            text_color=color,
            text_font=fixed_text(theme.FONT),
            text_font_size="14px",
            text_font_style="bold",
            **{"text_baseline": "middle", "x_offset": 7, **options},
        )
        self._add(
            name, glyph, "x", "y", "text", level="overlay"
        )  # glyphs proper are cut off at the frame

    def upright(self, name: str) -> None:
        """A thin vertical line that marks one x."""
        self._span(name, "height")

    def level(self, name: str) -> None:
        """A thin horizontal line that marks one y."""
        self._span(name, "width")

    def legend(self, rows: Mapping[str, tuple[Any, ...]]) -> None:
        """A legend under the plot. Each row shows samples side by side and one word for all of
        them: by the row's name, for each sample its glyphs (a sequence of names), then the word.
        All rows have equally many samples."""
        items = []
        for name, (*samples, word) in rows.items():
            words = [""] * (len(samples) - 1) + [word]
            entries = [
                LegendItem(label=fixed_text(text), renderers=[self._glyphs[g] for g in glyphs])
                for glyphs, text in zip(samples, words, strict=True)
            ]
            self._entries[name] = entries
            items += entries
        (each,) = {len(row) - 1 for row in rows.values()}
        self.plot.add_layout(Legend(items=items))
        legend = theme.legend_below(self.plot)
        legend.ncols = each
        legend.stylesheets = [*legend.stylesheets, _in_rows(each)]
        legend.glyph_width = 30

    # ------------------------------------------------------------------ changed afterwards

    def show(self, name: str, **columns: Column) -> None:
        """Give a glyph its data. Figures leave out what is not a finite number."""
        data = {key: self._drawable(key, column) for key, column in columns.items()}
        source = self._sources[name]
        assert data.keys() == source.data.keys(), name
        if name not in self._told:
            self._told.add(name)
            source.data = data  # all of it: what the page's own chart holds is not known
            return
        new = {key: column for key, column in data.items() if source.data[key] != column}
        if new:
            source.data.update(new)

    def visible(self, shown: bool, *names: str, row: str | None = None) -> None:
        """Show glyphs or hide them, and their row in the legend."""
        for name in names:
            _change(self._glyphs[name], visible=shown)
        for item in self._entries[row] if row else ():
            _change(item, visible=shown)

    def reword(self, row: str, word: str) -> None:
        """Another word for a row of the legend."""
        _change(self._entries[row][-1], label=fixed_text(word))

    def restyle(self, name: str, series: Series) -> None:
        """Draw a line, points or a spread as those of another series."""
        glyph = self._glyphs[name].glyph
        if hasattr(glyph, "marker"):
            style = {key: value for key, value in series.points().items() if key != "size"}
        elif isinstance(glyph, Segment):
            style = {"line_color": series.color}
        else:
            style = series.line()
        _change(glyph, **style)

    def recolor(self, name: str, color: str) -> None:
        """Write labels in another colour."""
        _change(self._glyphs[name].glyph, text_color=color)

    def strength(self, name: str, share: float) -> None:
        """How strongly a glyph is drawn, of 1: what is talked about stands out from the rest."""
        glyph = self._glyphs[name].glyph
        of_band = 0.2 if isinstance(glyph, VArea) else 1.0
        for alpha in {"line_alpha", "fill_alpha", "text_alpha"} & glyph.properties():
            _change(glyph, **{alpha: of_band * share})

    def size(self, name: str, size: float) -> None:
        _change(self._glyphs[name].glyph, size=size)

    def mark(self, name: str, place: float | None) -> None:
        """Move a line made by `upright` or `level`, or take it away."""
        shown = place is not None and math.isfinite(place)
        _change(self._spans[name], location=place if shown else None)

    def limits(self, *, x: tuple[float, float], y: tuple[float, float]) -> None:
        """What the axes span; something that can be drawn, whatever is given."""
        x, y = sound(*x, log=self.x_log), sound(*y, log=self.y_log)
        _change(self.plot.x_range, start=x[0], end=x[1])
        _change(self.plot.y_range, start=y[0], end=y[1])
        if self.y_log:
            self._ticks(self.plot.yaxis[0], log_ticks(*y))

    def ticks(self, places: Mapping[float, str]) -> None:
        """The x axis' ticks, and what is written at each."""
        self._ticks(self.plot.xaxis[0], places)

    def axis_labels(self, *, x: str, y: str) -> None:
        _change(self.plot.xaxis[0], axis_label=x)
        _change(self.plot.yaxis[0], axis_label=y)

    def data(self, name: str) -> dict[str, list[Any]]:
        """What a glyph shows now."""
        return dict(self._sources[name].data)

    # ------------------------------------------------------------------

    def _ticks(self, axis: Any, places: Mapping[float, str]) -> None:
        _change(axis.ticker, ticks=list(places))
        _change(axis, major_label_overrides=dict(places))

    def _span(self, name: str, dimension: Literal["width", "height"]) -> None:
        span = Span(
            dimension=dimension,
            location=None,
            line_color=NEUTRAL,
            line_dash=[3, 3],
            level="underlay",
        )
        self.plot.add_layout(span)
        self._spans[name] = span

    def _drawable(self, key: str, column: Column) -> list[Any]:
        if key == "text":
            return list(column)
        # Python's own numbers, so that arrays travel inline; NaN where there is nothing to draw.
        numbers = [float(entry) for entry in column]
        if self.x_log if key in ("x", "left", "right") else self.y_log:
            least = _FLOOR if key == "low" else math.nan
            numbers = [least if number <= 0 else number for number in numbers]
        return _Numbers(n if math.isfinite(n) else math.nan for n in numbers)

    def _add(self, name: str, glyph: Glyph, *columns: str, **options: Any) -> None:
        """Bokeh's `figure.line` and its like would make two more glyphs, for what is muted or not
        selected; here nothing is. And what only says that all data are meant is one for all."""
        self._sources[name] = source = ColumnDataSource(
            name=name,
            data={column: _UNTOLD[column] for column in columns},
            selection_policy=self._policy,
        )
        view = CDSView(filter=self._all)
        self._glyphs[name] = self.plot.add_glyph(source, glyph, view=view, **options)


# ---------------------------------------------------------------------------- helpers


class _Numbers(list[float]):
    """A column of numbers, any of which may be NaN, and nothing else."""


def _encode(numbers: _Numbers, _: Serializer) -> list[Any]:
    """As Bokeh would, but it asks each of them anew what it is: half of a patch's time."""
    return [number if number == number else _NAN for number in numbers]


_NAN = NumberRep(type="number", value="nan")
Serializer.register(_Numbers, _encode)


def _change(model: Any, **properties: Any) -> None:
    for name, new in properties.items():
        if getattr(model, name) != new:
            setattr(model, name, new)
