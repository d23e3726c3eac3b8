"""The strategies that the tests of `nn` and `probes` use."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any


class Strategy:
    def __init__(self, draw: Callable[[Random], Any]) -> None:
        self.draw = draw

    def map(self, change: Callable[[Any], Any]) -> Strategy:
        return Strategy(lambda random: change(self.draw(random)))


def integers(low: int, high: int) -> Strategy:
    return Strategy(lambda random: random.choice((low, high, *[random.randint(low, high)] * 4)))


def floats(low: float, high: float) -> Strategy:
    return Strategy(lambda random: random.choice((low, high, *[random.uniform(low, high)] * 4)))


def booleans() -> Strategy:
    return Strategy(lambda random: random.random() < 0.5)


def sampled_from(choices: Sequence[Any]) -> Strategy:
    return Strategy(lambda random: random.choice(list(choices)))


def lists(of: Strategy, min_size: int = 0, max_size: int = 8) -> Strategy:
    return Strategy(
        lambda random: [of.draw(random) for _ in range(random.randint(min_size, max_size))]
    )


def sets(of: Strategy, min_size: int = 0, max_size: int = 8) -> Strategy:
    return lists(of, max(min_size, 1), max_size).map(set)


def text(max_size: int = 30) -> Strategy:
    alphabet = "0123456789.,-+e \n\tabcnifNaN_ñ·—八𝟠\0"
    return lists(sampled_from(alphabet), 0, max_size).map("".join)


def composite(build: Callable[..., Any]) -> Callable[..., Strategy]:
    return lambda *given: Strategy(
        lambda random: build(lambda strategy: strategy.draw(random), *given)
    )


class Data:
    def __init__(self, random: Random) -> None:
        self._random = random

    def draw(self, strategy: Strategy) -> Any:
        return strategy.draw(self._random)


def data() -> Strategy:
    return Strategy(Data)
