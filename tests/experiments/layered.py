"""Helpers for the experiments that go layer by layer."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from app.experiments.experiment import Experiment
from app.experiments.work import Run
from app.nn.wirings import BASE
from app.probes.result import Result
from tests.experiments.helpers import finish

STACK = ("width", "tokens", "attention", "seeds", "seed")


def rested(kind: type[Experiment], state: Mapping[str, str], language: str = "en") -> Any:
    """An experiment that has come to rest at `state`."""
    experiment = kind(language)
    assert experiment.set(state) == []
    finish(experiment)
    assert experiment.status == "ready"
    return experiment


def last(answers: Iterator[Result | None]) -> Result:
    """The complete answer of a probe."""
    complete = [answer for answer in answers if answer is not None][-1]
    assert complete.done == complete.total
    return complete


def stack(experiment: Experiment, **more: Any) -> dict[str, Any]:
    return {"wiring": BASE, **{n: experiment.values[n] for n in STACK}, **more}


def broken(kind: type[Experiment], run: str, column: str, row: int, value: float) -> Any:
    """The experiment on its real numbers but one, with its mean and its geometric mean."""

    def spoilt(of: Run) -> Run:
        def probe(config: Mapping[str, Any]) -> Iterator[Result | None]:
            for answer in of.probe(config):
                if answer is None:
                    yield None
                    continue
                columns = {name: list(column) for name, column in answer.columns.items()}
                for name in (column, f"{column}_geomean"):
                    columns[name][row] = value
                yield replace(answer, columns=columns)

        return replace(of, probe=probe)

    runs = tuple(spoilt(of) if of.name == run else of for of in kind.runs)
    return type(f"Broken{kind.__name__}", (kind,), {"runs": runs})


def holds(chart: Any, *glyphs: str) -> None:
    """Everything that these glyphs show lies within the axes."""
    x, y = chart.plot.x_range, chart.plot.y_range
    for glyph in glyphs:
        data = chart.data(glyph)
        assert all(x.start <= place <= x.end for place in data["x"]), glyph
        for key in {"y", "low", "high"} & data.keys():
            assert all(y.start <= height <= y.end for height in data[key]), glyph
