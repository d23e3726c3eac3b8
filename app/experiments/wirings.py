"""How do the later wirings compare? Any of them beside Post-LN and Pre-LN, on the same weights."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from app.experiments import laws
from app.experiments.experiment import Drawing, Experiment
from app.experiments.tables import result_table
from app.experiments.wirings_answers import Answers
from app.experiments.wirings_figures import Changes, Gradients
from app.experiments.work import Run, State
from app.nn.wirings import BASE, WIRINGS
from app.probes import NUMBERS_VERSION, gradients, wirings
from app.probes.options import OPTIONS, Option
from app.probes.statistics import told_apart
from app.ui.controls import Control, number, select, slider, switch
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant, with_error

DEPTHS = (1, 2, 3, 6, 12, 24)
WIDTHS = (32, 64, 128)
SEEDS = (1, 2, 4, 8, 16, 24, 48)
STARTS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.5)
FFS = (1, 2, 4)
VARIANTS = tuple(name for name in WIRINGS if name not in BASE)
VARIANT = Option("variant", "choice", "deepnorm", choices=VARIANTS)
DEPTH = replace(OPTIONS["depth"], high=DEPTHS[-1])
WIDTH = replace(OPTIONS["width"], low=WIDTHS[0], high=WIDTHS[-1], step=1, default=64)
FF = replace(OPTIONS["ff"], default=4)
ATTENTION = replace(OPTIONS["attention"], default="softmax")
SEED_COUNT = replace(OPTIONS["seeds"], low=SEEDS[0], high=SEEDS[-1], default=16)
START = replace(OPTIONS["start"], high=STARTS[-1])


def attention_of(state: State) -> str:
    """The chosen attention, or the one that the variant cannot do without."""
    fitting = WIRINGS[state["variant"]].attentions
    chosen: str = state["attention"]
    return chosen if chosen in fitting else fitting[0]


def start_of(state: State) -> float:
    """How far the start is perturbed: only connections between streams can be."""
    return float(state["start"]) if WIRINGS[state["variant"]].streams > 1 else 0.0


def _stacks(state: State) -> dict[str, Any]:
    return {
        "wiring": (*BASE, state["variant"]),
        "attention": attention_of(state),
        "start": start_of(state),
        **{name: state[name] for name in ("width", "ff", "seed", "seeds")},
    }


class Wirings(Experiment):
    name = "wirings"
    needs: ClassVar[Mapping[str, str]] = {
        "start": f"variant={'|'.join(w for w in VARIANTS if WIRINGS[w].streams > 1)}"
    }
    runs = (
        # Its profile is that of one layer: the profile of N layers is asked for by itself, so
        # that another N does not begin this one anew.
        Run("changes", wirings.measure, lambda s: {**_stacks(s), "depths": DEPTHS, "depth": 1}),
        Run("profile", gradients.measure, lambda s: {**_stacks(s), "depth": s["depth"]}),
    )

    def build_controls(self) -> list[Control]:
        say = self.say
        return [
            select(VARIANT, say, shown=lambda w: say(f"wiring.{w}"), key="wirings.option.variant"),
            slider(DEPTH, say, key="wirings.option.depth"),
            switch(ATTENTION, say, key="wirings.option.attention"),
            select(
                START,
                say,
                values=STARTS,
                shown=lambda size: f"{size:g}",
                key="wirings.option.start",
            ),
            select(WIDTH, say, values=WIDTHS, shown=str, key="wirings.option.width"),
            select(FF, say, values=FFS, shown=str, key="wirings.option.ff"),
            select(SEED_COUNT, say, values=SEEDS, shown=str),
            number(OPTIONS["seed"], say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.changes, self.profile = Changes(self.say), Gradients(self.say)
        return {"changes": self.changes, "profile": self.profile}

    @property
    def drawings(self) -> Sequence[Drawing]:
        return [
            *(Drawing(name) for name in BASE),
            *(Drawing(name, f"variant={name}") for name in VARIANTS),
        ]

    def draw(self) -> None:
        changes, profile = self.answer("changes"), self.answer("profile")
        assert changes is not None
        assert profile is not None
        self.answers = Answers(self.values["variant"], changes, profile)
        self.changes.draw(changes, self.answers.variant, self.values["depth"])
        self.profile.draw(profile, self.answers.variant)

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, answers = self.say, self.answers
        one_seed = answers.changes.done == 1 and not self.works["changes"].running
        broken = answers.not_finite()
        if broken is not None:
            wiring, depth = broken
            return [say("wirings.not_finite", wiring=self._named(wiring), depth=depth)]
        return [
            self._exponents(),
            *([say("experiment.one_seed")] if one_seed else self._verdict()),
            *self._gradients(),
            *self._what_ran(),
        ]

    def _exponents(self) -> str:
        variant, post, pre = (
            with_error(power["mean"], power["se"]) for power in self.answers.exponents()
        )
        return self.say(
            "wirings.exponents",
            deepest=DEPTHS[-1],
            variant=self._named(self.answers.variant),
            of_variant=variant,
            post=post,
            pre=pre,
            seeds=self.seeds_of("changes"),
        )

    def _verdict(self) -> list[str]:
        verdict = self.answers.verdict()
        if verdict is None:
            return []
        return [self.say(f"wirings.verdict.{verdict}", variant=self._named(self.answers.variant))]

    def _gradients(self) -> list[str]:
        """Of the last layer over the first's, in length."""
        say, answers, depth = self.say, self.answers, self.values["depth"]
        if depth == 1:
            return [say("wirings.one_layer")]
        ratios = answers.ratios()
        variant, post, pre = (with_error(each["geomean"], each["geomean_se"]) for each in ratios)
        name = self._named(answers.variant)
        said = [
            say(
                "wirings.gradients",
                depth=depth,
                variant=name,
                of_variant=variant,
                post=post,
                pre=pre,
            )
        ]
        error = ratios[0]["geomean_se"]
        if math.isfinite(error) and not told_apart(ratios[0]["geomean"] - 1, error):
            said.append(say("wirings.even", variant=name))
        return said

    def _what_ran(self) -> list[str]:
        """What of the settings could not be kept to, or is not as published."""
        say, state, variant = self.say, self.values, self.answers.variant
        name, said = self._named(variant), []
        if attention_of(state) != state["attention"]:
            said.append(say("wirings.softmax_only", variant=name))
        if start_of(state) > 0:
            said.append(say(f"wirings.perturbed.{variant}", start=significant(state["start"], 1)))
        elif state["start"] > 0:
            said.append(say("wirings.no_streams", variant=name))
        return said

    def _named(self, wiring: str) -> str:
        return self.say(f"wiring.{wiring}")

    def tables(self) -> list[Table]:
        say, answers, depth = self.say, self.answers, self.values["depth"]
        laws_source = say("wirings.table.fits", seeds=self.seeds_of("changes"))
        caption = say("wirings.table.changes", seeds=self.seeds_of("changes"))
        of_layers = say("wirings.table.profile", depth=depth, seeds=self.seeds_of("profile"))
        changes, profile = answers.changes, answers.profile
        return [
            self._summary(),
            result_table(changes, say, name="changes", caption=caption, rows=range(len(DEPTHS))),
            laws.table(say, DEPTHS[-1], answers.fits(), laws_source),
            result_table(profile, say, name="profile", caption=of_layers, rows=range(depth)),
        ]

    def _summary(self) -> Table:
        say, answers = self.say, self.answers
        return Table(
            name="summary",
            caption=say("wirings.table.summary", deepest=DEPTHS[-1], depth=self.values["depth"]),
            columns=[(name, say(f"wirings.table.{name}")) for name in ("wiring", "power", "ratio")],
            rows=[
                [
                    self._named(wiring),
                    with_error(power["mean"], power["se"]),
                    with_error(ratio["geomean"], ratio["geomean_se"]),
                ]
                for wiring, power, ratio in zip(
                    answers.wirings, answers.exponents(), answers.ratios(), strict=True
                )
            ],
        )

    def details(self) -> list[tuple[str, str]]:
        say, config = self.say, self.answers.changes.config
        seeds = say("wirings.details.from_seed", n=config["seeds"], seed=config["seed"])
        change = say("wirings.details.changes_text", change=self.percent(config["change"]))
        pairs = [
            ("experiment.details.stacks", self.stack_in_words(config)),
            ("experiment.details.attention", self.attention_in_words(config)),
            ("experiment.details.seeds", seeds),
            ("wirings.details.changes", change),
            ("wirings.details.power", say("wirings.details.power_text")),
            ("wirings.details.gradients", say("wirings.details.gradients_text")),
            ("experiment.details.version", NUMBERS_VERSION),
        ]
        return [(say(key), text) for key, text in pairs]
