"""The two figures of the recorded grid: one cell's losses, and the signs of being stuck."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from app.experiments.recorded import Cell
from app.experiments.training_answers import QUANTITIES, seen
from app.experiments.training_figures import RULE
from app.nn.wirings import BASE
from app.ui.figures import Chart
from app.ui.numbers import significant
from app.ui.scales import finite, log_range, log_ticks, nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import SERIES

SEEDS = 3  # drawn; a test holds it to the grid's


@dataclass(frozen=True)
class Pair:
    """The chosen cell of each wiring, and how it is looked at."""

    cells: Mapping[str, Cell]
    steps: list[int]
    what: str
    warmup: int
    unigram: float


class GridCurves(Chart):
    """A thin line per seed, and points at the seed in the middle, for each wiring."""

    def __init__(self, say: Strings, *, y_log: bool) -> None:
        super().__init__(height=400, x_log=True, y_log=y_log)
        self.say = say
        self.upright("warmup")
        self.line("rule", RULE)
        for wiring in BASE:
            series = SERIES[wiring]["measured"]
            for seed in range(SEEDS):
                self.line(f"{wiring}_{seed}", series, line_width=1.2, line_alpha=0.7)
            self.points(f"{wiring}_points", series)
        self.legend(
            {
                **{
                    wiring: ((f"{wiring}_0", f"{wiring}_points"), say(f"wiring.{wiring}"))
                    for wiring in BASE
                },
                "rule": (("rule",), ""),
            }
        )

    def draw_curves(self, pair: Pair, name: str) -> list[float]:
        """Returns all that the axis has to reach."""
        heights = []
        for wiring, cell in pair.cells.items():
            curves = [self.quantity(pair, run.curves[name]) for run in cell.runs]
            for seed, curve in enumerate(curves):
                self.show(f"{wiring}_{seed}", x=pair.steps, y=curve)
                heights += finite(curve)
            middle = [sorted(at)[len(at) // 2] for at in zip(*curves, strict=True)]
            self.show(f"{wiring}_points", x=pair.steps, y=middle)
        self.mark("warmup", pair.warmup or None)
        return heights

    def quantity(self, pair: Pair, numbers: list[float]) -> list[float]:
        return numbers

    def draw_frame(self, pair: Pair, y: tuple[float, float], rule: float | None) -> None:
        first, last = 0.9 * pair.steps[0], 1.1 * pair.steps[-1]
        self.limits(x=(first, last), y=y)
        self.ticks(log_ticks(first, last) | {float(pair.steps[-1]): str(pair.steps[-1])})
        ends = [first, last] if rule is not None else []
        self.show("rule", x=ends, y=[rule for _ in ends if rule is not None])
        self.visible(rule is not None, row="rule")


class GridLosses(GridCurves):
    """Loss over the validation split."""

    def __init__(self, say: Strings) -> None:
        super().__init__(say, y_log=False)

    def draw(self, pair: Pair) -> None:
        heights = self.draw_curves(pair, "validation")
        top = nice_ceiling(min(max(heights, default=1.0), 2 * pair.unigram))
        self.draw_frame(pair, (0, top), pair.unigram)
        words = self.say("training.figure.unigram", loss=significant(pair.unigram))
        self.reword("rule", words)
        self.axis_labels(x=self.say("recorded.figure.step"), y=self.say("training.figure.loss"))


class GridSigns(GridCurves):
    """One of the quantities beside the loss."""

    def __init__(self, say: Strings) -> None:
        super().__init__(say, y_log=True)

    def draw(self, pair: Pair) -> None:
        limit = QUANTITIES[pair.what].limit
        heights = self.draw_curves(pair, pair.what)
        self.draw_frame(pair, log_range(heights, [limit] if limit else []), limit)
        self.reword("rule", self.say("training.figure.limit"))
        quantity = self.say(f"training.quantity.{pair.what}")
        self.axis_labels(x=self.say("recorded.figure.step"), y=quantity)

    def quantity(self, pair: Pair, numbers: list[float]) -> list[float]:
        return seen(pair.what, numbers)
