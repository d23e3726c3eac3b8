"""From seed to seed: what probes measure of each one is kept, so that nothing is measured twice.

More seeds go on where fewer ended, fewer are the first of more, another wiring joins those that are
known, and two probes that read one measurement share it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Generator, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from app.nn.tensor import Array
from app.probes import weights

Name = TypeVar("Name", bound=Hashable)

NOTHING = np.empty(0)
KEPT = 6 * 2**20  # bytes; 96 seeds of a profile of 48 layers are 37 kB

_kept: OrderedDict[Hashable, Array] = OrderedDict()  # the least lately used first


def seed_by_seed(
    keys: Mapping[Name, Hashable],
    seeds: int,
    runs: Callable[[int], Iterator[range]],
    measured: Callable[[Sequence[Name], range], Generator[None, None, Mapping[Name, Array]]],
) -> Iterator[dict[Name, Array] | None]:
    """Values of seeds 0, 1 … by name, (seeds so far, …) each, more every time, up to `seeds` of
    them; None for every pause.

    `keys`: for each name all that its values depend on, besides the number of seeds. `runs(n)`: how
    to go on from seed n. `measured(names, samples)`: the values of these samples, for these names.
    """
    values: dict[Name, Array] = dict.fromkeys(keys, NOTHING)
    while (done := _common(values)) < seeds:
        # Looked up anew each time: another probe may have gone on meanwhile, and so may we.
        known = {name: max(_recall(keys[name]), of, key=len) for name, of in values.items()}
        if _common(known) <= done:
            samples = next(runs(done))
            missing = [name for name, of in known.items() if len(of) < samples.stop]
            fresh = yield from measured(missing, samples)
            for name in missing:
                before = known[name][: samples.start]
                known[name] = np.concatenate([before, fresh[name]]) if done else fresh[name]
                _keep(keys[name], known[name])
        values = {name: of[:seeds] for name, of in known.items()}
        so_far = _common(values)
        yield {name: of[:so_far] for name, of in values.items()}


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
    weights.forget()


def _common(values: Mapping[Any, Array]) -> int:
    return min(map(len, values.values()))


def _recall(key: Hashable) -> Array:
    if key in _kept:
        _kept.move_to_end(key)
    return _kept.get(key, NOTHING)


def _keep(key: Hashable, values: Array) -> None:
    if len(values) < len(_recall(key)):
        return
    _kept[key] = values
    while len(_kept) > 1 and sum(of.nbytes for of in _kept.values()) > KEPT:
        _kept.popitem(last=False)
