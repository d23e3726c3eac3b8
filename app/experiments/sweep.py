"""Which learning rates does each wiring stand? The recorded grid, read along the rate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from app.experiments import recorded
from app.experiments.experiment import Experiment
from app.experiments.grid import (
    DEPTHS,
    WARMUPS,
    depth_switch,
    grid_details,
    grid_table,
    warmup_in_words,
    warmup_option,
)
from app.experiments.recorded import Cell
from app.experiments.training_figures import OF_RUN, RULE
from app.nn.wirings import BASE
from app.ui.controls import Control, switch
from app.ui.figures import NEUTRAL, Chart
from app.ui.markup import Table
from app.ui.numbers import significant
from app.ui.scales import nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import Series

RAMPS = tuple(warmup for warmup in WARMUPS if warmup)
WARMUP = warmup_option(RAMPS, RAMPS[0])

# Wiring, and whether it is warmed up; side by side at each rate, so that none hides another.
LINES = {
    "post_ln": ("post_ln", False),
    "post_ln_warm": ("post_ln", True),
    "pre_ln": ("pre_ln", False),
    "pre_ln_warm": ("pre_ln", True),
}
SERIES: dict[str, Series] = {
    **OF_RUN,
    "pre_ln_warm": replace(OF_RUN["pre_ln"], dash=(2, 5), marker="square", filled=False),
}
APART = 1.05  # from one line to the next, in ratio
STUCK = Series(NEUTRAL, (), "x", size=20)


@dataclass(frozen=True)
class Line:
    """One wiring, with or without warm-up, over all recorded rates."""

    wiring: str
    warmup: int
    rates: Sequence[float]
    cells: Sequence[Cell]

    @property
    def learns_up_to(self) -> int:
        """How many rates, from the lowest on, at which every seed learns."""
        whole = [set(cell.verdicts) == {"learns"} for cell in self.cells]
        return whole.index(False) if False in whole else len(whole)

    @property
    def best(self) -> tuple[float, Cell]:
        """The rate of the lowest loss, and its cell."""
        return min(zip(self.rates, self.cells, strict=True), key=lambda at: at[1].loss)


class Sweep(Experiment):
    name = "sweep"
    runs = ()
    first = ("depth", "warmup")

    def build_controls(self) -> list[Control]:
        warmup = switch(WARMUP, self.say, values=RAMPS, shown=str, key="sweep.option.warmup")
        return [depth_switch(self.say, DEPTHS[-1]), warmup]

    def build_charts(self) -> dict[str, Chart]:
        self.chart = Rates(self.say)
        return {"sweep": self.chart}

    @property
    def wirings(self) -> Sequence[str]:
        return BASE

    def draw(self) -> None:
        grid, depth = recorded.grid(), self.values["depth"]
        rates = grid.rates(depth)
        self.lines = {}
        for name, (wiring, warm) in LINES.items():
            warmup = self.values["warmup"] if warm else 0
            cells = [grid.cell(depth, rate, warmup, wiring) for rate in rates]
            self.lines[name] = Line(wiring, warmup, rates, cells)
        self.chart.draw(self.lines, grid.unigram)

    def sentences(self) -> list[str]:
        say, grid = self.say, recorded.grid()
        return [
            say(
                "sweep.sentence",
                depth=self.values["depth"],
                **{wiring: self._clause(wiring) for wiring in BASE},
            ),
            self._best(),
            say("recorded.yardstick", unigram=significant(grid.unigram)),
            say("sweep.limits", seeds=len(grid.config["seed"]), steps=grid.steps[-1]),
        ]

    def tables(self) -> list[Table]:
        return [grid_table(self.say, self.values["depth"])]

    def details(self) -> list[tuple[str, str]]:
        return grid_details(self.say)

    def _clause(self, wiring: str) -> str:
        """Up to which rates a wiring learns, without warm-up and with it."""
        cold, warm = (line for line in self.lines.values() if line.wiring == wiring)
        name = self.say(f"wiring.{wiring}")
        if len(cold.rates) == cold.learns_up_to == warm.learns_up_to:
            return self.say("sweep.clause.both", wiring=name, last=f"{cold.rates[-1]:g}")
        clauses = {"cold": self._reach(cold), "warm": self._reach(warm)}
        return self.say("sweep.clause.each", wiring=name, **clauses)

    def _reach(self, line: Line) -> str:
        """Up to which rate a line learns, and what happens at the next."""
        count = line.learns_up_to
        words = {
            "warmup": self.say("sweep.warm" if line.warmup else "sweep.cold", n=line.warmup),
            "last": f"{line.rates[max(count - 1, 0)]:g}",
        }
        if count == len(line.rates):
            return self.say("sweep.clause.all", **words)
        runs = line.cells[count].runs
        return self.say(
            "sweep.clause.upto" if count else "sweep.clause.none",
            **words,
            next=f"{line.rates[count]:g}",
            count=sum(run.verdict != "learns" for run in runs),
            total=len(runs),
        )

    def _best(self) -> str:
        """The lowest loss of each wiring; told apart only where no two seeds overlap."""
        of = {
            wiring: min(
                (line for line in self.lines.values() if line.wiring == wiring),
                key=lambda line: line.best[1].loss,
            )
            for wiring in BASE
        }
        post, pre = (of[wiring].best[1].losses for wiring in BASE)
        overlap = post[0] <= pre[-1] and pre[0] <= post[-1]
        words = {wiring: _span(self.say, of[wiring]) for wiring in BASE}
        return self.say("sweep.level" if overlap else "sweep.apart", **words)


class Rates(Chart):
    """Final loss against the learning rate: a line through the seeds in the middle, a bar from the
    lowest to the highest, a cross where most seeds are stuck."""

    def __init__(self, say: Strings) -> None:
        super().__init__(height=440, x_log=True)
        self.say = say
        self.line("rule", RULE)
        for name, series in SERIES.items():
            self.spread(f"{name}_spread", series)
            self.line(f"{name}_line", series)
            self.points(f"{name}_points", series)
        self.points("stuck", STUCK)
        self.legend(
            {
                **{name: ((f"{name}_line", f"{name}_points"), "") for name in SERIES},
                "stuck": (("stuck",), say("sweep.figure.stuck")),
                "rule": (("rule",), ""),
            }
        )

    def draw(self, lines: dict[str, Line], unigram: float) -> None:
        crosses: list[tuple[float, float]] = []
        highest = unigram
        for place, (name, line) in enumerate(lines.items()):
            x = [rate * APART ** (place - 1.5) for rate in line.rates]
            y = [cell.loss for cell in line.cells]
            self.show(f"{name}_line", x=x, y=y)
            self.show(f"{name}_points", x=x, y=y)
            low, high = ([cell.losses[end] for cell in line.cells] for end in (0, -1))
            self.show(f"{name}_spread", x=x, low=low, high=high)
            stuck = [next(iter(cell.verdicts)) == "stuck" for cell in line.cells]
            crosses += [(a, b) for a, b, is_stuck in zip(x, y, stuck, strict=True) if is_stuck]
            highest = max(highest, *high)
            self.reword(name, run_in_words(self.say, line))
        self.show("stuck", x=[x for x, _ in crosses], y=[y for _, y in crosses])
        rates = next(iter(lines.values())).rates
        ends = (rates[0] / 1.25, rates[-1] * 1.25)
        self.show("rule", x=list(ends), y=[unigram, unigram])
        words = self.say("training.figure.unigram", loss=significant(unigram))
        self.reword("rule", words)
        self.limits(x=ends, y=(0, nice_ceiling(highest * 1.05)))
        self.ticks(_named(rates))
        self.axis_labels(x=self.say("sweep.figure.rate"), y=self.say("sweep.figure.loss"))


def _named(rates: Sequence[float]) -> dict[float, str]:
    """A tick at each rate; one that has no room beside the last, on a phone, is written below."""
    ticks: dict[float, str] = {}
    last = 0.0
    for rate in rates:
        beside = rate >= 2.9 * last
        ticks[rate] = f"{rate:g}" if beside else f"\n{rate:g}"
        last = rate if beside else last
    return ticks


def run_in_words(say: Strings, line: Line) -> str:
    warmup = warmup_in_words(say, line.warmup)
    return say("sweep.run", wiring=say(f"wiring.{line.wiring}"), warmup=warmup)


def _span(say: Strings, line: Line) -> str:
    """The best losses of a line in words: "1.08 to 1.10 at rate 0.003"."""
    rate, cell = line.best
    low, high = (significant(loss) for loss in (cell.losses[0], cell.losses[-1]))
    losses = low if low == high else say("recorded.range", low=low, high=high)
    return say("sweep.best", losses=losses, rate=f"{rate:g}", run=run_in_words(say, line))
