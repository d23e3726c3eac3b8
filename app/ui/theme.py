"""The look, said once: the page's colours, the series, and how a figure is dressed.

Figures are canvases, so a style sheet cannot reach their ink. BokehJS 3.9 reads most of it from
custom properties, though: a visual that a model names `axis_label_text_color` looks up
`--bk-axis-label-text-color` on the drawing element first, and custom properties pass through
shadow roots. So `css()` gives both the page and the figures their colours, in either scheme, and
a figure has only to be painted again when the scheme changes (`web/figures.js` does that).

Glyphs do not read custom properties. A series' colour therefore is one colour for both schemes,
chosen to stand out by at least 3 : 1 from paper of either (WCAG 2.2, 1.4.11).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bokeh.models.annotations import Legend
from bokeh.plotting import figure as bokeh_figure

# ---------------------------------------------------------------------------- series


@dataclass(frozen=True)
class Series:
    """How one curve is drawn: colour, dash and marker, never colour alone."""

    color: str
    dash: tuple[int, ...]  # pixels on, off, on, off …; empty is solid
    marker: str  # a Bokeh marker
    filled: bool = True
    width: float = 2.0
    size: int = 9

    def line(self) -> dict[str, Any]:
        """Arguments for `figure.line`."""
        return {
            "line_color": self.color,
            "line_dash": list(self.dash),
            "line_width": self.width,
        }

    def points(self) -> dict[str, Any]:
        """Arguments for `figure.scatter`."""
        return {
            "marker": self.marker,
            "size": self.size,
            "line_color": self.color,
            "line_width": 2,
            "fill_color": self.color if self.filled else None,
        }

    def band(self) -> dict[str, Any]:
        """Arguments for `figure.varea`."""
        return {"fill_color": self.color, "fill_alpha": 0.2}

    def bar(self) -> dict[str, Any]:
        """Arguments for `figure.vbar`: full and framed, or a frame alone."""
        return {
            "line_color": self.color,
            "line_width": 2,
            "fill_color": self.color,
            "fill_alpha": 0.6 if self.filled else 0.0,
        }

    def whisker(self) -> dict[str, Any]:
        """Arguments for `figure.segment`."""
        return {"line_color": self.color, "line_width": 1.5}


POST = "#cc5500"  # vermilion and blue stay apart for every common colour blindness
PRE = "#2f7ec7"

# SERIES[wiring][kind]. Within a kind all wirings differ in all three of colour, dash and marker. A
# variant is drawn beside Post-LN and Pre-LN, so of these two none shares a dash or a marker with
# any other series, whatever its kind: a print in grey can be read as well.
SERIES: dict[str, dict[str, Series]] = {
    "post_ln": {
        "estimate": Series(POST, (5, 4), "circle", filled=False),
        "measured": Series(POST, (6, 2), "circle_dot", filled=True),
        "theory": Series(POST, (), "x", filled=False, size=7),
        "linear": Series(POST, (2, 2), "inverted_triangle", filled=False, width=1.5),
        "log": Series(POST, (12, 3, 2, 3), "hex", filled=False, width=1.5),
    },
    "pre_ln": {
        "estimate": Series(PRE, (2, 4), "square", filled=False),
        "measured": Series(PRE, (6, 2, 1, 2), "diamond", filled=True, size=11),
        "theory": Series(PRE, (14, 3), "cross", filled=False, size=7),
        "linear": Series(PRE, (2, 2, 2, 6), "triangle", filled=False, width=1.5),
        "log": Series(PRE, (12, 3, 2, 3, 2, 3), "star", filled=False, width=1.5),
    },
}

# Colours between both papers leave little room for eleven: what counts is that each variant stands
# apart from Post-LN and Pre-LN for every sight, and that any two differ for most.
VARIANTS = {
    "deepnorm": "#8033ff",
    "admin": "#ff1a53",
    "admin_constant": "#935867",
    "sandwich": "#576c41",
    "olmo2": "#aa4182",
    "pre_rms": "#808cb2",
    "normformer": "#9f8060",
    "hyper_connections": "#cc33ff",
    "mhc": "#8c8c8c",
}
_DASHES = (
    (9, 3),
    (3, 3),
    (16, 4),
    (8, 3, 2, 3),
    (1, 3),
    (18, 3, 6, 3),
    (10, 3, 1, 3, 1, 3),
    (4, 6),
    (5, 2, 5, 6),
    (7, 7),
    (3, 2, 9, 2),
)
_MARKERS = (
    "asterisk",
    "square_cross",
    "triangle_dot",
    "circle_x",
    "diamond_cross",
    "plus",
    "hex_dot",
    "y",
    "square_pin",
    "star_dot",
    "circle_cross",
    "triangle_pin",
    "square_x",
    "diamond_dot",
    "dash",
    "circle_y",
    "square_dot",
    "dot",
)


def _variants() -> dict[str, dict[str, Series]]:
    """Dashes and markers in turn: for every kind each wiring's is one further in the list, and for
    every wiring each kind's is two further (dashes) or three (markers)."""
    thin = {"linear", "log"}
    return {
        wiring: {
            kind: Series(
                color,
                _DASHES[(row + 2 * column) % len(_DASHES)],
                _MARKERS[(row + 3 * column) % len(_MARKERS)],
                filled=kind == "measured",
                width=1.5 if kind in thin else 2.0,
                size=10 if kind == "measured" else 9,
            )
            for column, kind in enumerate(("measured", "estimate", "theory", "linear", "log"))
        }
        for row, (wiring, color) in enumerate(VARIANTS.items())
    }


