"""What every probe answers with."""

import csv
import io
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """A probe's answer over the first `done` of `total` seeds; it is complete when they agree.

    `config`: every option that the probe used, with its value. `columns`: lists of one length,
    a row per depth or per sublayer; NaN where there is no value (an error from one seed).
    `summary`: what is not a row: fits, sums, the number of seeds. `whole`: False for the beginning
    of the first seed (`done` is 0): what is still to come of it is NaN.
    """

    probe: str
    config: dict[str, Any]
    columns: dict[str, list[Any]]
    summary: dict[str, Any]
    done: int
    total: int
    whole: bool = True


def csv_of(result: Result) -> str:
    """All columns, every digit; nothing where there is no value."""
    return csv_rows(result.columns, zip(*result.columns.values(), strict=True))


def csv_rows(header: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows([["" if _is_nan(value) else value for value in row] for row in rows])
    return text.getvalue()


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)
