"""What a reader takes away: the numbers as CSV, and the command that prints them in a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from app.probes import NUMBERS_VERSION
from app.probes.options import OPTIONS
from app.probes.result import Result, csv_of, csv_rows
from app.ui import markup, references
from app.ui.numbers import unadorned

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment

_VERSION = f"version of the numbers: {NUMBERS_VERSION}"


def files(experiment: Experiment) -> list[dict[str, str]]:
    """A CSV file per newest answer, `name` and `text`; where nothing was computed, one per table.

    Comment lines (`#`) say where the numbers come from: probe, seed, every setting, the version of
    the numbers, and the command that prints the same. (The page puts its own address before them.)
    """
    results = {name: of for name, of in experiment.results().items() if of.whole}
    if results:
        return [
            {"name": name, "text": _commented(_about(experiment, result)) + csv_of(result)}
            for name, result in results.items()
        ]
    settings = [f"{name}: {text}" for name, text in experiment.state().items()]
    about = [f"NormLab: {experiment.name}", *settings, _VERSION]
    return [
        {"name": table.name, "text": _commented(about) + _table(table)}
        for table in experiment.tables()
    ]


def command(result: Result) -> str:
    """The line that prints a result in a terminal; every option is said, so no default matters."""
    options = [
        f"--{name} {_text(name, value)}" for name, value in result.config.items() if name in OPTIONS
    ]
    return " ".join(["python -m app probe", result.probe, *options])


def commands(results: Iterable[Result]) -> str:
    """The lines for all results, as HTML; none for no result."""
    lines = dict.fromkeys(command(result) for result in results)
    inner = "".join(f"<li><code>{escape(line)}</code></li>" for line in lines)
    return f"<ul>{inner}</ul>" if inner else ""


def _about(experiment: Experiment, result: Result) -> list[str]:
    done = f"done: {result.done} of {result.total}"
    settings = [f"{name}: {_text(name, value)}" for name, value in result.config.items()]
    title = f"NormLab: {experiment.name}, {result.probe}"
    return [title, f"{command(result)} --csv", done, *settings, _VERSION]


def _commented(lines: Iterable[str]) -> str:
    return "".join(f"# {line}\n" for line in lines)


def _table(table: markup.Table) -> str:
    rows = [[_plain(cell) for cell in row] for row in table.numbers or table.rows]
    return csv_rows([name for name, _ in table.columns], rows)


def _plain(cell: str | float) -> str | float:
    return unadorned(references.plain(cell)) if isinstance(cell, str) else cell


def _text(name: str, value: Any) -> str:
    option = OPTIONS.get(name)
    if option is None:
        return str(value)
    return _ranges(value) if option.kind == "ints" else option.format(value)


def _ranges(numbers: Sequence[int]) -> str:
    """1, 2, 3, 5 → "1-3,5"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(
        f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run)) for run in runs
    )
