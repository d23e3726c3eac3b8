"""The same small language model, trained three times side by side: what learns, what is stuck?"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from app.experiments import recorded
from app.experiments.experiment import Experiment
from app.experiments.training_answers import WHAT, Answers, Shown
from app.experiments.training_figures import Losses, Signs
from app.experiments.training_words import (
    about,
    compared,
    reading,
    steps_table,
    verdicts_table,
)
from app.experiments.work import Run, State
from app.nn import language_model
from app.nn import training as nn_training
from app.nn.wirings import BASE
from app.probes import training
from app.probes.options import Option
from app.probes.result import Result
from app.ui.controls import Control, number, select, slider, switch
from app.ui.figures import Chart
from app.ui.markup import Table

RATES = (0.0003, 0.001, 0.002, 0.003, 0.005, 0.01, 0.015, 0.02, 0.03, 0.1, 0.3, 1.0)
WARMUPS = (10, 25, 50, 100, 200)
DEPTHS = (2, 4, 6, 8, 12)
STEPS = (20, 50, 100, 200, 400)
COMPARE = Option("compare", "choice", "previous", choices=("previous", "recorded", "nothing"))

_KEPT = 4  # finished runs


def _config(state: State) -> dict[str, Any]:
    """All that the probe takes: what has no control stays as the probe has it."""
    return {
        name: state.get(name, option.default) for name, option in training.CONTRAST_TAKES.items()
    }


def _narrowed(name: str, values: Sequence[Any]) -> Option:
    return replace(training.CONTRAST_TAKES[name], low=values[0], high=values[-1])


class Training(Experiment):
    name = "training"
    runs = (
        Run("trained", training.contrast, _config, action="train"),
        Run("recorded", recorded.replay, lambda state: {"text": state["text"]}),
    )
    first = ("rate", "warmup")
    code = (nn_training, language_model)

    def __init__(self, language: str) -> None:
        self._finished: OrderedDict[str, Result] = OrderedDict()
        super().__init__(language)

    def build_controls(self) -> list[Control]:
        say, takes = self.say, training.CONTRAST_TAKES
        return [
            slider(_narrowed("rate", RATES), say, values=RATES, key="training.option.rate"),
            slider(_narrowed("warmup", WARMUPS), say, values=WARMUPS, key="training.option.warmup"),
            select(WHAT, say, key="training.option.what"),
            select(COMPARE, say, key="training.option.compare"),
            switch(takes["optimizer"], say, key="training.option.optimizer"),
            slider(_narrowed("depth", DEPTHS), say, values=DEPTHS, key="training.option.depth"),
            switch(takes["text"], say, key="training.option.text"),
            select(
                _narrowed("steps", STEPS),
                say,
                values=STEPS,
                shown=str,
                key="training.option.steps",
            ),
            number(takes["seed"], say, key="training.option.seed"),
        ]

    def build_charts(self) -> dict[str, Chart]:
        self.losses, self.signs = Losses(self.say), Signs(self.say)
        return {"loss": self.losses, "signs": self.signs}

    @property
    def wirings(self) -> Sequence[str]:
        return BASE

    def results(self) -> dict[str, Result]:
        """Only what belongs to the present settings."""
        now = self._now()
        return {now.source: now.result} if now else {}

    def press(self, action: str) -> None:
        if action == "reset":
            self._finished.clear()
        super().press(action)

    def draw(self) -> None:
        trained = self.answer("trained")
        if trained is not None and self.works["trained"].finished:
            self._finished[repr(trained.config)] = trained
            self._finished.move_to_end(repr(trained.config))
            while len(self._finished) > _KEPT:
                self._finished.popitem(last=False)
        now = self._now()
        self.answers = Answers(self.values, now, self._before(now), self.works["trained"].running)
        self.losses.draw(self.answers)
        self.signs.draw(self.answers)

    # ------------------------------------------------------------------ words

    def sentences(self) -> list[str]:
        return [*reading(self.say, self.answers), *compared(self.say, self.answers)]

    def tables(self) -> list[Table]:
        now = self.answers.now
        return [verdicts_table(self.say, now), steps_table(self.say, now)] if now else []

    def details(self) -> list[tuple[str, str]]:
        return about(self.say, self.answers, _config(self.values))

    # ------------------------------------------------------------------

    def _aim(self) -> None:
        super()._aim()
        if repr(_config(self.values)) in self._finished:  # it is shown again: nothing to press
            self._remarks.pop("trained", None)

    def _now(self) -> Shown | None:
        """At the present settings: what is being trained, else what was, else what was recorded."""
        trained = self.answer("trained") or self._finished.get(repr(_config(self.values)))
        if trained is not None:
            return Shown(trained, "trained")
        known = self.answer("recorded")
        if known is not None and known.config == _config(self.values):
            return Shown(known, "recorded")
        return None

    def _before(self, now: Shown | None) -> Shown | None:
        compare = self.values["compare"]
        if compare == "nothing":
            return None
        others = [r for r in self._finished.values() if r.config != _config(self.values)]
        if compare == "previous" and others:
            return Shown(others[-1], "trained")
        known = self.answer("recorded")
        if known is None or (now is not None and now.source == "recorded"):
            return None
        return Shown(known, "recorded")
