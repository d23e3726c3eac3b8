"""What an experiment computes: its runs, and each of them under way, in slices."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from app.probes.result import Result

State = Mapping[str, Any]

_SLICE = 0.005  # seconds; probes pause more often than that, so a newer value is soon heard
_KEPT = 8  # finished answers that are held for a reader who comes back to a value


@dataclass(frozen=True)
class Run:
    """One computation of an experiment: a probe, and what it is computed from.

    `config` picks from the state all that the probe depends on: same config, same answer. A run
    with an `action` starts when that button is pressed, any other by itself.
    """

    name: str
    probe: Callable[[Mapping[str, Any]], Iterator[Result | None]]
    config: Callable[[State], dict[str, Any]]
    action: str | None = None


class Work:
    """A run under way: the config it answers, its generator, its newest answer."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.config: dict[str, Any] | None = None
        self.result: Result | None = None
        self.seconds = 0.0
        self.running = False
        self._failed = False
        self._steps: Iterator[Result | None] | None = None
        self._kept: OrderedDict[str, tuple[Result, float]] = OrderedDict()

    @property
    def finished(self) -> bool:
        return self.result is not None and self.result.done >= self.result.total

    @property
    def paused(self) -> bool:
        """Stopped by the reader before its end; what is there stays, and can be gone on with."""
        return self._steps is not None and not self.running

    @property
    def expected(self) -> int:
        config = self.config or {}
        return int(config.get("seeds", config.get("steps", 0)))

    def aim(self, config: dict[str, Any]) -> bool:
        """Answer this config from now on. True if it is another one than before."""
        if config == self.config:
            if self.run.action is None:
                self.retry()
            return False
        self.drop()
        self.config = config
        if self.run.action is None:
            kept = self._kept.get(repr(config))
            if kept:
                self.result, self.seconds = kept
            else:
                self.start()
        return True

    def learn(self, other: Work) -> None:
        """Know what the other has answered already."""
        self._kept.update(other._kept)
        if repr(self.config) in self._kept:
            self.drop()
            self.config = None

    def start(self) -> None:
        """Begin, from the first seed, or go on after a pause."""
        assert self.config is not None
        if self._steps is None:
            self.drop()
            self._steps = self.run.probe(self.config)
        self.running, self._failed = True, False

    def retry(self) -> None:
        """Begin anew what an error ended."""
        if self._failed:
            self.start()

    def fail(self) -> None:
        self.drop()
        self._failed = True

    def pause(self) -> None:
        self.running = False

    def drop(self) -> None:
        self.running = self._failed = False
        self._steps, self.result, self.seconds = None, None, 0.0

    def advance(self) -> bool:
        """One slice. True if there is a new answer."""
        assert self._steps is not None
        begun = now = perf_counter()
        answer = None
        while answer is None and now - begun < _SLICE:
            answer = next(self._steps, None)
            if answer and not answer.whole and self.run.action:
                answer = None  # where it can be stopped, nothing less than a seed is left behind
            now = perf_counter()
        self.seconds += now - begun
        if answer is None:
            return False
        self.result = answer
        if self.finished:
            self.running, self._steps = False, None
            self._keep()
        return True

    def _keep(self) -> None:
        assert self.result is not None
        self._kept[repr(self.config)] = (self.result, self.seconds)
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
