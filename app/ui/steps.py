"""What a wiring's step does, found out by running it: on symbols, or, with several streams, on
unit vectors. Formula and drawing are two readings of it.

A wiring asks of its operands no more than `+`, `*` and a call. `trace` hands it symbols that
remember what was done with them. So a diagram cannot show another wiring than the one that was
measured.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from app.nn import ops
from app.nn.tensor import Array
from app.nn.wirings import Place, Wiring

SUBLAYERS = ("attention", "ffn")


# ---------------------------------------------------------------- on symbols


@dataclass(frozen=True)
class Expression:
    """What became of x: itself, a multiple, a sum, or a call on something earlier."""

    def __add__(self, other: Expression) -> Sum:
        return Sum(self, other)

    def __mul__(self, factor: str) -> Scaled:
        return Scaled(self, factor)


@dataclass(frozen=True)
class Stream(Expression):
    """The residual stream as it enters the step."""


@dataclass(frozen=True)
class Scaled(Expression):
    """Something times a number that goes by the name of `factor`."""

    argument: Expression
    factor: str


@dataclass(frozen=True)
class Sum(Expression):
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Call(Expression):
    """A norm, or the sublayer itself (`role` "norm" or "branch"), applied to something."""

    role: str
    argument: Expression


def trace(wiring: Wiring, kind: str = "attention") -> Expression:
    """The wiring's step at a sublayer of this kind, run on symbols. One stream only."""
    further = list(inspect.signature(wiring.step).parameters)[3:]
    traced: Expression = wiring.step(
        Stream(),
        lambda x: Call("branch", x),
        lambda x: Call("norm", x),
        **{name: kind if name == "kind" else name for name in further},
    )
    return traced


@dataclass(frozen=True)
class Stage:
    """One thing on the main path: a norm, or a sum to which a branch brings its boxes."""

    kind: str  # "norm" or "sum"
    branch: tuple[str, ...] = ()  # roles of the boxes on the branch, in the order they are run
    factor: str = ""  # what the stream is multiplied by before the sum


def stages(expression: Expression) -> tuple[Stage, ...]:
    """The main path from x to the result, in the order in which it is run.

    Raises ValueError when the step is no path with branches beside it.
    """
    match expression:
        case Stream():
            return ()
        case Call("norm", argument):
            return (*stages(argument), Stage("norm"))
        case Sum(left, right):
            trunk, branch = (right, left) if _runs_branch(left) else (left, right)
            if _runs_branch(trunk):
                raise ValueError("Both operands of a sum run the sublayer: there is no main path.")
            factor = ""
            if isinstance(trunk, Scaled):
                factor = trunk.factor
                trunk = trunk.argument
            return (*stages(trunk), Stage("sum", _boxes(branch, until=trunk), factor))
    raise ValueError("The sublayer stands on the main path: there is no branch beside it.")


def _runs_branch(expression: Expression) -> bool:
    """Whether the sublayer is run between here and the nearest sum (that sum is the main path)."""
    while isinstance(expression, Call | Scaled):
        if isinstance(expression, Call) and expression.role == "branch":
            return True
        expression = expression.argument
    return False


def _boxes(expression: Expression, until: Expression) -> tuple[str, ...]:
    roles: list[str] = []
    while expression != until:
        if not isinstance(expression, Call):
            raise ValueError("A branch starts from something that is not on the main path.")
        roles.append(expression.role)
        expression = expression.argument
    return tuple(reversed(roles))


# ---------------------------------------------------------------- on unit vectors


@dataclass(frozen=True)
class Connections:
    """A step over n streams, as its unperturbed start has it.

    `read`, (n,): what the branch gets of each stream; `mix`, (n, n): what each stream keeps of
    each; `write`, (n,): what the branch brings to each. `branch`: roles of its boxes, in order.
    """

    read: Array
    mix: Array
    write: Array
    branch: tuple[str, ...]


def connections(wiring: Wiring, index: int) -> Connections:
    """The weights of the sublayer of an index, read off the step: it is linear in the streams and
    in what the branch brings, so unit vectors find them all."""
    n = wiring.streams
    place = Place(index, SUBLAYERS[index % len(SUBLAYERS)], depth=1)
    numbers = wiring.numbers(place, lambda *shape: np.zeros(shape))
    roles: list[str] = []
    seen: list[Array] = []

    def norm(x: Array) -> Array:
        roles.append("norm")
        seen.append(x)
        return x

    def branch(brings: float) -> Any:
        def run(x: Array) -> Array:
            roles.append("branch")
            seen.append(x)
            return np.full_like(x, brings)

        return run

    units = np.eye(n)[:, None, :]  # stream j holds the j-th unit vector
    kept = wiring.step(units, branch(0.0), norm, **numbers)
    read, order = seen[0][0], tuple(roles)
    written = wiring.step(np.zeros_like(units), branch(1.0), norm, **numbers)
    return Connections(read, kept[:, 0, :], written[:, 0, 0], order)


