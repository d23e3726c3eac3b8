"""How large are the gradients at the start, layer by layer, and in the last layer against L?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.experiments.experiment import Drawing, Experiment
from app.experiments.gradients_answers import (
    STACK,
    Answers,
    in_words,
    last_config,
    profile_config,
    verdict,
)
from app.experiments.gradients_figures import LastLayer, OverFirstLayer
from app.experiments.gradients_words import (
    columns_like,
    exponents,
    not_finite,
    slopes_table,
    what_ran,
)
from app.experiments.tables import result_table
from app.experiments.work import Run
from app.nn.wirings import BASE
from app.probes import gradients
from app.probes.options import OPTIONS
from app.ui.controls import Control, number, select, slider, switch
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.numbers import significant, with_error

WIDTHS = (32, 64, 128, 256)
SEEDS = (1, 2, 4, 8, 16, 24, 48, 96)
FFS = (1, 2, 4)
POSITIONS = (5, 12, 24)
DEPTH = replace(OPTIONS["depth"], low=2)  # one layer has no profile
WIDTH = replace(OPTIONS["width"], low=WIDTHS[0], high=WIDTHS[-1], step=1)
TOKENS = replace(OPTIONS["tokens"], low=POSITIONS[0], high=POSITIONS[-1])
SEED_COUNT = replace(OPTIONS["seeds"], low=SEEDS[0], high=SEEDS[-1])


class Gradients(Experiment):
    name = "gradients"
    runs = (
        Run("profile", gradients.measure, profile_config),
        Run("last", gradients.measure_last, last_config),
    )
    first = ("depth", "stack")

    def build_controls(self) -> list[Control]:
        say = self.say
        return [
            slider(DEPTH, say, key="gradients.option.depth"),
            select(STACK, say, key="gradients.option.stack"),
            select(OPTIONS["matrix"], say, key="gradients.option.matrix"),
            switch(OPTIONS["attention"], say),
            select(WIDTH, say, values=WIDTHS, shown=str, key="gradients.option.width"),
            select(OPTIONS["ff"], say, values=FFS, key="gradients.option.ff"),
            select(TOKENS, say, values=POSITIONS, shown=str, key="gradients.option.tokens"),
            switch(OPTIONS["loss"], say, key="gradients.option.loss"),
            select(SEED_COUNT, say, values=SEEDS, shown=str),
            number(OPTIONS["seed"], say),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.profile, self.last = OverFirstLayer(self.say), LastLayer(self.say)
        return {"profile": self.profile, "last": self.last}

    @property
    def drawings(self) -> Sequence[Drawing]:
        decoder = "stack=decoder|decoder_iid"
        return [
            *(Drawing(wiring, "stack=encoder") for wiring in self.wirings),
            *(Drawing(wiring, decoder, decoder=True) for wiring in self.wirings),
        ]

    def draw(self) -> None:
        profile, last = self.answer("profile"), self.answer("last")
        assert profile is not None
        assert last is not None
        self.answers = Answers(profile, last)
        self.profile.draw(self.answers)
        self.last.draw(last, self.answers.depth)

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        say, answers = self.say, self.answers
        one_seed = answers.profile.done == 1 and not self.works["profile"].running
        return [
            *self._instead(),
            *not_finite(say, answers.profile, "layer"),
            *self._ratio(),
            *self._shape(),
            *self._decoder(),
            *exponents(say, answers.last),
            *([say("experiment.one_seed")] if one_seed else []),
            *([] if answers.has_theory else [say("gradients.no_theory")]),
        ]

    def _instead(self) -> list[str]:
        """The chosen matrix is not there, so another one is shown."""
        wanted, used = self.values["matrix"], self.answers.matrix
        if wanted == used:
            return []
        reason = "encoder" if wanted.startswith("cross_") and self._is_encoder else "uniform"
        return [
            self.say(f"gradients.instead.{reason}", wanted=in_words(wanted), used=in_words(used))
        ]

    @property
    def _is_encoder(self) -> bool:
        return bool(self.answers.profile.config["stack"] == "encoder")

    def _ratio(self) -> list[str]:
        """How many times as long the last layer's gradient is as the first's."""
        answers = self.answers
        ratios = [answers.ratio(wiring) for wiring in BASE]
        if not all(math.isfinite(ratio["geomean"]) for ratio in ratios):
            return []
        post, pre = (with_error(ratio["geomean"], ratio["geomean_se"]) for ratio in ratios)
        return [
            self.say(
                "gradients.ratio",
                depth=answers.depth,
                matrix=in_words(answers.matrix),
                post=post,
                pre=pre,
                seeds=self.seeds_of("profile"),
            )
        ]

    def _shape(self) -> list[str]:
        """Whether each profile is flat, rises or falls, as far as its error tells."""
        say, answers = self.say, self.answers
        slopes = {wiring: answers.per_layer(wiring) for wiring in BASE}
        verdicts = {wiring: verdict(slope) for wiring, slope in slopes.items()}
        if "unknown" in verdicts.values():
            return []
        clauses = {
            wiring: say(
                f"gradients.shape.{verdicts[wiring]}",
                wiring=say(f"wiring.{wiring}"),
                slope=with_error(slopes[wiring]["mean"], slopes[wiring]["se"]),
            )
            for wiring in BASE
        }
        found = [say("gradients.shape.both", post=clauses["post_ln"], pre=clauses["pre_ln"])]
        if self._is_encoder and verdicts["post_ln"] == "flat":
            found.append(say("gradients.encoder"))
        return found

    def _decoder(self) -> list[str]:
        """What theory says of the decoder, and what its memory has to do with it."""
        slope = self.answers.decoder_slope
        if slope is not None:
            return [self.say("gradients.decoder", slope=significant(slope, 3))]
        return [] if self._is_encoder else [self.say("gradients.iid")]

    def tables(self) -> list[Table]:
        say, answers = self.say, self.answers
        profile, last = answers.profile, answers.last
        words = {"matrix": in_words(answers.matrix), "depth": answers.depth}
        seeds, last_seeds = self.seeds_of("profile"), self.seeds_of("last")

        def table(name: str, result: Any, seeds: str) -> Table:
            caption = say(f"gradients.table.{name}", seeds=seeds, **words)
            rows = range(len(next(iter(result.columns.values()))))
            return result_table(result, say, name=name, caption=caption, rows=rows)

        relative = columns_like(profile, lambda name: name == "layer" or "_relative" in name)
        norms = columns_like(profile, lambda name: "_relative" not in name)
        return [
            slopes_table(say, answers),
            table("relative", relative, seeds),
            table("norms", norms, seeds),
            table("last", last, last_seeds),
        ]

    def details(self) -> list[tuple[str, str]]:
        say, config = self.say, self.answers.profile.config
        pairs = what_ran(self, config)
        pairs.insert(-1, ("gradients.details.profile", say("gradients.details.profile_text")))
        return [(say(key), text) for key, text in pairs]