SERIES |= _variants()

# ---------------------------------------------------------------------------- schemes


@dataclass(frozen=True)
class Scheme:
    """The page's colours in one scheme. Each is exported as `--nl-<name>`."""

    paper: str  # behind text and figures
    raised: str  # boxes, the track of a slider
    ink: str
    muted: str  # still at least 4.5 : 1 on paper
    rule: str  # lines that only separate
    edge: str  # lines that show where a control is: 3 : 1
    accent: str
    on_accent: str
    focus: str
    warning: str
    grid: str


LIGHT = Scheme(
    paper="#fdfcfa",
    raised="#f1efea",
    ink="#1c1f24",
    muted="#5a606a",
    rule="#dcd8d0",
    edge="#858a93",
    accent="#1d5f9e",
    on_accent="#ffffff",
    focus="#7a3ff2",
    warning="#8a4b00",
    grid="#e4e1da",
)
DARK = Scheme(
    paper="#15181c",
    raised="#22262c",
    ink="#e9e7e2",
    muted="#a5abb5",
    rule="#353a42",
    edge="#767d88",
    accent="#7db9f0",
    on_accent="#0d1013",
    focus="#c3a6ff",
    warning="#f0b46a",
    grid="#2b3037",
)

FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', "
    "'Noto Sans CJK SC', sans-serif"
)

# What BokehJS looks up, in the page's own terms: Bokeh's names of properties, with dashes. A name
# given here draws even what a model has switched off (`minor_grid_line_color = None`).
FIGURE: dict[str, str] = {
    "--bk-outline-line-color": "var(--nl-rule)",
    "--bk-grid-line-color": "var(--nl-grid)",
    "--bk-axis-line-color": "var(--nl-edge)",
    "--bk-major-tick-line-color": "var(--nl-edge)",
    "--bk-axis-label-text-color": "var(--nl-ink)",
    "--bk-axis-label-text-font": "var(--nl-font)",
    "--bk-axis-label-text-font-style": "normal",
    "--bk-axis-label-text-font-size": "14px",
    "--bk-major-label-text-color": "var(--nl-muted)",
    "--bk-major-label-text-font": "var(--nl-font)",
    "--bk-major-label-text-font-size": "13px",
}

