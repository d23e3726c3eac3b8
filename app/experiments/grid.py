"""The recorded grid of training runs: which cell learns, which is stuck, and one cell's curves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape

from app.experiments import recorded
from app.experiments.experiment import Experiment
from app.experiments.grid_figures import GridLosses, GridSigns, Pair
from app.experiments.recorded import Cell
from app.experiments.training_answers import QUANTITIES, WHAT
from app.experiments.training_words import provenance
from app.nn.wirings import BASE
from app.probes import NUMBERS_VERSION
from app.probes.options import OPTIONS, Option
from app.ui import markup
from app.ui.controls import Control, select, slider, switch
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant
from app.ui.strings import Strings

DEPTHS = tuple(recorded.grid().depths)
RATES = tuple(sorted({run.rate for run in recorded.grid().runs}))
WARMUPS = tuple(recorded.grid().warmups)
# The cell at which warm-up decides.
RATE = replace(OPTIONS["rate"], default=0.02, low=RATES[0], high=RATES[-1])
WARMUP = replace(OPTIONS["warmup"], default=0, low=WARMUPS[0], high=WARMUPS[-1])

# Beside its word and its colour, each verdict has a mark.
MARKS = {"learns": "✓", "waits": "…", "stuck": "✕", "diverges": "!"}


class RecordedGrid(Experiment):
    name = "recorded"
    runs = ()
    first = ("depth", "rate", "warmup")

    def build_controls(self) -> list[Control]:
        say = self.say
        return [
            depth_switch(say, DEPTHS[0]),
            slider(RATE, say, values=RATES, shown="{:g}".format, key="recorded.option.rate"),
            switch(WARMUP, say, values=WARMUPS, shown=str, key="recorded.option.warmup"),
            select(WHAT, say, key="training.option.what"),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.losses, self.signs = GridLosses(self.say), GridSigns(self.say)
        return {"loss": self.losses, "signs": self.signs}

    @property
    def wirings(self) -> Sequence[str]:
        return BASE

    def draw(self) -> None:
        values, grid = self.values, recorded.grid()
        self.rate = nearest(values["rate"], grid.rates(values["depth"]))
        self.cells = {w: self._cell(self.rate, values["warmup"], w) for w in BASE}
        pair = Pair(self.cells, grid.steps, values["what"], values["warmup"], grid.unigram)
        self.losses.draw(pair)
        self.signs.draw(pair)

    def extra_parts(self) -> dict[str, str]:
        return {"grid": "".join(self._grid(wiring) for wiring in BASE)}

    def sentences(self) -> list[str]:
        say, grid, values = self.say, recorded.grid(), self.values
        place = say(
            "recorded.place",
            depth=values["depth"],
            rate=f"{self.rate:g}",
            warmup=warmup_in_words(say, values["warmup"]),
        )
        clauses = {w: clause(say, w, self.cells[w]) for w in BASE}
        missing = values["rate"] != self.rate
        offered = say("recorded.nearest", given=f"{values['rate']:g}", used=f"{self.rate:g}")
        return [
            say("recorded.sentence", place=place, **clauses),
            *([offered] if missing else []),
            say("recorded.yardstick", unigram=significant(grid.unigram)),
            say("recorded.limits", seeds=len(grid.config["seed"])),
        ]

    def tables(self) -> list[Table]:
        say, grid = self.say, recorded.grid()
        names = ("seed", "wiring", "verdict", "validation", *QUANTITIES)
        heads = {"seed": "recorded.table.seed", "wiring": "recorded.table.wiring"}
        rows = [
            [
                str(run.seed),
                say(f"wiring.{wiring}"),
                say(f"training.verdict.{run.verdict}"),
                significant(run.loss, 4),
                *(_last(what, run.curves[what][-1]) for what in QUANTITIES),
            ]
            for wiring in BASE
            for run in self.cells[wiring].runs
        ]
        cell = Table(
            name="cell",
            caption=say(
                "recorded.table.cell",
                depth=self.values["depth"],
                rate=f"{self.rate:g}",
                warmup=warmup_in_words(say, self.values["warmup"]),
                steps=grid.steps[-1],
            ),
            columns=[(n, say(heads.get(n, f"training.table.{n}"))) for n in names],
            rows=rows,
        )
        return [cell, grid_table(say, self.values["depth"])]

    def details(self) -> list[tuple[str, str]]:
        return grid_details(self.say)

    # ------------------------------------------------------------------

    def _cell(self, rate: float, warmup: int, wiring: str) -> Cell:
        return recorded.grid().cell(self.values["depth"], rate, warmup, wiring)

    def _grid(self, wiring: str) -> str:
        """One wiring's verdicts at this depth as a table, the chosen cell marked."""
        say, depth = self.say, self.values["depth"]
        caption = say("recorded.grid", wiring=say(f"wiring.{wiring}"), depth=depth)
        head = "".join(f'<th scope="col">{warmup}</th>' for warmup in WARMUPS)
        rows = ""
        for rate in recorded.grid().rates(depth):
            cells = ""
            for warmup in WARMUPS:
                chosen = rate == self.rate and warmup == self.values["warmup"]
                cells += self._entry(self._cell(rate, warmup, wiring), chosen)
            rows += f'<tr><th scope="row">{rate:g}</th>{cells}</tr>'
        return (
            f"<table><caption>{markup.text(caption)}</caption><thead>"
            f'<tr><th scope="col">{markup.text(say("recorded.corner"))}</th>{head}</tr>'
            f"</thead><tbody>{rows}</tbody></table>"
        )

    def _entry(self, cell: Cell, chosen: bool) -> str:
        verdicts = cell.verdicts
        lines = "".join(
            f'<span class="verdict"><span aria-hidden="true">{MARKS[verdict]}</span>&nbsp;'
            f"{markup.text(self._count(verdict, count, len(cell.runs)))}</span> "
            for verdict, count in verdicts.items()
        )
        current = ' aria-current="true"' if chosen else ""
        return (
            f'<td data-verdict="{escape(next(iter(verdicts)))}"{current}>{lines}'
            f'<span class="loss">{markup.text(significant(cell.loss))}</span></td>'
        )

    def _count(self, verdict: str, count: int, total: int) -> str:
        word = self.say(f"training.verdict.{verdict}")
        return self.say("recorded.count", verdict=word, count=count, total=total)


