"""Data tables of probes' results: the CSV's own columns, with headings in words."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

from app.probes.result import Result
from app.ui.markup import Table
from app.ui.numbers import significant
from app.ui.strings import Strings

_STATISTICS = (
    *("se", "geomean", "p10", "p90", "theory", "inside"),
    *("relative", "relative_se", "relative_p10", "relative_p90"),
)


def result_table(
    result: Result, say: Strings, *, name: str, caption: str, rows: Iterable[int]
) -> Table:
    """The given rows of a result. A wiring's columns stand under its name, and so do those of
    another quantity that has one, `experiment.table.of.<column>`."""
    columns = list(result.columns)
    titles = {f"{start}.{c}": c for c in columns for start in ("wiring", "experiment.table.of")}
    names = {column: say(key) for key, column in titles.items() if key in say}
    for stem in [c.removesuffix("_relative") for c in columns if c.endswith("_relative")]:
        names.setdefault(stem, say(f"wiring.{stem}"))
    groups = [(column, *_grouped(column, list(names))) for column in columns]
    shown = [_words(say, column) for column in columns]
    return Table(
        name=name,
        caption=caption,
        columns=[(column, say(f"experiment.table.{statistic}")) for column, _, statistic in groups],
        rows=[
            [words(result.columns[c][row]) for c, words in zip(columns, shown, strict=True)]
            for row in rows
        ],
        groups=[
            (names.get(stem, ""), len(list(members)))
            for stem, members in groupby(stem for _, stem, _ in groups)
        ],
    )


def rows_at(values: Sequence[Any], wanted: Iterable[Any]) -> list[int]:
    places = {value: row for row, value in enumerate(values)}
    return [places[value] for value in wanted if value in places]


def _grouped(column: str, stems: Sequence[str]) -> tuple[str, str]:
    """`post_ln_se` → ("post_ln", "se"), `post_ln` → ("post_ln", "mean"), others by themselves."""
    for stem in stems:
        if column == stem:
            return stem, "mean"
        statistic = column.removeprefix(stem + "_")
        if statistic != column and statistic in _STATISTICS:
            return stem, statistic
    return "", column


def _words(say: Strings, column: str) -> Callable[[Any], str]:
    if column == "kind":
        return lambda kind: say(f"experiment.table.{kind}")
    return lambda number: str(number) if isinstance(number, int) else significant(number, 4)
