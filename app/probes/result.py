"""What every probe answers with."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Result:
    """A probe's answer over the first `done` of `total` seeds; it is complete when they agree.

    `config`: every option that the probe used, with its value. `columns`: lists of one length,
    a row per depth or per sublayer; NaN where there is no value (an error from one seed).
    `summary`: what is not a row: fits, sums, the number of seeds.
    """

    probe: str
    config: dict[str, Any]
    columns: dict[str, list[Any]]
    summary: dict[str, Any]
    done: int
    total: int
