"""Colours can be told from paper and from each other, in either scheme and by everyone."""

import itertools
import re

import numpy as np
import pytest
from bokeh.models import Axis, Grid, Plot

from app.nn.wirings import WIRINGS
from app.ui import theme
from app.ui.strings import LANGUAGES, strings

SCHEMES = [theme.LIGHT, theme.DARK]
SERIES = [
    (wiring, kind, series)
    for wiring, kinds in theme.SERIES.items()
    for kind, series in kinds.items()
]

# Machado, Oliveira & Fernandes (2009), severity 1.0, on linear RGB.
BLINDNESS = {
    "none": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark"])
def test_series_stand_out_from_paper_by_three_to_one(scheme):
    for wiring, kind, series in SERIES:
        assert theme.contrast(series.color, scheme.paper) >= 3, (wiring, kind)


@pytest.mark.parametrize("scheme", SCHEMES, ids=["light", "dark"])
def test_text_and_the_edges_of_controls_can_be_made_out(scheme):
    for behind in (scheme.paper, scheme.raised):
        for text in (scheme.ink, scheme.muted, scheme.accent, scheme.warning):
            assert theme.contrast(text, behind) >= 4.5
        for edge in (scheme.edge, scheme.focus):
            assert theme.contrast(edge, behind) >= 3
    assert theme.contrast(scheme.on_accent, scheme.accent) >= 4.5


def test_contrast_is_that_of_the_guidelines():
    assert theme.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert theme.contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)  # WCAG's example
    assert theme.contrast("#ffffff", "#777777") == theme.contrast("#777777", "#ffffff")


def test_wirings_differ_in_colour_dash_and_marker():
    for one, other in itertools.combinations(theme.SERIES.values(), 2):
        assert one.keys() == other.keys()
        for kind in one:
            assert one[kind].color != other[kind].color
            assert one[kind].dash != other[kind].dash
            assert one[kind].marker != other[kind].marker


def test_no_two_series_of_one_figure_are_told_apart_by_colour_alone():
    """A figure holds Post-LN, Pre-LN and a variant in all kinds, or all wirings in one kind."""
    for (wiring, kind, one), (other_wiring, other_kind, other) in itertools.combinations(SERIES, 2):
        base = {wiring, other_wiring} & {"post_ln", "pre_ln"}
        if base or wiring == other_wiring or kind == other_kind:
            assert one.dash != other.dash, (wiring, kind, other_wiring, other_kind)
            assert one.marker != other.marker, (wiring, kind, other_wiring, other_kind)


def test_every_wiring_has_its_series_and_its_name():
    assert set(theme.SERIES) == set(WIRINGS)
    for language in LANGUAGES:
        names = [strings(language)(f"wiring.{wiring}") for wiring in WIRINGS]
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("sight", BLINDNESS)
def test_the_colours_of_wirings_differ_for_every_sight(sight):
    def apart(one: str, other: str) -> float:
        """ΔE*ab; 2.3 is just noticed."""
        return float(np.linalg.norm(lab(one, BLINDNESS[sight]) - lab(other, BLINDNESS[sight])))

    assert apart(theme.POST, theme.PRE) > 30
    for color in theme.VARIANTS.values():
        assert min(apart(color, theme.POST), apart(color, theme.PRE)) > 20
    for one, other in itertools.combinations(theme.VARIANTS.values(), 2):
        assert apart(one, other) > (20 if sight == "none" else 9)


def test_either_scheme_sets_all_colours_and_either_can_be_asked_for():
    sheet = theme.css()
    names = [set(re.findall(r"(--nl-[a-z-]+): #", block)) for block in blocks(sheet)]
    colors = names[1]  # the dark one, as the system asks for it; the first has the series besides
    assert {"--nl-paper", "--nl-ink", "--nl-focus"} <= colors
    assert all(colors <= others for others in names)
    assert ':root[data-theme="dark"]' in sheet
    assert ':root:not([data-theme="light"])' in sheet


def test_bokeh_looks_up_every_name_that_the_sheet_gives_to_figures():
    properties = Plot.properties() | Axis.properties() | Grid.properties()
    for name in theme.FIGURE:
        assert name.removeprefix("--bk-").replace("-", "_") in properties


def test_a_figure_is_as_wide_as_its_place_and_listens_to_no_wheel_and_no_pan():
    plot = theme.figure(x_axis_label="N", height=300)
    assert plot.sizing_mode == "stretch_width"
    assert plot.toolbar.tools == []
    assert plot.toolbar_location is None


def test_a_legend_below_keeps_its_entries():
    plot = theme.figure()
    plot.line([1, 2], [1, 2], legend_label="Post-LN", **theme.SERIES["post_ln"]["estimate"].line())
    legend = theme.legend_below(plot)
    assert legend in plot.below
    assert [item.label.value for item in legend.items] == ["Post-LN"]


def blocks(sheet: str) -> list[str]:
    return re.findall(r":root[^{]*\{([^}]*)\}", sheet)


def lab(color: str, sight: np.ndarray) -> np.ndarray:
    """CIE L*a*b* (D65) of a colour as it is seen with that sight."""
    srgb = np.array([int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(sight @ linear, 0, 1)
    to_xyz = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    t = to_xyz @ seen / np.array([0.95047, 1.0, 1.08883])
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])
