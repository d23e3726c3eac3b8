"""The recorded training runs: the grid, its curves, and the three runs of the contrast.

The only writer is `lessons/recorded/record.py`; a browser reads the same files from its bundle.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import inf, isfinite, nan
from typing import Any

from app.probes.result import Result


@dataclass(frozen=True)
class Recorded:
    """One run of the grid. `curves`: by name, a value per point of `Grid.steps`."""

    depth: int
    rate: float
    warmup: int
    wiring: str
    seed: int
    verdict: str
    curves: Mapping[str, list[float]]

    @property
    def loss(self) -> float:
        """Over the validation split, after the last step; NaN if it is no number."""
        return self.curves["validation"][-1]


@dataclass(frozen=True)
class Cell:
    """The runs of one place of the grid, which differ in their seed alone."""

    runs: tuple[Recorded, ...]

    @property
    def verdicts(self) -> dict[str, int]:
        """How many seeds came to which verdict, the most frequent first."""
        every = [run.verdict for run in self.runs]
        counted = {verdict: every.count(verdict) for verdict in dict.fromkeys(every)}
        return dict(sorted(counted.items(), key=lambda item: -item[1]))

    @property
    def losses(self) -> list[float]:
        """Of all seeds, the lowest first; one that is no number comes last."""
        return sorted((run.loss for run in self.runs), key=lambda x: x if isfinite(x) else inf)

    @property
    def loss(self) -> float:
        """Of the seed in the middle."""
        return self.losses[len(self.runs) // 2]


@dataclass(frozen=True)
class Grid:
    """All recorded cells, and what they were recorded with."""

    config: Mapping[str, Any]
    date: str
    versions: Mapping[str, str]
    unigram: float
    steps: list[int]
    runs: tuple[Recorded, ...]

    @property
    def depths(self) -> list[int]:
        return sorted({run.depth for run in self.runs})

    @property
    def warmups(self) -> list[int]:
        return list(self.config["warmup"])

    def rates(self, depth: int) -> list[float]:
        return sorted({run.rate for run in self.runs if run.depth == depth})

    def cell(self, depth: int, rate: float, warmup: int, wiring: str) -> Cell:
        """Raises KeyError for a place that was not recorded."""
        place = (depth, rate, warmup, wiring)
        runs = tuple(r for r in self.runs if (r.depth, r.rate, r.warmup, r.wiring) == place)
        if not runs:
            raise KeyError(place)
        return Cell(runs)


@cache
def grid() -> Grid:
    table, of_curves = _read("grid.json"), _read("curves.json")
    columns, curves = table["columns"], of_curves["curves"]
    places = ("depth", "rate", "warmup", "wiring", "seed", "verdict")
    runs = tuple(
        Recorded(
            **{name: columns[name][row] for name in places},
            curves={name: _numbers(curves[name][row]) for name in curves},
        )
        for row in range(len(columns["depth"]))
    )
    about = {name: table[name] for name in ("config", "date", "versions", "unigram")}
    return Grid(**about, steps=of_curves["step"], runs=runs)


@dataclass(frozen=True)
class Contrast:
    """A recorded answer of the probe `contrast`, rounded, and what it was recorded with."""

    result: Result
    date: str
    versions: Mapping[str, str]


@cache
def contrast(text: str) -> Contrast:
    """At the setting that tells the three runs apart on this text ("en", "zh-Hans")."""
    content = _read(f"contrast-{text}.json")
    columns = {name: _numbers(column) for name, column in content["columns"].items()}
    steps = len(columns["step"])
    result = Result("contrast", content["config"], columns, content["summary"], steps, steps)
    return Contrast(result, content["date"], content["versions"])


def replay(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """The recorded contrast on the text of `config`, as if it were computed."""
    yield contrast(config["text"]).result


def _read(name: str) -> Any:
    return json.loads((files(__name__) / name).read_text(encoding="utf-8"))


def _numbers(column: list[float | None]) -> list[float]:
    """JSON has no NaN; null stands for it."""
    return [nan if number is None else number for number in column]
