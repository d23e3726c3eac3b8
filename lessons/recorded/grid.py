"""The grid of recorded training runs: which cells it has, one cell's run, and what is kept of it.

Sizes are chosen for half an hour on two cores at most, rates and warm-ups so that the table shows
where each wiring sticks, where it learns, and where warm-up rescues it. The thresholds are those
of this small model on this text; no other model need share them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from itertools import product
from math import inf, isfinite
from typing import Any

from app.nn.training import Corpus, Run, TrainingConfig, verdict
from app.probes import sentences

TEXT = "en"
STEPS = 500
# After which steps a curve has a point: close together where a run collapses.
POINTS = (1, 3, 5, 10, 25, 50, 75, 100, 150, 200, 250, 300, 350, 400, 450, 500)
COMMON: dict[str, Any] = {
    "width": 32, "ff": 2, "tokens": 16, "batch": 8, "optimizer": "adam", "schedule": "linear",
}  # fmt: skip
# Rates by depth: four layers stick only above those at which twelve do.
RATES = {4: (3e-4, 1e-3, 3e-3, 1e-2, 2e-2), 12: (3e-4, 1e-3, 2e-3, 3e-3, 1e-2)}
WARMUPS = (0, 100, 300)
WIRINGS = ("post_ln", "pre_ln")
SEEDS = (0, 1, 2)

# What a curve shows at each of its points, as app.nn.training.Report names them.
CURVES = ("loss", "gradient", "logit", "cosine", "lower", "validation")


@dataclass(frozen=True)
class Cell:
    """One run of the grid."""

    depth: int
    rate: float
    warmup: int
    wiring: str
    seed: int

    @property
    def name(self) -> str:
        return (
            f"{self.wiring} N={self.depth} rate={self.rate:g} warmup={self.warmup} seed={self.seed}"
        )

    @property
    def config(self) -> TrainingConfig:
        own = {name: value for name, value in asdict(self).items() if name != "seed"}
        return TrainingConfig(**COMMON, **own)


def cells() -> list[Cell]:
    """All cells, the deep ones first: what takes longest should not come last."""
    return [
        Cell(depth, *of)
        for depth in sorted(RATES, reverse=True)
        for of in product(RATES[depth], WARMUPS, WIRINGS, SEEDS)
    ]


def whole_config() -> dict[str, Any]:
    """Everything that the grid's numbers depend on, as it is written beside them."""
    return {
        "text": TEXT, "characters": sentences.CHARACTERS[TEXT], "validation": sentences.VALIDATION,
        "steps": STEPS, **COMMON, "dtype": "float32",
        "rates": {str(depth): list(rates) for depth, rates in RATES.items()},
        "warmup": list(WARMUPS), "wiring": list(WIRINGS), "seed": list(SEEDS),
    }  # fmt: skip


@lru_cache(maxsize=1)
def corpus() -> Corpus:
    return Corpus.of(sentences.text(TEXT), sentences.VALIDATION)


def train(cell: Cell) -> dict[str, Any]:
    """One cell's run: its verdict, its last numbers and its curves, rounded as they are kept.

    A curve's point after step s shows the validation loss, the mean loss of the batches since the
    point before, and of the rest what step s itself saw.
    """
    run = Run(cell.config, corpus(), cell.seed)
    points: list[dict[str, float]] = []
    losses: list[float] = []
    for step in range(1, STEPS + 1):
        report = run.step()
        losses.append(report.loss)
        if step in POINTS:
            numbers = {**asdict(report), "loss": sum(losses) / len(losses)}
            points.append({**numbers, "validation": run.validation()})
            losses.clear()
    validation = points[-1]["validation"]
    return {
        **asdict(cell),
        "verdict": verdict(report.cosine, report.lower, validation, run.unigram),
        "curves": {name: [kept(name, point[name]) for point in points] for name in CURVES},
    }


def kept(name: str, number: float) -> float | None:
    """Four digits, about what another machine shows as well; of a cosine six decimals, because it
    is its distance to 1 that counts. None for what is no number."""
    if not isfinite(number):
        return None
    return round(number, 6) if name == "cosine" else float(f"{number:.4g}")


def table(results: list[dict[str, Any]]) -> Iterator[str]:
    """The grid as text: a line per depth and rate; per wiring and warm-up the median validation
    loss, and how many seeds came to which verdict."""
    heads = [f"{wiring} {warmup}" for wiring in WIRINGS for warmup in WARMUPS]
    yield "depth    rate  " + "  ".join(head.ljust(24) for head in heads)
    for depth, rates in RATES.items():
        for rate in rates:
            texts = []
            for wiring, warmup in product(WIRINGS, WARMUPS):
                place = (depth, rate, warmup, wiring)
                runs = [run for run in results if place_of(run) == place]
                losses = [run["curves"]["validation"][-1] for run in runs]
                verdicts = [run["verdict"] for run in runs]
                counts = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
                texts.append(f"{median(losses):.2f} {counts}".ljust(24))
            yield f"{depth:5}  {rate:6g}  " + "  ".join(texts)


def place_of(run: dict[str, Any]) -> tuple[Any, ...]:
    return run["depth"], run["rate"], run["warmup"], run["wiring"]


def median(numbers: list[float | None]) -> float:
    """Of three seeds the one in the middle; a run whose loss is no number comes last."""
    ordered = sorted(inf if number is None else number for number in numbers)
    return ordered[len(ordered) // 2]
