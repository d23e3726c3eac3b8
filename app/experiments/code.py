"""The source of what an experiment runs, from the very files: for the build, not the browser."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from app.nn.wirings import WIRINGS

if TYPE_CHECKING:
    from app.experiments.experiment import Experiment

_ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Listing:
    """A piece of source. `path`: its file below the project's root; `line`: its first one, from 1;
    `whole`: it is all of the file."""

    path: str
    line: int
    source: str
    whole: bool


def listings(experiment: type[Experiment], wirings: Sequence[str]) -> list[Listing]:
    """The wirings' steps in their order, then the modules of the experiment's probes, then what it
    names as its `code`; nothing twice."""
    things: list[Any] = [step for wiring in wirings for step in _steps(WIRINGS[wiring].step)]
    things += [inspect.getmodule(_function(run.probe)) for run in experiment.runs]
    return [_listing(thing) for thing in dict.fromkeys([*things, *experiment.code])]


def _steps(step: Callable[..., Any]) -> Iterator[FunctionType]:
    """A wiring's step, and the step of another wiring that it is made of."""
    function = _function(step)
    yield function
    for name in function.__code__.co_names:
        named = function.__globals__.get(name)
        if isinstance(named, FunctionType) and named.__module__ == function.__module__:
            yield from _steps(named)


def _function(thing: Any) -> FunctionType:
    """What is called in the end."""
    while isinstance(thing, partial):
        thing = thing.func
    function = inspect.unwrap(thing)
    assert isinstance(function, FunctionType), f"{thing!r} has no source of its own"
    return function


def _listing(thing: Any) -> Listing:
    thing = inspect.unwrap(thing) if isinstance(thing, FunctionType) else thing
    file = inspect.getsourcefile(thing)
    assert file is not None
    lines, first = inspect.getsourcelines(thing)
    path = Path(file).resolve().relative_to(_ROOT).as_posix()
    return Listing(path, max(first, 1), "".join(lines).rstrip("\n"), isinstance(thing, ModuleType))
