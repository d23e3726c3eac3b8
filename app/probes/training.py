"""The same small language model trained with each wiring, step by step, and what tells learning
from being stuck.

Stuck is collapse, not explosion: after a few steps the final states of all tokens are one, nothing
reaches the lower layers any more, and the loss stays at that of a guess by frequency alone.
Everything else, weights, batches and rates, is the same for all wirings.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
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
    corpus = yield from _corpus(config["text"])
    runs: dict[str, Run] = {}
    for wiring in config["wiring"]:
        runs[wiring] = Run(_training(config, wiring), corpus, config["seed"])
        yield None
    history = History(config, runs)
    yield from history.look()
    for step in range(1, config["steps"] + 1):
        for wiring, run in runs.items():
            report = yield from run.pieces()
            history.add(wiring, report)
        at_the_end = step == config["steps"]
        if at_the_end or step % max(1, config["steps"] // LOOKS) == 0:
            yield from history.look()
        if at_the_end or step % EVERY == 0:
            yield history.result()


class History:
    """What all runs have reported so far."""

    def __init__(self, config: dict[str, Any], runs: dict[str, Run]) -> None:
        self._config, self._runs = config, runs
        self._reports: dict[str, list[Report]] = {wiring: [] for wiring in runs}
        self._validation: dict[str, list[tuple[int, float]]] = {wiring: [] for wiring in runs}

    def add(self, wiring: str, report: Report) -> None:
        self._reports[wiring].append(report)

    def look(self) -> Generator[None, None, None]:
        """The loss of every run over the validation split, as it is now."""
        for wiring, run in self._runs.items():
            loss = yield from run.validation_pieces()
            self._validation[wiring].append((run.done, loss))

    def result(self) -> Result:
        of_any = next(iter(self._reports.values()))
        columns: dict[str, list[Any]] = {
            "step": [report.step for report in of_any],
            "rate": [report.rate for report in of_any],
        }
        for wiring, reports in self._reports.items():
            for suffix, field in SHOWN.items():
                columns[f"{wiring}{suffix}"] = [getattr(report, field) for report in reports]
            seen = dict(self._validation[wiring])
            columns[f"{wiring}_validation"] = [seen.get(report.step, nan) for report in reports]
        done = len(of_any)
        return Result(
            "training", self._config, columns, self._summary(), done, self._config["steps"]
        )

    def _summary(self) -> dict[str, Any]:
        any_run = next(iter(self._runs.values()))
        answer: dict[str, Any] = {"symbols": any_run.corpus.symbols, "unigram": any_run.unigram}
        for wiring, run in self._runs.items():
            looks, last = self._validation[wiring], self._reports[wiring][-1]
            answer[wiring] = {
                "parameters": run.model.parameters.vector.size,
                "start": looks[0][1],
                "validation": looks[-1][1],
                "verdict": verdict(last.cosine, last.lower, looks[-1][1], run.unigram),
            }
        return answer


def _training(config: Mapping[str, Any], wiring: str) -> TrainingConfig:
    names = ("depth", "width", "ff", "tokens", "batch", "optimizer", "schedule", "rate", "warmup")
    return TrainingConfig(wiring, **{name: config[name] for name in names})


def _corpus(language: str) -> Generator[None, None, Corpus]:
    """The text as numbers; written by its grammar the first time."""
    if language not in _corpora:
        text = yield from sentences.writing(language)
        _corpora[language] = Corpus.of(text, sentences.VALIDATION)
    return _corpora[language]


_corpora: dict[str, Corpus] = {}