# ---------------------------------------------------------------- shared with the sweep


def depth_switch(say: Strings, default: int) -> Control:
    return switch(
        replace(OPTIONS["depth"], default=default, low=DEPTHS[0], high=DEPTHS[-1]),
        say,
        values=DEPTHS,
        shown=lambda depth: say("recorded.layers", n=depth),
        key="recorded.option.depth",
    )


def warmup_option(values: Sequence[int], default: int) -> Option:
    return replace(OPTIONS["warmup"], default=default, low=values[0], high=values[-1])


def warmup_in_words(say: Strings, warmup: int) -> str:
    return say("recorded.warm", n=warmup) if warmup else say("recorded.cold")


def nearest(rate: float, rates: Sequence[float]) -> float:
    """Of the recorded rates the one that is nearest in ratio."""
    return min(rates, key=lambda other: max(rate / other, other / rate))


def clause(say: Strings, wiring: str, cell: Cell) -> str:
    """What became of a cell: "Post-LN is stuck in 3 of 3 seeds (loss 3.10 to 3.11)"."""
    total = len(cell.runs)
    found = [
        say(f"recorded.clause.{verdict}", count=count, total=total)
        for verdict, count in cell.verdicts.items()
    ]
    low, high = (significant(loss) for loss in (cell.losses[0], cell.losses[-1]))
    losses = low if low == high else say("recorded.range", low=low, high=high)
    return say(
        "recorded.clause.all",
        wiring=say(f"wiring.{wiring}"),
        verdicts=say("recorded.and").join(found),
        losses=losses,
    )


def grid_table(say: Strings, depth: int) -> Table:
    """Every cell of one depth: a row per rate and warm-up."""
    grid = recorded.grid()
    rows = []
    for rate in grid.rates(depth):
        for warmup in WARMUPS:
            row = [f"{rate:g}", str(warmup)]
            for wiring in BASE:
                cell = grid.cell(depth, rate, warmup, wiring)
                verdicts = (f"{n} {say(f'training.verdict.{v}')}" for v, n in cell.verdicts.items())
                row += [", ".join(verdicts), *(significant(loss, 4) for loss in cell.losses)]
            rows.append(row)
    losses = [f"loss_{i}" for i in range(1, len(grid.config["seed"]) + 1)]
    columns = [("rate", say("recorded.table.rate")), ("warmup", say("recorded.table.warmup"))]
    for wiring in BASE:
        columns.append((f"{wiring}_verdicts", say("training.table.verdict")))
        columns += [(f"{wiring}_{name}", say("training.table.validation")) for name in losses]
    width = 1 + len(losses)
    return Table(
        name="grid",
        caption=say("recorded.table.grid", depth=depth, steps=grid.steps[-1]),
        columns=columns,
        rows=rows,
        groups=[("", 2), *((say(f"wiring.{wiring}"), width) for wiring in BASE)],
    )


def grid_details(say: Strings) -> list[tuple[str, str]]:
    grid = recorded.grid()
    config = grid.config
    text = say(f"training.option.text.choices.{config['text']}")
    pairs = [
        ("what", say("recorded.details.what_text", **{**config, "text": text})),
        ("seeds", ", ".join(map(str, config["seed"]))),
        ("recorded", provenance(say, grid)),
    ]
    return [
        *((say(f"recorded.details.{key}"), words) for key, words in pairs),
        (say("experiment.details.version"), NUMBERS_VERSION),
    ]


def _last(what: str, number: float) -> str:
    return f"{number:.6f}" if what == "cosine" else significant(number, 3)
