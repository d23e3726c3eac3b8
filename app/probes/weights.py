"""The weights of a seed's first sample, kept: it is measured alone, so that whoever moves a control
soon sees something, and is wanted again at every value that draws from the same seed, and by
every probe that looks at the same stacks.
"""

from __future__ import annotations

from collections.abc import Hashable

from app.nn.stack import Purpose, StackConfig
from app.nn.tensor import Array

KEPT = 10 * 2**20  # bytes: 24 layers of d = 128 with uniform attention take 9.4 MB

Matrices = list[list[Array]]  # of a layer's sublayers, (1, m, n) each


class FirstSample:
    """The first layers of one stack, of `size` numbers each, as many as fit, in order."""

    def __init__(self, size: int) -> None:
        self._layers: list[Matrices] = []
        self._most = KEPT // (8 * size)

    def layer(self, index: int) -> Matrices | None:
        """Not to be written to."""
        return self._layers[index] if index < len(self._layers) else None

    def wants(self, index: int) -> bool:
        """Whether it is the next one, and fits."""
        return index == len(self._layers) < self._most

    def add(self, layer: Matrices) -> None:
        """Keep the next one. Nobody writes to it from now on."""
        self._layers.append(layer)


_kept: dict[Hashable, FirstSample] = {}  # one stack's: what a hand is at


def first_sample(
    stack: StackConfig, seed: int, samples: range, purpose: Purpose
) -> FirstSample | None:
    """Where the layers of these samples are kept; None where it is not the first one alone."""
    if samples != range(1) or purpose != Purpose.WEIGHTS:
        return None
    shapes = tuple(tuple(sublayer.matrices.items()) for sublayer in stack.sublayers)
    if (seed, shapes) not in _kept:
        _kept.clear()
        _kept[seed, shapes] = FirstSample(sum(sublayer.size for sublayer in stack.sublayers))
    return _kept[seed, shapes]


def forget() -> None:
    """Draw anew whatever is asked for from now on."""
    _kept.clear()
