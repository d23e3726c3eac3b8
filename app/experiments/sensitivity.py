"""How far does the output move when all weights change a little? Post-LN and Pre-LN, by depth."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from app.experiments import laws
from app.experiments.experiment import Experiment
from app.experiments.sensitivity_answers import DEEPEST, MARKS, WIDE, Answers
from app.experiments.sensitivity_figures import Changes, Shares
from app.experiments.tables import result_table, rows_at
from app.experiments.work import Run, State
from app.nn.wirings import BASE
from app.probes import NUMBERS_VERSION, beta, sensitivity
from app.probes.options import OPTIONS, Option
from app.ui.controls import Control, number, select, slider, switch
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant, with_error

CHANGES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1)
WIDTHS = (32, 64, 128, 256, 512)
SEEDS = (1, 2, 4, 8, 16, 24, 48, 96)
AXIS = Option("axis", "choice", "linear", choices=("linear", "log2"))
EXPECTED = Option("expected", "choice", "none", choices=("none", *map(str, MARKS)))
CHANGE = replace(OPTIONS["change"], low=CHANGES[0], high=CHANGES[-1])
WIDTH = replace(OPTIONS["width"], low=WIDTHS[0], high=WIDTHS[-1], step=1)
SEED_COUNT = replace(OPTIONS["seeds"], low=SEEDS[0], high=SEEDS[-1])

LARGE = 1 / 25  # mean square, a fifth in length: from there on δ matters by a tenth or more


def _stack(state: State) -> dict[str, Any]:
    """What every probe here is computed from; depth and axis only choose what is looked at."""
    return {"wiring": BASE, **{k: state[k] for k in ("width", "attention", "seed", "seeds")}}


def _all_depths(state: State) -> dict[str, Any]:
    return {**_stack(state), "depths": tuple(range(1, DEEPEST + 1))}


class Sensitivity(Experiment):
    name = "sensitivity"
    runs = (
        Run("estimate", sensitivity.estimate, _all_depths),
        Run("beta", beta.measure, lambda state: {**_stack(state), "depth": DEEPEST}),
        Run(
            "measured",
            sensitivity.measure,
            lambda state: {**_all_depths(state), "change": state["change"]},
            action="perturb",
        ),
    )

    def build_controls(self) -> list[Control]:
        return [
            slider(OPTIONS["depth"], self.say),
            switch(AXIS, self.say),
            select(EXPECTED, self.say),
            slider(CHANGE, self.say, values=CHANGES, shown=self.percent),
            select(WIDTH, self.say, values=WIDTHS, shown=str),
            switch(OPTIONS["attention"], self.say),
            select(SEED_COUNT, self.say, values=SEEDS, shown=str),
            number(OPTIONS["seed"], self.say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.changes, self.shares = Changes(self.say), Shares(self.say)
        return {"sensitivity": self.changes, "beta": self.shares}

    def draw(self) -> None:
        estimate, shares = self.answer("estimate"), self.answer("beta")
        assert estimate is not None
        assert shares is not None
        self.answers = Answers(self.values, estimate, shares, self.answer("measured"))
        self.changes.draw(self.answers)
        self.shares.draw(self.answers)

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, answers = self.say, self.answers
        return [
            *self._not_finite(),
            *self._comparison(),
            *self._expectation(),
            *([say("experiment.one_seed")] if self._rests_on_one_seed() else []),
            laws.sentence(say, answers.depth, answers.laws),
            *([] if answers.wide else [say("sensitivity.geometric", width=WIDE)]),
            *([] if answers.has_theory else [say("sensitivity.no_theory")]),
            *self._too_large(),
        ]

    def _comparison(self) -> list[str]:
        """How many times as much Post-LN's output moves as Pre-LN's, at N."""
        answers = self.answers
        ratio, error = answers.ratio()
        if not math.isfinite(ratio):
            return []
        return [
            self.say(
                f"sensitivity.{'measured' if answers.measured else 'estimated'}",
                depth=answers.depth,
                change=self.percent(self.values["change"]),
                ratio=with_error(ratio, error),
                length=significant(math.sqrt(ratio), 2),
                seeds=self.seeds_of(answers.kind),
            )
        ]

    def _expectation(self) -> list[str]:
        """What the reader marked, and once it is measured, which mark would have come nearest."""
        answers, nearest = self.answers, self.answers.nearest_mark()
        if answers.mark is None or nearest is None:
            return []
        verdict = "nearest" if nearest == answers.mark else "other"
        return [
            self.say(
                f"sensitivity.expected.{verdict if answers.measured else 'marked'}",
                depth=answers.depth,
                mark=answers.mark,
                nearest=nearest,
            )
        ]

    def _rests_on_one_seed(self) -> bool:
        """For good, that is: not while more are on their way."""
        return self.answers.source.done == 1 and not self.works[self.answers.kind].running

    def _not_finite(self) -> list[str]:
        """What overflowed, and from which depth on."""
        answers, found = self.answers, []
        for wiring in BASE:
            depth = answers.first(wiring, lambda value: not math.isfinite(value))
            if depth is not None:
                value = answers.center(answers.source, wiring)[depth - 1]
                found.append(
                    self.say(
                        "sensitivity.not_finite",
                        wiring=self.say(f"wiring.{wiring}"),
                        what=self.say(f"sensitivity.what.{answers.kind}"),
                        depth=depth,
                        value="NaN" if math.isnan(value) else significant(value),
                    )
                )
        return found

    def _too_large(self) -> list[str]:
        """Where the change is too large for the first order that the curves are."""
        answers, change = self.answers, self.values["change"]

        def large(value: float) -> bool:
            return math.isfinite(value) and value * change**2 >= LARGE

        found = [(answers.first(wiring, large, answers.depths), wiring) for wiring in BASE]
        depths = [(depth, wiring) for depth, wiring in found if depth is not None]
        if not depths:
            return []
        depth, wiring = min(depths)
        return [
            self.say(
                "sensitivity.large",
                depth=depth,
                change=self.percent(change),
                wiring=self.say(f"wiring.{wiring}"),
            )
        ]

    def tables(self) -> list[Table]:
        say, answers = self.say, self.answers
        source = say(f"sensitivity.table.fits_{answers.kind}")
        tables = [laws.table(say, answers.depth, answers.laws, source)]
        change = self.percent(self.values["change"])
        for kind, result in (("measured", answers.measured), ("estimate", answers.estimate)):
            if result is not None:
                caption = say(f"sensitivity.table.{kind}", change=change, seeds=self.seeds_of(kind))
                rows = rows_at(result.columns["depth"], answers.depths)
                tables.append(result_table(result, say, name=kind, caption=caption, rows=rows))
        seeds = self.seeds_of("beta")
        caption = say("sensitivity.table.beta", depth=answers.depth, seeds=seeds)
        rows = list(range(2 * answers.depth))
        return [
            *tables,
            result_table(answers.beta, say, name="beta", caption=caption, rows=rows),
        ]

    def details(self) -> list[tuple[str, str]]:
        say, answers = self.say, self.answers
        config, attention = answers.estimate.config, self.values["attention"]
        of_attention, of_ffn = sensitivity.K[attention]
        estimate = say("sensitivity.details.estimate_text", attention=of_attention, ffn=of_ffn)
        if attention == "softmax":
            estimate += say("sensitivity.details.estimate_softmax")
        measured = say(
            "sensitivity.details.measured_text", change=self.percent(self.values["change"])
        )
        center = "center_mean" if answers.wide else "center_geomean"
        pairs = [
            ("experiment.details.stacks", self.stack_in_words(config)),
            ("experiment.details.attention", self.attention_in_words(config, curves=True)),
            ("experiment.details.seeds", self.seeds_in_words(config)),
            ("sensitivity.details.estimate", estimate),
            ("sensitivity.details.measured", measured),
            ("sensitivity.details.center", say(f"sensitivity.details.{center}", width=WIDE)),
            ("experiment.details.version", NUMBERS_VERSION),
        ]
        if answers.has_theory:
            pairs.insert(-1, ("profiles.details.theory", say("profiles.details.theory_text")))
        return [(say(key), text) for key, text in pairs]
