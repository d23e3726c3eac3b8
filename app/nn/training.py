"""Training: optimizers, learning-rate schedules, and a run that goes one step at a time.

A run says after each step what tells a model that learns from one that is stuck: not the loss
alone, but whether the final states of all tokens have collapsed onto one another and whether
anything still reaches the lower layers.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, TypeVar

import numpy as np

from app.nn.language_model import LanguageModel, ModelConfig
from app.nn.stack import Purpose, generators
from app.nn.tensor import Array

ADAM_BETAS = (0.9, 0.98)  # Vaswani et al. 2017, section 5.3; ε as well
ADAM_EPSILON = 1e-9

COLLAPSED = 0.999  # mean cosine between final states above which they are one
CUT_OFF = 1e-3  # of its start, below which the lower layers' gradient is gone
LEARNED = 0.1  # nats below the unigram cross-entropy, from which on a model knows more than it

Answer = TypeVar("Answer")
Verdict = Literal["stuck", "learns", "waits", "diverges"]


# ---------------------------------------------------------------- learning rates


def original_schedule(step: int, width: int, warmup: int) -> float:
    """d^(−1/2) · min(s^(−1/2), s·w^(−3/2)), s = `step` from 1; without warm-up d^(−1/2)·s^(−1/2).

    Its peak, at s = w, is (d·w)^(−1/2). Vaswani et al. 2017 (arXiv 1706.03762), equation 3.
    """
    rising = step * warmup**-1.5 if warmup else float("inf")
    return float(width**-0.5 * min(step**-0.5, rising))


def linear_schedule(step: int, rate: float, warmup: int) -> float:
    """rate · min(1, s/w), s = `step` from 1: a linear warm-up, then the constant `rate`."""
    return rate * min(1.0, step / warmup) if warmup else rate


# ---------------------------------------------------------------- optimizers


class Sgd:
    """θ ← θ − η·g: no momentum."""

    def __init__(self, parameters: Array) -> None:
        self._parameters = parameters

    def step(self, gradients: Array, rate: float) -> None:
        self._parameters -= rate * gradients


class Adam:
    """Kingma and Ba 2014 (arXiv 1412.6980), algorithm 1, its corrections of bias in the order of
    section 2; β and ε of Vaswani et al. 2017. No decay, no clipping."""

    def __init__(self, parameters: Array) -> None:
        self._parameters = parameters
        self._mean = np.zeros_like(parameters)
        self._square = np.zeros_like(parameters)
        self._steps = 0

    def step(self, gradients: Array, rate: float) -> None:
        first, second = ADAM_BETAS
        self._steps += 1
        self._mean *= first
        self._mean += (1 - first) * gradients
        self._square *= second
        self._square += (1 - second) * gradients * gradients
        correction = (1 - second**self._steps) ** 0.5
        change = np.sqrt(self._square)
        change += ADAM_EPSILON * correction
        np.divide(self._mean, change, out=change)
        change *= rate * correction / (1 - first**self._steps)
        self._parameters -= change


OPTIMIZERS: dict[str, Callable[[Array], Sgd | Adam]] = {"adam": Adam, "sgd": Sgd}


# ---------------------------------------------------------------- the text as numbers


@dataclass(frozen=True)
class Corpus:
    """A text as whole numbers below `symbols`: `training` and `validation`, one after the other."""

    training: Array
    validation: Array
    symbols: int

    @classmethod
    def of(cls, text: str, validation: int) -> Corpus:
        """The last `validation` characters are the validation split."""
        alphabet = sorted(set(text))
        number = {character: i for i, character in enumerate(alphabet)}
        numbers = np.array([number[character] for character in text])
        return cls(numbers[:-validation], numbers[-validation:], len(alphabet))

    def windows(self, tokens: int) -> tuple[Array, Array]:
        """The validation split as inputs and targets, (windows, T) each: every character but the
        first is a target once, up to a rest shorter than a window."""
        count = (len(self.validation) - 1) // tokens
        inputs = self.validation[: count * tokens].reshape(count, tokens)
        targets = self.validation[1 : count * tokens + 1].reshape(count, tokens)
        return inputs, targets

    def unigram(self, tokens: int) -> float:
        """Cross-entropy in nats per character of those targets under the frequencies of the
        training split: what a model reaches that looks at no character before."""
        counts = np.bincount(self.training, minlength=self.symbols)
        share = counts / counts.sum()
        _, targets = self.windows(tokens)
        return float(-np.log(share[targets]).mean())


# ---------------------------------------------------------------- a run


@dataclass(frozen=True)
class TrainingConfig:
    """The model as in ModelConfig; `batch` windows a step; `optimizer` adam or sgd; `schedule`
    linear (to `rate`) or original (which needs no rate); `warmup` steps."""

    wiring: str
    depth: int = 6
    width: int = 32
    ff: int = 2
    tokens: int = 16
    batch: int = 8
    optimizer: str = "adam"
    schedule: str = "linear"
    rate: float = 0.01
    warmup: int = 0

    def rate_at(self, step: int) -> float:
        if self.schedule == "original":
            return original_schedule(step, self.width, self.warmup)
        return linear_schedule(step, self.rate, self.warmup)


@dataclass(frozen=True)
class Report:
    """What one step saw, before it changed the parameters.

    `loss`: of its batch, nats per character. `gradient`: ‖∂L/∂θ‖ over all parameters. `logit`:
    the largest of all layers' attention logits. `cosine`: between the final states of the batch's
    tokens, mean over all pairs. `lower`: ‖∂L/∂W‖ over the lower half's matrices, ÷ that of step 1.
    """

    step: int
    rate: float
    loss: float
    gradient: float
    logit: float
    cosine: float
    lower: float


class Run:
    """One training run of one wiring. The same config, corpus and seed give the same bytes on the
    same machine; another wiring gets the same weights and batches."""

    def __init__(
        self, config: TrainingConfig, corpus: Corpus, seed: int, dtype: Any = np.float32
    ) -> None:
        c = config
        self.config, self.corpus = config, corpus
        self.unigram = corpus.unigram(c.tokens)
        model = ModelConfig(c.wiring, c.depth, c.width, c.ff, c.tokens, corpus.symbols)
        self.model = LanguageModel(model, seed, dtype)
        self.done = 0
        self.last: Report | None = None
        self._optimizer = OPTIMIZERS[c.optimizer](self.model.parameters.vector)
        # 0 of this purpose belongs to the embedding.
        (self._choice,) = generators(seed, range(1), 1, Purpose.INPUT)
        self._lower_at_start: float | None = None

    def step(self) -> Report:
        """One step, at once."""
        return finish(self.pieces())

    def validation(self) -> float:
        """Loss over the whole validation split, nats per character, at once."""
        return finish(self.validation_pieces())

    def pieces(self) -> Generator[None, None, Report]:
        """One step; pauses at every sublayer, forward and backward."""
        logits: list[float] = []
        inputs, targets = self._batch()
        model, rate = self.model, self.config.rate_at(self.done + 1)
        loss, states = yield from model.loss_and_gradients(inputs, targets, logits.append)
        lower = length(*(model.gradients[name] for name in model.lower_layers()))
        if self._lower_at_start is None:
            self._lower_at_start = lower
        self.done += 1
        self.last = Report(
            step=self.done,
            rate=rate,
            loss=loss,
            gradient=length(model.gradients.vector),
            logit=max(logits),
            cosine=mean_cosine(states),
            lower=lower / self._lower_at_start,
        )
        self._optimizer.step(model.gradients.vector, rate)
        return self.last

    def validation_pieces(self, rows: int = 512) -> Generator[None, None, float]:
        """As `validation`, about `rows` characters at a time; pauses at every sublayer."""
        inputs, targets = self.corpus.windows(self.config.tokens)
        together = max(1, rows // self.config.tokens)
        total = 0.0
        for start in range(0, len(inputs), together):
            part = slice(start, start + together)
            loss = yield from self.model.losses(inputs[part], targets[part])
            total += loss * len(inputs[part])
        return total / len(inputs)

    def _batch(self) -> tuple[Array, Array]:
        """Windows from anywhere in the training split: inputs and targets, (batch, T) each."""
        text, c = self.corpus.training, self.config
        starts = self._choice.integers(len(text) - c.tokens, size=c.batch)
        windows = text[starts[:, None] + np.arange(c.tokens + 1)]
        return windows[:, :-1], windows[:, 1:]


def verdict(cosine: float, lower: float, validation: float, unigram: float) -> Verdict:
    """By collapse, not by the loss: `stuck` if the final states of all tokens are one (`cosine`)
    and the lower layers' gradient has gone (`lower`). What is not stuck `learns` if its validation
    loss is below the unigram cross-entropy by more than `LEARNED`, else it `waits`: a slow run
    may sit there for hundreds of steps and learn yet. `diverges`: its loss is no number any more.
    """
    if not isfinite(validation):
        return "diverges"
    if cosine > COLLAPSED and lower < CUT_OFF:
        return "stuck"
    return "learns" if validation < unigram - LEARNED else "waits"


def mean_cosine(states: Array) -> float:
    """Mean cosine over all pairs of different rows.  states: (rows, d)."""
    states = states.astype(np.float64)
    unit = states / np.sqrt(np.einsum("ri,ri->r", states, states))[:, None]
    total, rows = unit.sum(0), len(unit)
    return float((total @ total - rows) / (rows * (rows - 1)))


def length(*arrays: Array) -> float:
    """√Σ of all squares, in float64."""
    return float(sum(float(np.vdot(a, a)) for a in arrays) ** 0.5)


def finish(pieces: Generator[None, None, Answer]) -> Answer:
    """Run a generator to its end; what it returns."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
