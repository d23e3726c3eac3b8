"""Wiring diagram and formula of a wiring, drawn from the very function that the stack runs.

A wiring asks of its operands no more than `+` and a call. `trace` hands it symbols that remember
what was done with them; the formula and the drawing are two readings of that record. So a diagram
cannot show another wiring than the one that was measured.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from app.nn.wirings import Wiring
from app.ui.strings import Strings

# The wirings that can be drawn: one stream, LayerNorm, and nothing on the main path but sums and
# norms. The others take numbers (a scale, a kind of sublayer) for which there is no picture yet.
DRAWN = ("post_ln", "pre_ln")

# ---------------------------------------------------------------------------- what a step did


@dataclass(frozen=True)
class Expression:
    """What became of x: itself, a sum, or a call on something earlier."""

    def __add__(self, other: Expression) -> Sum:
        return Sum(self, other)


@dataclass(frozen=True)
class Stream(Expression):
    """The residual stream as it enters the step."""


@dataclass(frozen=True)
class Sum(Expression):
    left: Expression
    right: Expression


@dataclass(frozen=True)
class Call(Expression):
    """A norm, or the sublayer itself (`role` "norm" or "branch"), applied to something."""

    role: str
    argument: Expression


def trace(wiring: Wiring) -> Expression:
    """The wiring's step, run on symbols."""
    traced: Expression = wiring.step(
        Stream(), lambda x: Call("branch", x), lambda x: Call("norm", x)
    )
    return traced


# ---------------------------------------------------------------------------- as a formula


def formula(wiring: Wiring) -> str:
    """TeX: `x \\leftarrow \\mathrm{LN}(x + F(x))`."""
    return rf"x \leftarrow {_tex(trace(wiring))}"


def _tex(expression: Expression) -> str:
    match expression:
        case Sum(left, right):
            return f"{_tex(left)} + {_tex(right)}"
        case Call(role, argument):
            name = {"norm": r"\mathrm{LN}", "branch": "F"}[role]
            inner = _tex(argument)
            nested = "(" in inner
            return rf"{name}\bigl({inner}\bigr)" if nested else f"{name}({inner})"
        case _:
            return "x"


# ---------------------------------------------------------------------------- as a drawing


@dataclass(frozen=True)
class Stage:
    """One thing on the main path: a norm, or a sum to which a branch brings its boxes."""

    kind: str  # "norm" or "sum"
    branch: tuple[str, ...] = ()  # roles of the boxes on the branch, in the order they are run


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
            before = stages(trunk)
            return (*before, Stage("sum", _boxes(branch, until=trunk)))
    raise ValueError("The sublayer stands on the main path: there is no branch beside it.")


def _runs_branch(expression: Expression) -> bool:
    """Whether the sublayer is run between here and the nearest sum (that sum is the main path)."""
    while isinstance(expression, Call):
        if expression.role == "branch":
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


# Places, in the units of the drawing; it reads from the bottom (x) to the top (the result).
WIDTH = 216
_TRUNK = 56  # where the main path runs
_SIDE = 148  # where a branch runs
_BOX = 30  # height of a box
_BOX_WIDTH = 92
_NORM_WIDTH = 84  # on the main path
_GAP = 20  # between boxes
_SUBLAYERS = ("attention", "ffn")


def diagram(wiring: Wiring, say: Strings, id: str) -> str:
    """Inline SVG of one layer (attention, then FFN), with the last norm where the wiring has one.

    `id` begins the ids of title and description; unique on the page. Colours come from the style
    sheet.
    """
    step = stages(trace(wiring))
    drawing = _Drawing(say)
    drawing.label("x", say("diagram.input"))
    for sublayer in _SUBLAYERS:
        for stage in step:
            if stage.kind == "norm":
                drawing.norm()
            else:
                drawing.branch(stage.branch, sublayer)
    drawing.layer_ends()
    if wiring.final_norm:
        drawing.final_norm()
    drawing.arrow_head()
    drawing.label("out", say("diagram.output"))
    title = say("diagram.title", name=say(f"wiring.{wiring.name}"))
    told = " ".join(
        [*_told(step, say), say(f"diagram.told.{'final' if wiring.final_norm else 'no_final'}")]
    )
    return (
        f'<svg class="diagram" data-wiring="{wiring.name}" role="img"'
        f' viewBox="0 {drawing.top - 8} {WIDTH} {-drawing.top + 16}"'
        f' aria-labelledby="{id}-title" aria-describedby="{id}-desc">'
        f'<title id="{id}-title">{escape(title)}</title>'
        f'<desc id="{id}-desc">{escape(told)}</desc>'
        f"{''.join(drawing.parts)}</svg>"
    )


