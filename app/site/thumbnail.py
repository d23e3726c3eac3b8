"""The front page's small figure: static SVG, drawn from the theory's curves."""

from __future__ import annotations

from html import escape

from app.probes.options import OPTIONS
from app.probes.theory import sensitivity_curve
from app.ui.strings import Strings

WIRINGS = ("post_ln", "pre_ln")
_WIDTH, _HEIGHT = 272, 168
_LEFT, _RIGHT, _TOP, _BOTTOM = 6, 66, 8, 24  # room for the curves' names at the right


def thumbnail(say: Strings) -> str:
    """How far the output moves when all weights change, against depth, for both wirings."""
    deepest = int(OPTIONS["depth"].high or 0)
    depths = range(1, deepest + 1)
    ff, tokens = OPTIONS["ff"].default, OPTIONS["tokens"].default
    curves = {name: sensitivity_curve(name, depths, ff, tokens) for name in WIRINGS}
    highest = max(map(max, curves.values()))

    def x(depth: float) -> float:
        return _LEFT + (depth - 1) / (deepest - 1) * (_WIDTH - _LEFT - _RIGHT)

    def y(value: float) -> float:
        return _HEIGHT - _BOTTOM - value / highest * (_HEIGHT - _TOP - _BOTTOM)

    parts = [f'<path class="axis" d="M{_LEFT} {_TOP}V{y(0):g}H{x(deepest):g}"/>']
    for place, (name, curve) in enumerate(curves.items()):
        points = " ".join(f"{x(n):.1f},{y(v):.1f}" for n, v in zip(depths, curve, strict=True))
        dash = " dash" if place else ""
        parts.append(
            f'<g data-wiring="{name}"><polyline class="curve{dash}" points="{points}"/>'
            f'<text class="curve-name" x="{x(deepest) + 7:g}" y="{y(curve[-1]) + 4:.1f}">'
            f"{escape(say(f'wiring.{name}'))}</text></g>"
        )
    parts.append(
        f'<text x="{_LEFT}" y="{_HEIGHT - 6}">{escape(say("site.thumbnail_axis"))} →</text>'
    )
    return (
        f'<svg class="thumbnail" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        f' aria-label="{escape(say("site.thumbnail"))}">{"".join(parts)}</svg>'
    )
