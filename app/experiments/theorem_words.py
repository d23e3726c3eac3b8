"""What the theorem assumes, each held against what ran, and what its signs are in the figure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

from app.experiments.gradients_answers import exponent
from app.experiments.theorem_figures import EXPONENT, bound_shape, wider_theory
from app.nn.ops import HEAD_WIDTH
from app.nn.wirings import BASE
from app.probes.result import Result
from app.ui import markup
from app.ui.numbers import percent, significant, with_error
from app.ui.strings import Strings

CLOSE = 0.1  # of a curve for d → ∞: up to there a width counts as large

# Read off Xiong et al. 2020, Figure 3(c): Pre-LN's last gradient in stacks of 6 and of 14 layers.
READ_OFF = {6: 0.3, 14: 0.13}

Holds = Literal["yes", "no", "open"]


class Assumption(NamedTuple):
    """`name` is its key among the texts; `fact` is what it is here, in words."""

    name: str
    holds: Holds
    fact: str


def assumptions(say: Strings, last: Result) -> list[Assumption]:
    """All that the theorem takes for granted, and whether the stacks that ran have it."""
    config = last.config
    uniform, width = config["attention"] == "uniform", config["width"]
    found = [
        _one(say, "uniform", uniform),
        _one(say, "head", uniform, heads=width // HEAD_WIDTH),
        _one(say, "square", config["ff"] == 1, ff=config["ff"]),
        _one(say, "xavier", True),
        _one(say, "norm", True),
        _one(say, "input", True),
        _one(say, "loss", config["loss"] == "ce"),
        _one(say, "matrix", True),
    ]
    off = furthest_from_theory(last)
    if off is None:
        found.append(Assumption("wide", "open", say("theorem.assumes.wide.open", width=width)))
    else:
        words = say("theorem.assumes.wide.fact", width=width, share=_percent(say, off))
        found.append(Assumption("wide", "yes" if off <= CLOSE else "no", words))
    return [*found, Assumption("bounded", "open", say("theorem.assumes.bounded.open"))]


def _one(say: Strings, name: str, holds: bool, **values: Any) -> Assumption:
    answer: Holds = "yes" if holds else "no"
    return Assumption(name, answer, say(f"theorem.assumes.{name}.{answer}", **values))


def furthest_from_theory(last: Result) -> float | None:
    """How far a geometric mean lies from its curve for d → ∞, at worst, as a share of it."""
    shares = [
        abs(value / curve - 1)
        for wiring in BASE
        for value, curve in zip(
            last.columns[f"{wiring}_geomean"],
            last.columns.get(f"{wiring}_theory", []),
            strict=f"{wiring}_theory" in last.columns,
        )
    ]
    return max((share for share in shares if math.isfinite(share)), default=None)


def assumption_list(say: Strings, found: Sequence[Assumption]) -> str:
    """As HTML: a sign, the assumption, and what it is here. The sign is said in words too."""
    items = []
    for each in found:
        verdict = markup.text(say(f"theorem.holds.{each.holds}"))
        name = markup.text(say(f"theorem.assumes.{each.name}.name"))
        items.append(
            f'<li data-assumption="{each.name}" data-holds="{each.holds}">'
            f"<span>{name}</span> <strong>{verdict}</strong> "
            f"<span>{markup.text(each.fact)}</span></li>"
        )
    return f"<ul>{''.join(items)}</ul>"


def agreement(say: Strings, last: Result) -> list[str]:
    """Whether the measured powers of L are those of the bounds, as far as the errors tell."""
    slopes = {wiring: exponent(last, wiring) for wiring in BASE}
    if not all(math.isfinite(slope["mean"]) for slope in slopes.values()):
        return []
    values = {
        "post": with_error(slopes["post_ln"]["mean"], slopes["post_ln"]["se"]),
        "pre": with_error(slopes["pre_ln"]["mean"], slopes["pre_ln"]["se"]),
        "first": last.columns["depth"][0],
        "last": last.columns["depth"][-1],
    }
    found = [say("theorem.agreement", **values)]
    if not all(math.isfinite(slope["se"]) for slope in slopes.values()):
        return found
    away = {w: abs(slope["mean"] - EXPONENT[w]) / slope["se"] for w, slope in slopes.items()}
    if max(away.values()) <= 2:
        return [*found, say("theorem.both")]
    for wiring, errors in away.items():
        kind = "within" if errors <= 2 else "beyond"
        name, bound = say(f"wiring.{wiring}"), say(f"theorem.exponent.{wiring}")
        words = significant(errors, 2)
        found.append(say(f"theorem.{kind}", wiring=name, exponent=bound, errors=words))
    return found


def reading(say: Strings, last: Result, term: str) -> list[str]:
    """What the pressed sign is in the figure, with its numbers."""
    depths, columns, seeds = last.columns["depth"], last.columns, last.done
    ends = {"first": depths[0], "last": depths[-1]}
    known: Mapping[str, Any] = {"width": last.config["width"], "n": seeds, **ends}
    if term in BASE:
        low, high = columns[f"{term}_geomean"][0], columns[f"{term}_geomean"][-1]
        return [say(f"theorem.lit.{term}", **known, low=_short(low), high=_short(high))]
    if term == "norm":
        post, pre = (_short(columns[f"{wiring}_geomean"][-1]) for wiring in BASE)
        return [say("theorem.lit.norm", **known, post=post, pre=pre)]
    if term == "bound":
        post, pre = (_short(bound_shape(last, wiring)[-1]) for wiring in BASE)
        return [say("theorem.lit.bound", **known, post=post, pre=pre)]
    if term == "width":
        return [_of_width(say, last)]
    if term == "depth":
        (first, high), (end, low) = READ_OFF.items()
        slope = math.log(low / high) / math.log(end / first)
        known = {**known, "high": high, "low": low, "from": first, "to": end}
        return [
            say("theorem.lit.depth", **known),
            say("theorem.read_off", **known, slope=significant(slope, 2)),
        ]
    return [say(f"theorem.lit.{term}", **known)]


def _of_width(say: Strings, last: Result) -> str:
    width = last.config["width"]
    wider = wider_theory(last, "post_ln")
    allowed = 2 * math.sqrt(math.log(2 * width) / math.log(width))
    if not wider:
        return say("theorem.lit.width_unknown", allowed=significant(allowed))
    times = wider[-1] / last.columns["post_ln_theory"][-1]
    return say(
        "theorem.lit.width",
        width=width,
        wider=2 * width,
        times=significant(times),
        allowed=significant(allowed),
    )


def _short(value: float) -> str:
    return significant(value, 2)


def _percent(say: Strings, share: float) -> str:
    return say("experiment.percent", n=percent(float(f"{share:.2g}")))