# A legend is made of elements in a shadow root and asks for colours before it stands in the page.
LEGEND = """
:host { background-color: var(--nl-paper, #fdfcfa) !important; max-width: 100%; }
.bk-label { color: var(--nl-ink, #1c1f24) !important; font: 13px/1.4 var(--nl-font) !important; }
"""


def css() -> str:
    """The style sheet of colours: for either scheme, chosen by system or by `data-theme`. What is
    marked `data-wiring` has that wiring's colour as `--wiring`."""
    light, dark = _block(LIGHT), _block(DARK)
    series = "".join(
        f"  --nl-series-{wiring.replace('_', '-')}: {kinds['estimate'].color};\n"
        for wiring, kinds in SERIES.items()
    )
    wirings = "".join(
        f'[data-wiring="{wiring}"] {{ --wiring: var(--nl-series-{wiring.replace("_", "-")}); }}\n'
        for wiring in SERIES
    )
    figure_ink = "".join(f"  {name}: {value};\n" for name, value in FIGURE.items())
    return (
        f":root {{\n  color-scheme: light;\n{light}  --nl-font: {FONT};\n{series}{figure_ink}}}\n"
        "@media (prefers-color-scheme: dark) {\n"
        f':root:not([data-theme="light"]) {{\n  color-scheme: dark;\n{dark}}}\n}}\n'
        f':root[data-theme="dark"] {{\n  color-scheme: dark;\n{dark}}}\n'
        # While it prints, the page says so itself: canvases are painted before print styles hold.
        f":root[data-printing][data-printing] {{\n  color-scheme: light;\n{light}}}\n{wirings}"
    )


def contrast(one: str, other: str) -> float:
    """Contrast of two `#rrggbb` colours, 1 … 21 (WCAG 2.2, relative luminance)."""
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


# ---------------------------------------------------------------------------- figures


def figure(*, height: int = 320, **options: Any) -> Any:
    """A Bokeh figure as every figure here is: wide as its place, and deaf to wheel and pan.

    Without a tool that listens to pan or scroll BokehJS gives the canvas `touch-action: auto`, so
    the page scrolls over it. Axis labels must not hold `$…$`: it would fetch MathJax.
    """
    plot = bokeh_figure(
        sizing_mode="stretch_width",
        min_width=0,
        tools="",
        toolbar_location=None,
        height=height,
        output_backend="canvas",
        background_fill_color=None,  # the page's paper shows through; besides, BokehJS clears its
        border_fill_color=None,  # canvas half a pixel short, and old paper would stay at the edge
        **options,
    )
    plot.toolbar.logo = None
    plot.outline_line_color = LIGHT.rule
    plot.axis.axis_label_text_font_style = "normal"
    plot.axis.axis_label_text_color = LIGHT.ink
    plot.axis.major_label_text_color = LIGHT.muted
    plot.axis.minor_tick_line_color = None
    plot.axis.axis_line_color = LIGHT.edge
    plot.grid.grid_line_color = LIGHT.grid
    return plot


def legend_below(plot: Any) -> Legend:
    """Move the figure's legend under it, where it covers no curve on a phone; returns it."""
    legend: Legend = plot.legend[0]
    plot.add_layout(legend, "below")
    legend.stylesheets = [LEGEND]
    legend.location = "center"
    legend.ncols = 2
    legend.nrows = "auto"
    legend.orientation = "horizontal"
    legend.border_line_color = None
    legend.padding = 4  # type: ignore[assignment]
    legend.margin = 4
    legend.glyph_width = 34  # long enough to tell the dashes apart
    return legend


# ---------------------------------------------------------------------------- helpers


def _block(scheme: Scheme) -> str:
    colors = {name: value for name, value in vars(scheme).items() if isinstance(value, str)}
    return "".join(f"  --nl-{name.replace('_', '-')}: {value};\n" for name, value in colors.items())


def _luminance(color: str) -> float:
    def linear(channel: float) -> float:
        return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(int(color[i : i + 2], 16) / 255) for i in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
