"""The two figures of the training experiment: the loss, and what tells why it is what it is."""

from __future__ import annotations

from dataclasses import replace

from app.experiments.training_answers import QUANTITIES, RUNS, Answers, Shown, seen
from app.ui.figures import NEUTRAL, Chart
from app.ui.numbers import significant
from app.ui.scales import finite, log_range, nice_ceiling
from app.ui.strings import Strings
from app.ui.theme import SERIES, Series

# Post-LN twice: of one colour, told apart by dash and marker.
OF_RUN: dict[str, Series] = {
    "post_ln": SERIES["post_ln"]["measured"],
    "post_ln_warm": replace(
        SERIES["post_ln"]["measured"], dash=(1, 3), marker="triangle", filled=False
    ),
    "pre_ln": replace(SERIES["pre_ln"]["measured"], dash=()),
}
RULE = Series(NEUTRAL, (3, 3), "dash")
FAINT = {"line_alpha": 0.4, "line_width": 1.5}
HEIGHT, LEGEND_ROW = 464, 24  # pixels; of the figure whose legend has one row less, so much less


class Curves(Chart):
    """Curves of three runs against the step, those before them faint behind."""

    def __init__(self, say: Strings, *, height: int, y_log: bool = False) -> None:
        super().__init__(height=height, y_log=y_log)
        self.say = say
        self.upright("warmup")
        self.line("rule", RULE)
        for run in RUNS:
            self.line(f"{run}_before", OF_RUN[run], **FAINT)

    def rows(self) -> dict[str, tuple[tuple[str, ...], str]]:
        """The legend's rows for the three runs; their words come with the numbers."""
        return {run: ((f"{run}_line", f"{run}_points"), "") for run in RUNS}

    def draw_frame(self, answers: Answers, y: tuple[float, float]) -> None:
        steps = answers.steps
        self.limits(x=(0, steps), y=y)
        self.ticks({steps * k / 4: f"{steps * k / 4:g}" for k in range(5)})
        self.mark("warmup", answers.warmup if answers.warmup < steps else None)
        for run in RUNS:
            self.reword(run, self.say(f"training.run.{run}", warmup=answers.warmup))
        self.visible(answers.before is not None, row="before")
        if answers.before is not None:
            self.reword("before", self.say(f"training.figure.before.{answers.before.source}"))

    def draw_rule(self, answers: Answers, y: float | None, words: str) -> None:
        """The horizontal line that the curves are to be read against."""
        shown = y is not None
        self.show("rule", x=[0, answers.steps] if shown else [], y=[y, y] if y is not None else [])
        self.visible(shown, row="rule")
        self.reword("rule", words)


class Losses(Curves):
    """Loss over the validation split, as points; of each batch, as a thin line behind."""

    def __init__(self, say: Strings) -> None:
        super().__init__(say, height=HEIGHT)
        for run in RUNS:
            self.line(f"{run}_batch", OF_RUN[run], line_alpha=0.45, line_width=1, line_dash=[])
        for run in RUNS:
            self.line(f"{run}_line", OF_RUN[run])
            self.points(f"{run}_points", OF_RUN[run])
        self.legend(
            {
                **self.rows(),
                "batch": (("post_ln_batch",), say("training.figure.batch")),
                "rule": (("rule",), ""),
                "before": (("post_ln_before",), ""),
            }
        )

    def draw(self, answers: Answers) -> None:
        tops = [self._draw_run(answers, run) for run in RUNS]
        any_shown = answers.now or answers.before
        unigram = any_shown.unigram if any_shown else None
        words = significant(unigram, 3) if unigram else ""
        self.draw_rule(answers, unigram, self.say("training.figure.unigram", loss=words))
        # One run that climbs away must not flatten the others.
        highest = min(max(tops), 2 * unigram if unigram else 1.0)
        self.draw_frame(answers, (0, nice_ceiling(highest)))
        self.axis_labels(x=self.say("training.figure.step"), y=self.say("training.figure.loss"))

    def _draw_run(self, answers: Answers, run: str) -> float:
        """Returns the height that the axis should reach."""
        x, y = answers.now.looks(run) if answers.now else ([], [])
        self.show(f"{run}_line", x=x, y=y)
        self.show(f"{run}_points", x=x, y=y)
        steps, batches = (answers.now.steps, answers.now.column(run)) if answers.now else ([], [])
        self.show(f"{run}_batch", x=steps, y=batches)
        x_before, before = answers.before.looks(run) if answers.before else ([], [])
        self.show(f"{run}_before", x=x_before, y=before)
        return max(finite(y, before), default=0.0)


class Signs(Curves):
    """One of the quantities that tell a run that learns from one that is stuck."""

    def __init__(self, say: Strings) -> None:
        super().__init__(say, height=HEIGHT - LEGEND_ROW, y_log=True)
        for run in RUNS:
            self.line(f"{run}_line", OF_RUN[run])
            self.points(f"{run}_points", OF_RUN[run])
        self.legend(
            {
                **self.rows(),
                "rule": (("rule",), say("training.figure.limit")),
                "before": (("post_ln_before",), ""),
            }
        )

    def draw(self, answers: Answers) -> None:
        what = answers.values["what"]
        limit = QUANTITIES[what].limit
        heights = [
            *self._draw(answers.now, "line", what),
            *self._draw(answers.before, "before", what),
        ]
        for run in RUNS:
            rows = answers.now.rows if answers.now else []
            drawn = self.data(f"{run}_line")
            self.show(
                f"{run}_points", x=[drawn["x"][i] for i in rows], y=[drawn["y"][i] for i in rows]
            )
        self.draw_rule(answers, limit, self.say("training.figure.limit"))
        self.draw_frame(answers, log_range(heights, [limit] if limit else []))
        self.axis_labels(
            x=self.say("training.figure.step"), y=self.say(f"training.quantity.{what}")
        )

    def _draw(self, shown: Shown | None, glyph: str, what: str) -> list[float]:
        """Returns all that the axis has to reach."""
        heights = []
        for run in RUNS:
            y = seen(what, shown.column(run, what)) if shown else []
            self.show(f"{run}_{glyph}", x=shown.steps if shown else [], y=y)
            heights += finite(y)
        return heights
