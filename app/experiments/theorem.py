"""Theorem 1 of Xiong et al. 2020, sign by sign, held against a measurement.

The theorem bounds the gradient by the last layer's W₂ at initialisation. Pressing one of its signs
explains it and lights up what it is in the figure; its assumptions are a list, each of which says
whether it holds for what ran.
"""

from __future__ import annotations

from typing import Any

from app.experiments.experiment import Experiment
from app.experiments.gradients import FFS, SEED_COUNT, SEEDS, WIDTH, WIDTHS
from app.experiments.gradients_answers import last_config
from app.experiments.gradients_words import not_finite, what_ran
from app.experiments.tables import result_table
from app.experiments.theorem_figures import LIT, Bounds
from app.experiments.theorem_words import agreement, assumption_list, assumptions, reading
from app.experiments.work import Run, State
from app.probes import gradients
from app.probes.options import OPTIONS, Option
from app.ui.controls import Control, number, pick, select, switch
from app.ui.figures import Chart
from app.ui.markup import Table

TERM = Option("term", "choice", "depth", choices=tuple(LIT))

# What the theorem is about, in the options of the gradients experiment: so their answers are one.
_ITS_OWN = {"stack": "encoder", "matrix": "W_2", "tokens": OPTIONS["tokens"].default}


def _config(state: State) -> dict[str, Any]:
    return last_config({**state, **_ITS_OWN})


class Theorem(Experiment):
    name = "theorem"
    runs = (Run("last", gradients.measure_last, _config),)
    first = ("attention",)
    told = ("assumptions",)

    def build_controls(self) -> list[Control]:
        say = self.say
        return [
            pick(TERM, say, key="theorem.option.term"),
            switch(OPTIONS["attention"], say),
            select(OPTIONS["ff"], say, values=FFS, key="gradients.option.ff"),
            select(WIDTH, say, values=WIDTHS, shown=str, key="gradients.option.width"),
            switch(OPTIONS["loss"], say, key="gradients.option.loss"),
            select(SEED_COUNT, say, values=SEEDS, shown=str),
            number(OPTIONS["seed"], say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.bounds = Bounds(self.say)
        return {"bounds": self.bounds}

    def draw(self) -> None:
        last = self.answer("last")
        assert last is not None
        self.last = last
        self.bounds.draw_theorem(last, self.values["term"])

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, last = self.say, self.last
        one_seed = last.done == 1 and not self.works["last"].running
        return [
            *not_finite(say, last, "depth"),
            *agreement(say, last),
            *reading(say, last, self.values["term"]),
            *([say("experiment.one_seed")] if one_seed else []),
        ]

    def extra_parts(self) -> dict[str, str]:
        return {"assumptions": assumption_list(self.say, assumptions(self.say, self.last))}

    def tables(self) -> list[Table]:
        last = self.last
        caption = self.say("gradients.table.last", matrix="W₂", seeds=self.seeds_of("last"))
        rows = range(len(last.columns["depth"]))
        return [result_table(last, self.say, name="last", caption=caption, rows=rows)]

    def details(self) -> list[tuple[str, str]]:
        pairs = what_ran(self, self.last.config)
        pairs.insert(-1, ("theorem.details.bound", self.say("theorem.details.bound_text")))
        return [(self.say(key), text) for key, text in pairs]
