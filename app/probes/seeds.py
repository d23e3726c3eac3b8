"""From seed to seed: what probes measure of each one is kept, so that nothing is measured twice.

More seeds go on where fewer ended, fewer are the first of more, another wiring joins those that are
known, and two probes that read one measurement share it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from app.nn.stack import StackConfig
from app.nn.tensor import Array
from app.probes import weights
from app.probes.draws import Drawn
from app.probes.result import Result

Name = TypeVar("Name", bound=Hashable)
Found = TypeVar("Found")
Wanted = TypeVar("Wanted")
# Values by name, (samples, …) each. On its way with the first sample, alone, it may yield how far
# it is: the same with NaN for what is still to come. None for any other pause.
Measuring = Generator[dict[Name, Array] | None, None, dict[Name, Array]]

NOTHING = np.empty(0)
KEPT = 6 * 2**20  # bytes; 96 seeds of a profile of 48 layers are 37 kB
BEGINNING = 6  # the first of so many parts of a stack is shown by itself

_kept: OrderedDict[Hashable, Array] = OrderedDict()  # the least lately used first
_begun: OrderedDict[Hashable, Array] = OrderedDict()


def seed_by_seed(
    keys: Mapping[Name, Hashable],
    seeds: int,
    runs: Callable[[int], Iterator[range]],
    measured: Callable[[Sequence[Name], range], Measuring[Name]],
    answer: Callable[[dict[Name, Array]], Result],
) -> Iterator[Result | None]:
    """The `answer` to the values of seeds 0, 1 … by name, (seeds so far, …) each, to those of more
    every time, up to `seeds` of them; None for every pause.

    `keys`: for each name all that its values depend on, besides the number of seeds. `runs(n)`: how
    to go on from seed n. `measured(names, samples)`: the values of these samples, for these names.
    """
    values: dict[Name, Array] = dict.fromkeys(keys, NOTHING)
    told = False
    while (done := _common(values)) < seeds:
        # Looked up anew each time: another probe may have gone on meanwhile, and so may we.
        known = {name: max(_recall(keys[name]), of, key=len) for name, of in values.items()}
        if _common(known) <= done:
            begun = {name: _begun.get(keys[name], of)[:1] for name, of in known.items()}
            if not told and done < _common(begun):
                told = True
                yield replace(answer(begun), done=0, whole=False)
                continue
            known = yield from _more(keys, known, next(runs(done)), measured, answer, told)
        values = {name: of[:seeds] for name, of in known.items()}
        so_far = _common(values)
        yield answer({name: of[:so_far] for name, of in values.items()})


def _more(
    keys: Mapping[Name, Hashable],
    known: dict[Name, Array],
    samples: range,
    measured: Callable[[Sequence[Name], range], Measuring[Name]],
    answer: Callable[[dict[Name, Array]], Result],
    told: bool,
) -> Generator[Result | None, None, dict[Name, Array]]:
    """All that is known, with the values of these samples; their beginning, unless it was told."""
    missing = [name for name, of in known.items() if len(of) < samples.stop]
    work = measured(missing, samples)
    while True:
        try:
            begun = next(work)
        except StopIteration as end:
            fresh = end.value
            break
        if begun is None:
            yield None
            continue
        for name, of in begun.items():
            _begun[keys[name]] = of.copy()  # the probe goes on with its own
        while len(_begun) > 64:  # what was left after its beginning
            _begun.popitem(last=False)
        first = {name: of[:1] for name, of in known.items()}
        yield None if told else replace(answer({**first, **begun}), done=0, whole=False)
    for name in missing:
        before = known[name][: samples.start]
        known[name] = np.concatenate([before, fresh[name]]) if samples.start else fresh[name]
        _keep(keys[name], known[name])
    return known


def mapped(
    measuring: Generator[Found | None, None, Found], change: Callable[[Found], Wanted]
) -> Generator[Wanted | None, None, Wanted]:
    """The same with what it finds changed, whole or a beginning."""
    while True:
        try:
            begun = next(measuring)
        except StopIteration as end:
            return change(end.value)
        yield None if begun is None else change(begun)


def begins(stack: StackConfig, samples: range, drawn: Drawn) -> bool:
    """Whether so much of the first sample's stack is behind us that it is worth showing."""
    first_part = drawn.ends_layer and drawn.layer + 1 == stack.depth // BEGINNING
    return first_part and samples == range(1)


def keys_of(
    probe: str, config: Mapping[str, Any], names: Sequence[Name], *apart: str
) -> dict[Name, Hashable]:
    """A key for each name: itself, and all options of the config but wirings, the number of seeds,
    and those `apart` which its values do not depend on."""
    left_out = ("wiring", "seeds", *apart)
    options = tuple((name, value) for name, value in config.items() if name not in left_out)
    return {name: (probe, name, options) for name in names}


def forget() -> None:
    """Measure anew whatever is asked for from now on, weights included."""
    _kept.clear()
    _begun.clear()
    weights.forget()


def _common(values: Mapping[Any, Array]) -> int:
    return min(map(len, values.values()))


def _recall(key: Hashable) -> Array:
    if key in _kept:
        _kept.move_to_end(key)
    return _kept.get(key, NOTHING)


def _keep(key: Hashable, values: Array) -> None:
    _begun.pop(key, None)
    if len(values) < len(_recall(key)):
        return
    _kept[key] = values
    while len(_kept) > 1 and sum(of.nbytes for of in _kept.values()) > KEPT:
        _kept.popitem(last=False)
