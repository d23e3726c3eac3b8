"""The same small language model trained with each wiring, step by step, and what tells learning
from being stuck.

Stuck is collapse, not explosion: after a few steps the final states of all tokens are one, nothing
reaches the lower layers any more, and the loss stays at that of a guess by frequency alone.
Everything else, weights, batches and rates, is the same for all wirings.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, replace
from math import nan
from typing import Any

from app.nn.language_model import TRAINABLE
from app.nn.training import Corpus, Report, Run, TrainingConfig, verdict
from app.probes import sentences
from app.probes.options import narrowed, validated
from app.probes.result import Result

# Of a size at which a step takes milliseconds in a browser and no pause is longer than 50.
TAKES = narrowed(
    (
        *("wiring", "depth", "width", "ff", "tokens", "batch", "text"),
        *("optimizer", "schedule", "rate", "warmup", "steps", "seed"),
    ),
    wiring={"choices": TRAINABLE},
    depth={"default": 6, "high": 24},
    width={"default": 32, "high": 64},
    ff={"default": 2},
    tokens={"default": 16, "low": 2},
)
# The three runs of the contrast have a wiring and a warm-up each, and a rate that does not fall.
CONTRAST_TAKES = {
    name: replace(option, default=100) if name == "warmup" else option
    for name, option in TAKES.items()
    if name not in ("wiring", "schedule")
}
# The rate at which, at these sizes and in 200 steps of Adam, Post-LN without warm-up is stuck, with
# 100 steps of it learns, and Pre-LN learns without: for each text in eight seeds of eight.
CONTRAST = {"en": 0.01, "zh-Hans": 0.015}
EVERY = 5  # steps from one partial Result to the next
LOOKS = 10  # at the validation split, besides the one before the first step

# Columns of each wiring, after its name: what of a Report they show.
SHOWN = {
    "": "loss",
    "_gradient": "gradient",
    "_logit": "logit",
    "_cosine": "cosine",
    "_lower": "lower",
}


@dataclass(frozen=True)
class Arm:
    """One of the runs that are trained side by side."""

    wiring: str
    warmup: int


def measure(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A row per step; partial Results as steps are done. `done` and `total` count steps.

    Columns: step (1 …), rate, and for each wiring w: `w`, the loss of the step's batch in nats per
    character; `w_gradient`, the length of the whole gradient; `w_logit`, the largest attention
    logit; `w_cosine`, the mean cosine between the final states of the batch's tokens; `w_lower`,
    the length of the gradient of the lower half's matrices ÷ that at step 1; all of them before
    the step changed anything, and after it, every so many steps, `w_validation`, the loss over the
    whole validation split (NaN in between).
    Summary: `symbols` in the text; `unigram`, the cross-entropy on the validation split of a guess
    by the training split's frequencies; per wiring its `validation` loss at the start and the last
    one, its number of `parameters` and the `verdict` (see `training.verdict`) by now.
    None: still at work. Raises ValueError for a config that `validated` refuses.
    """
    config = validated(config, TAKES)
    yield from _train("training", config, {w: Arm(w, config["warmup"]) for w in config["wiring"]})


def contrast(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """Three runs side by side, step by step, from the same weights and on the same batches:
    `post_ln`, Post-LN without warm-up; `post_ln_warm`, the same with it; `pre_ln`, Pre-LN without.

    Columns and summary as of `measure`, under these names in the place of the wirings'; `rate` is
    that of a run without warm-up, `rate_warm` that of the one with it.
    """
    config = validated(config, CONTRAST_TAKES)
    yield from _train(
        "contrast",
        config,
        {
            "post_ln": Arm("post_ln", 0),
            "post_ln_warm": Arm("post_ln", config["warmup"]),
            "pre_ln": Arm("pre_ln", 0),
        },
    )


def _train(probe: str, config: dict[str, Any], arms: dict[str, Arm]) -> Iterator[Result | None]:
    corpus = yield from _corpus(config["text"])
    runs: dict[str, Run] = {}
    for name, arm in arms.items():
        runs[name] = Run(_training(config, arm), corpus, config["seed"])
        yield None
    history = History(probe, config, runs)
    yield from history.look()
    for step in range(1, config["steps"] + 1):
        for name, run in runs.items():
            report = yield from run.pieces()
            history.add(name, report)
        at_the_end = step == config["steps"]
        if at_the_end or step % max(1, config["steps"] // LOOKS) == 0:
            yield from history.look()
        if at_the_end or step % EVERY == 0:
            yield history.result()


class History:
    """What all runs have reported so far."""

    def __init__(self, probe: str, config: dict[str, Any], runs: dict[str, Run]) -> None:
        self._probe, self._config, self._runs = probe, config, runs
        self._reports: dict[str, list[Report]] = {name: [] for name in runs}
        self._validation: dict[str, list[tuple[int, float]]] = {name: [] for name in runs}

    def add(self, name: str, report: Report) -> None:
        self._reports[name].append(report)

    def look(self) -> Generator[None, None, None]:
        """The loss of every run over the validation split, as it is now."""
        for name, run in self._runs.items():
            loss = yield from run.validation_pieces()
            self._validation[name].append((run.done, loss))

    def result(self) -> Result:
        columns: dict[str, list[Any]] = {"step": [r.step for r in self._of_any]}
        columns |= self._rates()
        for name, reports in self._reports.items():
            for suffix, field in SHOWN.items():
                columns[f"{name}{suffix}"] = [getattr(report, field) for report in reports]
            seen = dict(self._validation[name])
            columns[f"{name}_validation"] = [seen.get(report.step, nan) for report in reports]
        done = len(self._of_any)
        return Result(
            self._probe, self._config, columns, self._summary(), done, self._config["steps"]
        )

    @property
    def _of_any(self) -> list[Report]:
        return next(iter(self._reports.values()))

    def _rates(self) -> dict[str, list[float]]:
        """`rate`, and `rate_warm` where one run has another one."""
        rates = {"rate": [report.rate for report in self._of_any]}
        if "post_ln_warm" in self._reports:
            rates["rate_warm"] = [report.rate for report in self._reports["post_ln_warm"]]
        return rates

    def _summary(self) -> dict[str, Any]:
        any_run = next(iter(self._runs.values()))
        answer: dict[str, Any] = {"symbols": any_run.corpus.symbols, "unigram": any_run.unigram}
        for name, run in self._runs.items():
            looks, last = self._validation[name], self._reports[name][-1]
            answer[name] = {
                "parameters": run.model.parameters.vector.size,
                "start": looks[0][1],
                "validation": looks[-1][1],
                "verdict": verdict(last.cosine, last.lower, looks[-1][1], run.unigram),
            }
        return answer


def _training(config: Mapping[str, Any], arm: Arm) -> TrainingConfig:
    names = ("depth", "width", "ff", "tokens", "batch", "optimizer", "schedule", "rate")
    chosen = {name: config[name] for name in names if name in config}
    return TrainingConfig(arm.wiring, warmup=arm.warmup, **chosen)


def _corpus(language: str) -> Generator[None, None, Corpus]:
    """The text as numbers; written by its grammar the first time."""
    if language not in _corpora:
        text = yield from sentences.writing(language)
        _corpora[language] = Corpus.of(text, sentences.VALIDATION)
    return _corpora[language]


_corpora: dict[str, Corpus] = {}
