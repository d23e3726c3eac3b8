"""In place of Hypothesis where its compiled part cannot be loaded: the same properties on as many
examples, drawn from a fixed seed, without its search and without shrinking."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from random import Random
from typing import Any

from hypothesis.strategies import Strategy


def settings(deadline: None = None, max_examples: int = 25) -> Callable[[Any], Any]:
    def mark(test: Any) -> Any:
        test.max_examples = max_examples
        return test

    return mark


def given(*strategies: Strategy) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Fills a test's last arguments; pytest's fixtures are the ones before them."""

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(test)
        parameters = list(signature.parameters.values())
        filled = parameters[len(parameters) - len(strategies) :]

        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            random = Random(test.__name__)
            for _ in range(getattr(run, "max_examples", 25)):
                drawn = [strategy.draw(random) for strategy in strategies]
                named = {p.name: value for p, value in zip(filled, drawn, strict=True)}
                try:
                    test(**fixtures, **named)
                except Exception as error:
                    error.add_note(f"with {named}")
                    raise

        rest = parameters[: len(parameters) - len(strategies)]
        run.__signature__ = signature.replace(parameters=rest)  # type: ignore[attr-defined]
        return run

    return decorate
