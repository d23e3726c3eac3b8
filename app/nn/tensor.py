"""A reverse-mode tape over NumPy arrays.

An operation is written once, forward and backward side by side, and marked with `@operation`.
Given arrays it returns an array and records nothing; given at least one Tensor it returns a
Tensor that knows its parents, and `Tensor.backward` walks that record from the end to the start.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
# ∂L/∂value → ∂L/∂operand for each operand; a part that costs something may be a function, which is
# called only if the operand is a Tensor.
Backward = Callable[[Array], tuple[Any, ...]]


class Tensor:
    """An array, and the operation it came out of.

    `grad` has the shape of `value`; it is None until a `backward` reaches the tensor, and sums
    up over all paths and over repeated calls.
    """

    __slots__ = ("_backward", "_parents", "grad", "value")
    __array_ufunc__ = None  # array + Tensor is ours to answer, not NumPy's

    def __init__(
        self,
        value: Any,
        parents: Sequence[Tensor | None] = (),
        backward: Backward | None = None,
    ) -> None:
        self.value: Array = np.asarray(value)
        self.grad: Array | None = None
        self._parents = parents
        self._backward = backward

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def operands(self) -> list[Tensor]:
        """The Tensors that this one was made from, in the order in which they were given."""
        return [parent for parent in self._parents if parent is not None]

    def __add__(self, other: Any) -> Tensor:
        return add(self, other)  # type: ignore[no-any-return]

    def __mul__(self, other: Any) -> Tensor:
        return multiply(self, other)  # type: ignore[no-any-return]

    __radd__ = __add__
    __rmul__ = __mul__

    def backward(self, gradient: Array | None = None) -> None:
        """Add ∂L/∂t to the `grad` of every Tensor t that `self` was computed from; `gradient` is
        ∂L/∂self, of its shape.

        Without it L is `self`; raises ValueError unless that holds exactly one number.
        """
        if gradient is None:
            if self.value.size != 1:
                raise ValueError(f"backward starts from one number, not from shape {self.shape}.")
            gradient = np.ones_like(self.value)
        waiting = _uses(self)
        arrived: dict[Tensor, Array] = {self: gradient}
        ready = [self]
        while ready:
            tensor = ready.pop()
            gradient = arrived.pop(tensor)
            tensor._receive(gradient)
            if tensor._backward is None:
                continue
            for parent, part in zip(tensor._parents, tensor._backward(gradient), strict=True):
                if parent is None:
                    continue
                part = part() if callable(part) else part
                if parent._backward is None:  # an end, which passes nothing on
                    parent._receive(part)
                    continue
                before = arrived.get(parent)
                arrived[parent] = part if before is None else before + part
                waiting[parent] -= 1
                if not waiting[parent]:
                    ready.append(parent)

    def _receive(self, gradient: Array) -> None:
        self.grad = gradient if self.grad is None else self.grad + gradient


def operation(forward: Callable[..., tuple[Array, Backward]]) -> Callable[..., Any]:
    """Make `forward(*operands, **constants) -> (value, backward)` work on arrays and Tensors.

    `backward(g)` takes ∂L/∂value and returns ∂L/∂operand for each operand, in that order and of
    that operand's shape, or a function that returns it.
    """

    @wraps(forward)
    def apply(*operands: Any, **constants: Any) -> Any:
        parents = [operand if isinstance(operand, Tensor) else None for operand in operands]
        if not any(parents):
            return forward(*operands, **constants)[0]
        values = [o.value if isinstance(o, Tensor) else np.asarray(o) for o in operands]
        value, backward = forward(*values, **constants)
        return Tensor(value, parents, backward)

    return apply


@operation
def add(x: Array, y: Array) -> tuple[Array, Backward]:
    """x + y, broadcast."""

    def backward(g: Array) -> tuple[Array, ...]:
        return sum_to(g, x.shape), sum_to(g, y.shape)

    return x + y, backward


@operation
def multiply(x: Array, y: Array) -> tuple[Array, Backward]:
    """x · y, entry by entry, broadcast."""

    def backward(g: Array) -> tuple[Array, ...]:
        return sum_to(g * y, x.shape), sum_to(g * x, y.shape)

    return x * y, backward


def sum_to(g: Array, shape: tuple[int, ...]) -> Array:
    """Undo a broadcast in a gradient: sum `g` over the axes along which `shape` was repeated."""
    if g.shape == shape:
        return g
    extra = g.ndim - len(shape)
    repeated = [
        extra + axis for axis, n in enumerate(shape) if n == 1 and g.shape[extra + axis] > 1
    ]
    axes = (*range(extra), *repeated)
    return np.asarray(g.sum(axis=axes, keepdims=True)).reshape(shape)


def _uses(root: Tensor) -> dict[Tensor, int]:
    """Every Tensor on the way from `root` to the ends of the record, and how often an operation
    among them took it: so many parts of its gradient arrive."""
    uses = {root: 0}
    pending = [root]
    while pending:  # a loop, not recursion: 48 layers are deeper than Python's stack likes
        for parent in pending.pop()._parents:
            if parent is None or parent._backward is None:
                continue
            if parent in uses:
                uses[parent] += 1
            else:
                uses[parent] = 1
                pending.append(parent)
    return uses