# ---------------------------------------------------------------- names


NormName = Literal["layer", "rms", "rms_w"]


def norm_name(norm: Any) -> NormName:
    """How strings call a normalisation."""
    names: dict[Any, NormName] = {
        ops.layer_norm: "layer",
        ops.rms_norm: "rms",
        ops.zero_centred_rms_norm: "rms_w",
    }
    return names[norm]


# ---------------------------------------------------------------- as a formula


_NORM_TEX = {"layer": r"\mathrm{LN}", "rms": r"\mathrm{RMS}", "rms_w": r"\mathrm{RMS}_{1+w}"}
_FACTOR_TEX = {"alpha": r"\alpha", "omega": r"\omega"}


def formula(wiring: Wiring) -> str:
    """TeX: `x \\leftarrow \\mathrm{LN}(x + F(x))`; where attention and FFN differ, a line each."""
    if wiring.streams > 1:
        return _tex_of_streams(wiring)
    lines = [_tex_of_sublayer(wiring, kind) for kind in SUBLAYERS]
    if not wiring.inside and lines[0] == lines[1]:
        return rf"x \leftarrow {lines[0]}"
    return _aligned([rf"x &\leftarrow {line}" for line in lines])


def _aligned(lines: Sequence[str]) -> str:
    joined = r" \\ ".join(lines)
    return rf"\begin{{aligned}} {joined} \end{{aligned}}"


def factor_tex(wiring: Wiring, factor: str) -> str:
    return _FACTOR_TEX[factor] + ("_i" if wiring.profiled else "")


def _tex_of_sublayer(wiring: Wiring, kind: str) -> str:
    """`F` is the sublayer of either kind; where one of them has a norm inside, each by name."""
    inside = wiring.inside.get(kind)
    symbol = "F"
    if wiring.inside:
        symbol = {"attention": r"\mathrm{Attn}", "ffn": r"\mathrm{FFN}"}[kind]
    if inside is not None and kind == "attention":
        symbol += rf"_{{{_NORM_TEX[norm_name(inside)]}(q),\,{_NORM_TEX[norm_name(inside)]}(k)}}"
    return _tex(wiring, trace(wiring, kind), symbol, inside if kind == "ffn" else None)


def _tex(wiring: Wiring, expression: Expression, branch: str, inside: Any) -> str:
    def inner(argument: Expression) -> str:
        return _tex(wiring, argument, branch, inside)

    match expression:
        case Sum(left, right):
            return f"{inner(left)} + {inner(right)}"
        case Scaled(argument, factor):
            return rf"{factor_tex(wiring, factor)}\,{inner(argument)}"
        case Call("norm", argument):
            return _called(_NORM_TEX[norm_name(wiring.norm)], inner(argument))
        case Call("branch", argument) if inside is not None:
            hidden = _called(r"\mathrm{relu}", rf"W_1\,{inner(argument)}")
            return rf"W_2\,{_called(_NORM_TEX[norm_name(inside)], hidden)}"
        case Call("branch", argument):
            return _called(branch, inner(argument))
        case _:
            return "x"


def _called(name: str, argument: str) -> str:
    depth = deepest = 0
    for letter in argument:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        deepest = max(deepest, depth)
    big = ("", r"\bigl", r"\Bigl", r"\biggl")[min(deepest, 3)]
    return f"{name}{big}({argument}{big[:-1] + 'r' if big else ''})"


def _tex_of_streams(wiring: Wiring) -> str:
    """h = Σ_j a_j x_j, then x_i ← Σ_j A_ij x_j + b_i F(LN(h)), as its branch has it."""
    brought = "h"
    for role in connections(wiring, 0).branch:
        brought = _called(_NORM_TEX[norm_name(wiring.norm)] if role == "norm" else "F", brought)
    lines = (
        r"h &= \textstyle\sum_j a_j x_j",
        rf"x_i &\leftarrow \textstyle\sum_j A_{{ij}}\,x_j + b_i\,{brought}",
    )
    return _aligned(lines)
