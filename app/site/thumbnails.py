"""The front page's small figures, one of each lesson: static SVG, drawn from what the probes give.

Dots are measured, lines are theory (or a claim that a lesson tries). A figure has few words and
fewer ticks, and leads to the lesson that has the real one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from typing import Any

from app.nn.wirings import BASE
from app.probes import attenuation, neighbours, norms, sensitivity
from app.probes.theory import sensitivity_curve
from app.ui.strings import Strings
from app.ui.theme import SERIES

_WIDTH, _HEIGHT = 280, 176
_LEFT, _RIGHT, _TOP, _BOTTOM = 34, 62, 24, 36  # room for ticks, the curves' names, both axes' names


@dataclass(frozen=True)
class Curve:
    """A curve by the name that stands at its end; `dots` are the points that were measured."""

    name: str
    line: Sequence[tuple[float, float]]
    dots: Sequence[tuple[float, float]] = ()
    wiring: str = ""


@dataclass(frozen=True)
class Picture:
    """What is drawn; ticks by place, as they are written."""

    curves: Sequence[Curve]
    x_ticks: Mapping[float, str]
    y_ticks: Mapping[float, str]
    log: bool = False


def thumbnail(slug: str, say: Strings) -> str:
    """The figure of a lesson, "" if it has none. Its words stand under `front.figure.<slug>`."""
    if slug not in _PICTURES:
        return ""
    picture = _PICTURES[slug](say)
    told, x_name, y_name = (
        escape(say(f"front.figure.{slug}.{part}")) for part in ("told", "x", "y")
    )
    return (
        f'<svg class="thumbnail" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{told}">'
        f'<text x="0" y="12">{y_name}</text>'
        f'<text class="end" x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 4}">{x_name}</text>'
        f"{''.join(_parts(picture))}</svg>"
    )


# ---------------------------------------------------------------------------- what is drawn


def _warmup(say: Strings) -> Picture:
    depths, found = _sensitivity()
    every = range(1, max(depths) + 1)
    return Picture(
        [
            Curve(
                say(f"wiring.{w}"),
                list(zip(every, sensitivity_curve(w, every, 1, 5), strict=True)),
                list(zip(depths, found[w], strict=True)),
                w,
            )
            for w in BASE
        ],
        {1: "1", 12: "12", 24: "24"},
        {0: "0", 10: "10", 20: "20"},
    )


def _signal(say: Strings) -> Picture:
    return Picture(_by_layer(_norms(), say), {1: "1", 12: "12"}, {0: "0", 5: "5", 10: "10"})


def _attenuation(say: Strings) -> Picture:
    found = _attenuated()
    back = [max(found["layer"]) - layer for layer in found["layer"]]
    claim = list(zip(back, found["claim"], strict=True))
    measured = list(zip(back, found["post_ln_geomean"], strict=True))
    return Picture(
        [
            Curve(say("front.figure.attenuation.measured"), measured, measured[::2], "post_ln"),
            Curve(say("front.figure.attenuation.claim"), claim),
        ],
        {0: "0", 12: "12", 24: "24"},
        {1.0: "1", 1e-10: "10⁻¹⁰", 1e-20: "10⁻²⁰"},
        log=True,
    )


def _depth(say: Strings) -> Picture:
    return Picture(
        _by_layer(_changes(), say), {1: "1", 12: "12", 24: "24"}, {0: "0", 0.5: "½", 1: "1"}
    )


_PICTURES: dict[str, Callable[[Strings], Picture]] = {
    "warmup": _warmup,
    "signal": _signal,
    "attenuation": _attenuation,
    "depth": _depth,
}


def _by_layer(found: Mapping[str, Any], say: Strings) -> list[Curve]:
    """Both wirings' measured dots on their theory curve, a dot a layer, counted from 1."""
    layers = range(1, len(found["layer"]) + 1)
    return [
        Curve(
            say(f"wiring.{w}"),
            list(zip(layers, found[f"{w}_theory"], strict=True)),
            list(zip(layers, found[w], strict=True)),
            w,
        )
        for w in BASE
    ]


# ---------------------------------------------------------------------------- what is measured


@cache
def _sensitivity() -> tuple[list[int], Mapping[str, Any]]:
    depths = [1, 2, 4, 6, 8, 12, 16, 24]
    return depths, _last(sensitivity.measure({"depths": depths, "seeds": 24}))


@cache
def _norms() -> Mapping[str, Any]:
    return _last(norms.measure({"width": 256, "seeds": 12}))


@cache
def _attenuated() -> Mapping[str, Any]:
    return _last(attenuation.measure({"seeds": 12}))


@cache
def _changes() -> Mapping[str, Any]:
    return _last(neighbours.measure({"seeds": 12}))


def _last(results: Iterable[Any]) -> Mapping[str, Any]:
    """The columns of a probe that has come to its end."""
    *_, last = (result for result in results if result is not None)
    columns: Mapping[str, Any] = last.columns
    return columns


# ---------------------------------------------------------------------------- how it is drawn


def _parts(picture: Picture) -> Iterator[str]:
    points = [p for curve in picture.curves for p in (*curve.line, *curve.dots)]
    scale = math.log10 if picture.log else float
    x_low, x_high = min(x for x, _ in points), max(x for x, _ in points)
    heights = [scale(y) for y in [*(y for _, y in points), *picture.y_ticks]]
    y_low, y_high = min(heights), max(heights)
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT

    def across(x: float) -> float:
        return _LEFT + (x - x_low) / (x_high - x_low) * (right - _LEFT)

    def up(y: float) -> float:
        return bottom - (scale(y) - y_low) / (y_high - y_low) * (bottom - _TOP)

    yield f'<path class="axis" d="M{_LEFT} {_TOP}V{bottom}H{right}"/>'
    for x, written in picture.x_ticks.items():
        yield f'<text class="middle" x="{across(x):.1f}" y="{bottom + 15}">{written}</text>'
    for y, written in picture.y_ticks.items():
        yield f'<text class="end" x="{_LEFT - 5}" y="{up(y) + 4:.1f}">{written}</text>'
    for curve in picture.curves:
        line = [(across(x), up(y)) for x, y in curve.line]
        dots = [(across(x), up(y)) for x, y in curve.dots]
        yield _curve(curve, line, dots)


def _curve(
    curve: Curve, line: Sequence[tuple[float, float]], dots: Sequence[tuple[float, float]]
) -> str:
    style = f' data-wiring="{curve.wiring}"' if curve.wiring else ""
    dash = SERIES[curve.wiring]["theory"].dash if curve.wiring else (2, 4)
    dashed = f' stroke-dasharray="{" ".join(map(str, dash))}"' if dash else ""
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in line)
    end_x, end_y = max(line)
    marks = "".join(_mark(curve.wiring, x, y) for x, y in dots)
    return (
        f'<g{style}><polyline class="curve"{dashed} points="{points}"/>{marks}'
        f'<text class="curve-name" x="{end_x + 8:.1f}" y="{end_y + 4:.1f}">'
        f"{escape(curve.name)}</text></g>"
    )


def _mark(wiring: str, x: float, y: float) -> str:
    """Post-LN's are round and Pre-LN's are diamonds, as in the lessons' figures."""
    if wiring == "post_ln":
        return f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="2.8"/>'
    return f'<path class="dot" d="M{x:.1f} {y - 4:.1f}l4 4-4 4-4-4z"/>'
