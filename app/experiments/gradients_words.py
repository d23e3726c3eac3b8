"""What the gradients experiments say of their answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from app.experiments.gradients_answers import Answers, exponent, in_words, verdict
from app.nn.wirings import BASE
from app.probes import NUMBERS_VERSION
from app.probes.result import Result
from app.ui.markup import Table
from app.ui.numbers import significant, with_error
from app.ui.strings import Strings

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment


def exponents(say: Strings, last: Result) -> list[str]:
    """With which power of L the last layer's gradient goes."""
    slopes = {wiring: exponent(last, wiring) for wiring in BASE}
    if not all(math.isfinite(slope["mean"]) for slope in slopes.values()):
        return not_finite(say, last, "depth")
    depths = last.columns["depth"]
    known = {
        "post": with_error(slopes["post_ln"]["mean"], slopes["post_ln"]["se"]),
        "pre": with_error(slopes["pre_ln"]["mean"], slopes["pre_ln"]["se"]),
        "matrix": in_words(last.config["matrix"]),
        "first": depths[0],
        "last": depths[-1],
    }
    found = [say("gradients.exponents", **known)]
    if "theory" in slopes["post_ln"]:
        post, pre = (theory(slopes[wiring]) for wiring in BASE)
        found = [say("gradients.exponents_theory", theory_post=post, theory_pre=pre, **known)]
    if verdict(slopes["post_ln"]) == "flat":
        found.append(say("gradients.independent"))
    return found


def not_finite(say: Strings, result: Result, rows: str) -> list[str]:
    """What overflowed, and in which layer or stack first."""
    found = []
    for wiring in BASE:
        column = result.columns[wiring]
        bad = [row for row, value in enumerate(column) if not math.isfinite(value)]
        if bad:
            value, where = column[bad[0]], result.columns[rows][bad[0]]
            found.append(
                say(
                    f"gradients.not_finite.{rows}",
                    wiring=say(f"wiring.{wiring}"),
                    where=where,
                    value="NaN" if math.isnan(value) else significant(value),
                )
            )
    return found


def theory(slope: Mapping[str, float]) -> str:
    """A theoretical exponent: what rounding leaves of a zero is zero."""
    return significant(round(slope["theory"], 3))


def slopes_table(say: Strings, answers: Answers) -> Table:
    """All that the sentences read: a row per wiring."""
    names = ("wiring", "geomean", "mean", "per_layer", "exponent", "theory")
    rows = []
    for wiring in BASE:
        ratio, power = answers.ratio(wiring), answers.exponent(wiring)
        rows.append(
            [
                say(f"wiring.{wiring}"),
                with_error(ratio["geomean"], ratio["geomean_se"]),
                with_error(ratio["mean"], ratio["se"]),
                with_error(answers.per_layer(wiring)["mean"], answers.per_layer(wiring)["se"]),
                with_error(power["mean"], power["se"]),
                theory(power) if "theory" in power else "–",
            ]
        )
    return Table(
        name="slopes",
        caption=say("gradients.table.slopes", depth=answers.depth, matrix=in_words(answers.matrix)),
        columns=[(name, say(f"gradients.table.{name}")) for name in names],
        rows=rows,
    )


def columns_like(result: Result, wanted: Callable[[str], bool]) -> Result:
    """The result with only some of its columns, to be shown as a table of its own."""
    columns = {name: column for name, column in result.columns.items() if wanted(name)}
    return replace(result, columns=columns)


def what_ran(experiment: Experiment, config: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What ran: keys of terms, and descriptions."""
    say = experiment.say
    memory = "none" if config["stack"] == "encoder" else config["memory"]
    return [
        ("experiment.details.stacks", experiment.stack_in_words(config)),
        ("gradients.details.kind", say(f"gradients.details.kind_{config['stack']}")),
        ("gradients.details.memory", say(f"gradients.details.memory_{memory}")),
        ("experiment.details.attention", experiment.attention_in_words(config)),
        ("gradients.details.loss", say(f"gradients.details.loss_{config['loss']}")),
        ("experiment.details.seeds", experiment.seeds_in_words(config)),
        ("gradients.details.last", say("gradients.details.last_text")),
        ("experiment.details.version", NUMBERS_VERSION),
    ]
