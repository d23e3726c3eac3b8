"""The wiring diagram: one layer as inline SVG, drawn from the very step that the stack runs.

What the step does is found out in `steps.py`; here it becomes a picture, and the same in words
for readers who do not see it. It reads from the bottom (x) to the top (the output).
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from app.nn.tensor import Array
from app.nn.wirings import WIRINGS, Wiring
from app.ui.steps import (
    SUBLAYERS,
    Stage,
    connections,
    formula,
    norm_name,
    stages,
    trace,
)
from app.ui.strings import Strings

__all__ = ["DRAWN", "Stage", "diagram", "formula", "stages", "trace"]

DRAWN = tuple(WIRINGS)  # all of them
DECODER = ("attention", "cross", "ffn")

# Places, in the units of the drawing.
WIDTH = 216
_TRUNK = 56  # where the main path runs
_SIDE = 148  # where a branch runs
_BOX = 30  # height of a box
_TALL = 40  # of one with a second line
_BOX_WIDTH = 98
_WIDE = 116  # for a long name
_NORM_WIDTH = 84  # on the main path
_GAP = 20  # between boxes
_STREAMS = 18  # between two of several streams


def diagram(wiring: Wiring, say: Strings, id: str, *, decoder: bool = False) -> str:
    """Inline SVG of one layer (attention, then FFN), with the last norm where the wiring has one.

    `id` begins the ids of title and description; unique on the page. Colours come from the style
    sheet. Shapes carry what they show as `data-stage`: x, attention, ffn, norm, sum, final, out.
    `decoder`: the layer of an encoder–decoder's decoder, with cross-attention between the two
    (`data-stage` cross); for one stream only.
    """
    drawing = _Drawing(wiring, say, DECODER if decoder else SUBLAYERS)
    told = drawing.one_stream() if wiring.streams == 1 else drawing.several_streams()
    title = say(f"diagram.title{'_decoder' if decoder else ''}", name=say(f"wiring.{wiring.name}"))
    return (
        f'<svg class="diagram" data-wiring="{wiring.name}" role="img"'
        f' viewBox="0 {drawing.y - 8:g} {WIDTH} {-drawing.y + 16:g}"'
        f' aria-labelledby="{id}-title" aria-describedby="{id}-desc">'
        f'<title id="{id}-title">{escape(title)}</title>'
        f'<desc id="{id}-desc">{escape(" ".join(told))}</desc>'
        f"{''.join(drawing.parts)}</svg>"
    )


class _Drawing:
    """Grows upwards from y = 0: `y` is where the main path has come to, the highest ink."""

    def __init__(self, wiring: Wiring, say: Strings, sublayers: Sequence[str]) -> None:
        self.wiring, self.say, self.sublayers = wiring, say, sublayers
        self.parts: list[str] = []
        self.y: float = 0
        self._layer_start: float = 0
        width = _STREAMS * (wiring.streams - 1)
        self._streams = [_TRUNK - width / 2 + _STREAMS * k for k in range(wiring.streams)]

    def one_stream(self) -> list[str]:
        """Draw it; returns the description, sentence by sentence."""
        self._begin()
        told = []
        for kind in self.sublayers:
            # To a wiring, cross-attention is attention: only its keys come from elsewhere.
            step = stages(trace(self.wiring, "attention" if kind == "cross" else kind))
            for stage in step:
                if stage.kind == "norm":
                    self._norm()
                else:
                    self._branch(stage, kind)
            told.append(self._told(step, kind))
        self._layer_ends()
        self._end()
        return [*self._told_of_sublayers(told), self._told_end()]

    def several_streams(self) -> list[str]:
        """Draw it; returns the description, sentence by sentence."""
        self._begin()
        self._split()
        told = []
        for index, kind in enumerate(SUBLAYERS):
            found = connections(self.wiring, index)
            self._connected(found.branch, kind, read=found.read, mix=found.mix, write=found.write)
            told.append(
                self.say(
                    "diagram.told.connected",
                    boxes=self._names(found.branch, kind),
                    read=_numbers(found.read),
                    write=_numbers(found.write),
                    kept=_numbers(np.diag(found.mix)),
                )
            )
        self._layer_ends()
        self._gather()
        self._end()
        start = self.say("diagram.told.streams", n=len(self._streams))
        return [start, *self._told_of_sublayers([[each] for each in told])[1:], self._told_end()]

    # ------------------------------------------------------------------ in words

    def _told_of_sublayers(self, told: Sequence[list[str]]) -> list[str]:
        """Once for both sublayers where nothing differs."""
        say = self.say
        if all(each == told[0] for each in told):
            start = "start_decoder" if "cross" in self.sublayers else "start"
            return [say(f"diagram.told.{start}"), *told[0]]
        sentences = [say("diagram.told.start_each")]
        for kind, each in zip(self.sublayers, told, strict=True):
            sentences += [say(f"diagram.told.at_{kind}"), *each]
        return sentences

    def _told(self, step: tuple[Stage, ...], kind: str) -> list[str]:
        """One sentence per stage."""
        say, sentences = self.say, []
        for stage in step:
            if stage.kind == "norm":
                sentences.append(say("diagram.told.norm", norm=self._norm_in_words()))
                continue
            told = "scaled" if stage.factor else "branch"
            factor = self._factor(stage.factor) if stage.factor else ""
            names = self._names(stage.branch, kind)
            sentences.append(say(f"diagram.told.{told}", boxes=names, factor=factor))
        return sentences

    def _names(self, roles: Sequence[str], kind: str) -> str:
        inside = self.wiring.inside.get(kind)
        branch = self.say("diagram.told.branch_box")
        if inside is not None:
            branch = self.say(
                f"diagram.told.inside_{kind}", norm=self.say(f"diagram.norms.{norm_name(inside)}")
            )
        norm = self.say("diagram.told.norm_box", norm=self._norm_in_words())
        names = {"norm": norm, "branch": branch}
        return self.say("diagram.told.then").join(names[role] for role in roles)

    def _norm_in_words(self) -> str:
        name = norm_name(self.wiring.norm)
        words = self.say(f"diagram.norms.{name}")
        return words + (self.say("diagram.told.gain") if name == "rms_w" else "")

    def _told_end(self) -> str:
        told = "final" if self.wiring.final_norm else "no_final"
        return self.say(f"diagram.told.{told}", norm=self._norm_in_words())

    def _factor(self, factor: str) -> str:
        letter = {"alpha": "α", "omega": "ω"}[factor]
        return letter + ("ᵢ" if self.wiring.profiled else "")

    # ------------------------------------------------------------------ main path

    def _begin(self) -> None:
        self._text(_TRUNK, self.y - 6, self.say("diagram.input"), "end-label", "x")
        self.y -= 24
        self._layer_start = self.y

    def _norm(self) -> None:
        self._line(self.y, self.y - _GAP)
        self.y -= _GAP
        self._norm_box(_TRUNK, _NORM_WIDTH, "norm")

    def _branch(self, stage: Stage, kind: str) -> None:
        """Leaves the main path, runs through its boxes, and comes back in a sum."""
        fork = self.y - _GAP / 2
        heights = [self._height(role, kind) for role in stage.branch]
        join = fork - _GAP * (len(heights) + 1) - sum(heights) - 4
        self._line(self.y, join + 11)
        self.parts.append(
            f'<path class="branch" d="M{_TRUNK} {fork:g}H{_SIDE - 10}q10 0 10 -10V{join + 10:g}'
            f'q0 -10 -10 -10H{_TRUNK + 12}"/>'
            f'<path class="head" d="M{_TRUNK + 11} {join:g}l8 -4.5v9z"/>'
        )
        here = self.y
        self._boxes(stage.branch, kind, fork - _GAP)
        if stage.factor:
            self.y = (fork + join + _BOX) / 2
            self._box(_TRUNK, 44, "factor", f"× {self._factor(stage.factor)}")
        self.y = here
        self._sum(_TRUNK, join, 11)
        self.y = join - 11

    def _boxes(self, roles: Sequence[str], kind: str, y: float) -> None:
        """The boxes of a branch, the first of them from y upwards."""
        self.y = y
        inside = self.wiring.inside.get(kind)
        for role in roles:
            if role == "norm":
                self._norm_box(_SIDE, _BOX_WIDTH, "norm")
            else:
                note = "" if inside is None else self._inside_note(kind, norm_name(inside))
                width = _BOX_WIDTH
                if kind == "cross":
                    note, width = self.say("diagram.memory"), _WIDE
                self._box(_SIDE, width, f"branch {kind}", self.say(f"diagram.{kind}"), note)
            self.y -= self._height(role, kind) + _GAP

    def _inside_note(self, kind: str, norm: str) -> str:
        return self.say(f"diagram.inside_{kind}", norm=self.say(f"diagram.short.{norm}"))

    def _height(self, role: str, kind: str) -> float:
        tall = role == "branch" and (kind in self.wiring.inside or kind == "cross")
        tall = tall or (role == "norm" and norm_name(self.wiring.norm) == "rms_w")
        return _TALL if tall else _BOX

    def _layer_ends(self) -> None:
        """A frame around what is repeated N times."""
        self._lines(self.y, self.y - _GAP)
        self.y -= _GAP / 2
        self.parts.insert(
            0,
            f'<rect class="layer" x="3" y="{self.y:g}" width="{WIDTH - 6}"'
            f' height="{self._layer_start - self.y + 4:g}" rx="10"/>',
        )
        self._text(WIDTH - 12, self.y + 18, self.say("diagram.times"), "times")
        self.y -= _GAP / 2

    def _end(self) -> None:
        if self.wiring.final_norm:
            self._line(self.y, self.y - 6)
            self.y -= 6
            height = self._height("norm", "")
            self._norm_box(_TRUNK, _NORM_WIDTH, "norm final")
            self._text(
                _TRUNK + _NORM_WIDTH / 2 + 8,
                self.y + height / 2 + 4,
                self.say("diagram.once"),
                "once",
            )
            self._line(self.y, self.y - 10)
            self.y -= 10
        self.parts.append(f'<path class="head" d="M{_TRUNK} {self.y - 7:g}l-4.5 8h9z"/>')
        self.y -= 8
        self._text(_TRUNK, self.y - 8, self.say("diagram.output"), "end-label", "out")
        self.y -= 24

    # ------------------------------------------------------------------ several streams

    def _split(self) -> None:
        """One x into equal streams."""
        self._line(self.y, self.y - 8)
        self.y -= 8
        self._bar(self._streams[0], self._streams[-1], self.y)
        self._lines(self.y, self.y - 8)
        self.y -= 8
        self._layer_start = self.y

    def _gather(self) -> None:
        """The streams into their sum."""
        self._bar(self._streams[0], self._streams[-1], self.y)
        self._line(self.y, self.y - 8)
        self.y -= 8 + 22
        self._sum(_TRUNK, self.y + 11, 11)
        self._line(self.y, self.y - 8)
        self.y -= 8

    def _connected(
        self, roles: Sequence[str], kind: str, *, read: Array, mix: Array, write: Array
    ) -> None:
        """A sublayer that reads from all streams and writes to all, while they are mixed. Where
        a weight is 0 at the start, the ring is empty and the line thin."""
        fork = self.y - _GAP
        heights = [self._height(role, kind) for role in roles]
        join = fork - _GAP * (len(heights) + 1) - sum(heights) - 4
        self._lines(self.y, join - 8)
        last = self._streams[0]
        self.parts.append(
            f'<path class="branch" d="M{last:g} {fork:g}H{_SIDE - 10}q10 0 10 -10V{join + 10:g}'
            f'q0 -10 -10 -10H{last:g}"/>'
        )
        for x, weight in zip(self._streams, read, strict=True):
            idle = " idle" if np.isclose(weight, 0) else ""
            self.parts.append(f'<circle class="read{idle}" cx="{x:g}" cy="{fork:g}" r="4"/>')
        for x, weight in zip(self._streams, write, strict=True):
            self._sum(x, join, 7, idle=bool(np.isclose(weight, 0)))
        self._boxes(roles, kind, fork - _GAP)
        plain = np.allclose(mix, np.eye(len(mix)))
        self.y = (fork + join + _BOX) / 2
        width = self._streams[-1] - self._streams[0] + 24
        self._box(_TRUNK, width, "mix idle" if plain else "mix", self.say("diagram.mix"))
        self.y = join - 8

    def _bar(self, left: float, right: float, y: float) -> None:
        self.parts.append(f'<path class="stream" d="M{left:g} {y:g}H{right:g}"/>')

    # ------------------------------------------------------------------ ink

    def _line(self, start: float, end: float, x: float = _TRUNK) -> None:
        self.parts.append(f'<path class="stream" d="M{x:g} {start:g}V{end:g}"/>')

    def _lines(self, start: float, end: float) -> None:
        for x in self._streams:
            self._line(start, end, x)

    def _sum(self, x: float, y: float, radius: float, *, idle: bool = False) -> None:
        arm = radius * 0.45
        self.parts.append(
            f'<g class="sum{" idle" if idle else ""}" data-stage="sum">'
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}"/>'
            f'<path d="M{x - arm:g} {y:g}h{2 * arm:g}M{x:g} {y - arm:g}v{2 * arm:g}"/></g>'
        )

    def _norm_box(self, center: float, width: float, kind: str) -> None:
        name = norm_name(self.wiring.norm)
        note = self.say("diagram.gain") if name == "rms_w" else ""
        self._box(center, width, kind, self.say(f"diagram.norms.{name}"), note)
        if center == _TRUNK:
            self.y -= self._height("norm", "")

    def _box(self, center: float, width: float, kind: str, text: str, note: str = "") -> None:
        """From `y` upwards; `kind` is its classes, the last of them what it is called as a
        stage."""
        height = _TALL if note else _BOX
        self.parts.append(
            f'<g class="stage {kind}" data-stage="{kind.split()[-1]}"><rect'
            f' x="{center - width / 2:g}" y="{self.y - height:g}"'
            f' width="{width:g}" height="{height}" rx="5"/></g>'
        )
        if note:
            self._text(center, self.y - height / 2 - 2.5, text, "name")
            self._text(center, self.y - height / 2 + 12, note, "note")
        else:
            self._text(center, self.y - height / 2 + 4.5, text, "name")

    def _text(self, x: float, y: float, text: str, kind: str, stage: str = "") -> None:
        marked = f' data-stage="{stage}"' if stage else ""
        self.parts.append(f'<text class="{kind}"{marked} x="{x:g}" y="{y:g}">{escape(text)}</text>')


def _numbers(values: Array) -> str:
    """Weights as they are read out: "1" if all are alike, else each."""
    texts = [f"{value:.2g}" for value in values]
    return texts[0] if len(set(texts)) == 1 else ", ".join(texts)