def _told(step: tuple[Stage, ...], say: Strings) -> list[str]:
    """The description: one sentence per stage, the same for both sublayers."""
    sentences = [say("diagram.told.start")]
    for stage in step:
        if stage.kind == "norm":
            sentences.append(say("diagram.told.norm"))
        else:
            names = say("diagram.told.then").join(
                say(f"diagram.told.{role}_box") for role in stage.branch
            )
            sentences.append(say("diagram.told.branch", boxes=names))
    return sentences


class _Drawing:
    """Grows upwards from y = 0: `y` is where the main path has come to, `top` the highest ink."""

    def __init__(self, say: Strings) -> None:
        self.say = say
        self.parts: list[str] = []
        self.y: float = 0
        self._layer_start: float = 0

    @property
    def top(self) -> float:
        return self.y

    def label(self, kind: str, text: str) -> None:
        if kind == "x":
            self._text(_TRUNK, self.y - 6, text, "end-label")
            self.y -= 24
            self._layer_start = self.y
        else:
            self._text(_TRUNK, self.y - 8, text, "end-label")
            self.y -= 24

    def norm(self) -> None:
        self._line(self.y, self.y - _GAP)
        self.y -= _GAP
        self._box(_TRUNK, _NORM_WIDTH, "norm", self.say("diagram.norm"))
        self.y -= _BOX

    def branch(self, roles: tuple[str, ...], sublayer: str) -> None:
        """Leaves the main path, runs through its boxes, and comes back in a sum."""
        fork = self.y - _GAP / 2
        height = _GAP * (len(roles) + 1) + _BOX * len(roles)
        join = fork - height - 4
        self._line(self.y, join + 11)
        self.parts.append(
            f'<path class="branch" d="M{_TRUNK} {fork:g}H{_SIDE - 10}q10 0 10 -10V{join + 10:g}'
            f'q0 -10 -10 -10H{_TRUNK + 12}"/>'
            f'<path class="head" d="M{_TRUNK + 11} {join:g}l8 -4.5v9z"/>'
        )
        here = self.y
        self.y = fork - _GAP
        for role in roles:
            text = self.say("diagram.norm") if role == "norm" else self.say(f"diagram.{sublayer}")
            self._box(_SIDE, _BOX_WIDTH, role, text)
            self.y -= _BOX + _GAP
        self.y = here
        self.parts.append(
            f'<g class="sum"><circle cx="{_TRUNK}" cy="{join:g}" r="11"/>'
            f'<path d="M{_TRUNK - 5} {join:g}h10M{_TRUNK} {join - 5:g}v10"/></g>'
        )
        self.y = join - 11

    def layer_ends(self) -> None:
        """A frame around what is repeated N times."""
        self._line(self.y, self.y - _GAP)
        self.y -= _GAP / 2
        self.parts.insert(
            0,
            f'<rect class="layer" x="3" y="{self.y:g}" width="{WIDTH - 6}"'
            f' height="{self._layer_start - self.y + 4:g}" rx="10"/>',
        )
        self._text(WIDTH - 12, self.y + 18, self.say("diagram.times"), "times")
        self.y -= _GAP / 2

    def final_norm(self) -> None:
        self._line(self.y, self.y - 6)
        self.y -= 6
        self._box(_TRUNK, _NORM_WIDTH, "norm final", self.say("diagram.norm"))
        self._text(
            _TRUNK + _NORM_WIDTH / 2 + 8, self.y - _BOX / 2 + 4, self.say("diagram.once"), "once"
        )
        self.y -= _BOX
        self._line(self.y, self.y - 10)
        self.y -= 10

    def arrow_head(self) -> None:
        self.parts.append(f'<path class="head" d="M{_TRUNK} {self.y - 7:g}l-4.5 8h9z"/>')
        self.y -= 8

    def _line(self, start: float, end: float) -> None:
        self.parts.append(f'<path class="stream" d="M{_TRUNK} {start:g}V{end:g}"/>')

    def _box(self, center: float, width: float, kind: str, text: str) -> None:
        self.parts.append(
            f'<g class="stage {kind}"><rect x="{center - width / 2:g}" y="{self.y - _BOX:g}"'
            f' width="{width}" height="{_BOX}" rx="5"/></g>'
        )
        self._text(center, self.y - _BOX / 2 + 4.5, text, "name")

    def _text(self, x: float, y: float, text: str, kind: str) -> None:
        self.parts.append(f'<text class="{kind}" x="{x:g}" y="{y:g}">{escape(text)}</text>')
