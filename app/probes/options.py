"""The one table of options: names, bounds, defaults, choices. No words.

Controls, links, the terminal and the docs are drawn from it. Text goes to values by
`Option.parse`, which always answers with a usable value and, where that is not what was written,
a `Notice`; values go to text by `Option.format`, the canonical text that links carry.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from app.nn.stack import StackConfig
from app.nn.wirings import BASE, WIRINGS

Kind = Literal["int", "float", "choice", "choices", "ints"]


@dataclass(frozen=True)
class Notice:
    """What was done about a text that could not be taken as it stands.

    `kind`: "clamped" (out of bounds; the nearest bound is used), "rounded" (between two allowed
    values; the nearest is used), "unreadable" (no value at all, or no such choice; the default,
    or what was left of a list, is used).
    """

    kind: Literal["clamped", "rounded", "unreadable"]
    name: str
    given: str
    used: str
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Option:
    """One option. `low`, `high` and `step` bound numbers ("ints": each of them)."""

    name: str
    kind: Kind
    default: Any
    low: float | None = None
    high: float | None = None
    step: int = 1
    choices: tuple[str, ...] = ()

    def parse(self, text: str) -> tuple[Any, Notice | None]:
        """The value that `text` stands for, and what had to be changed about it, if anything."""
        value, problem = getattr(self, f"_parse_{self.kind}")(text.strip())
        if problem is None:
            return value, None
        shown = text if len(text) <= 40 else text[:39] + "…"
        notice = Notice(problem, self.name, shown, self.format(value), self.low, self.high)
        return value, notice

    def format(self, value: Any) -> str:
        """The canonical text of a value: `parse(format(value))` is the value again."""
        if self.kind in ("choices", "ints"):
            return ",".join(str(item) for item in value)
        return str(value)

    @property
    def allowed(self) -> str:
        """What may be written, as a terminal says it."""
        if self.kind == "choice":
            return f"one of {', '.join(self.choices)}"
        if self.kind == "choices":
            return f"one or more of {', '.join(self.choices)}, separated by commas"
        kind = {
            "int": "a whole number" if self.step == 1 else f"a multiple of {self.step}",
            "float": "a number",
            "ints": "whole numbers or ranges like 1-48, separated by commas,",
        }[self.kind]
        return f"{kind} from {self.low} to {self.high}"

    def _parse_int(self, text: str) -> tuple[int, str | None]:
        number = _number(text)
        if number is None:
            return self.default, "unreadable"
        low, high = int(self.low or 0), int(self.high or 0)
        if not low <= number <= high:
            return (low if number < low else high), "clamped"
        whole = low + self.step * round((number - low) / self.step)
        return whole, None if whole == number else "rounded"

    def _parse_float(self, text: str) -> tuple[float, str | None]:
        number = _number(text)
        if number is None:
            return self.default, "unreadable"
        used = min(max(float(number), self.low or 0.0), self.high or 0.0)
        return used, None if used == number else "clamped"

    def _parse_choice(self, text: str) -> tuple[str, str | None]:
        return (text, None) if text in self.choices else (self.default, "unreadable")

    def _parse_choices(self, text: str) -> tuple[tuple[str, ...], str | None]:
        given = {item.strip() for item in text.split(",")}
        known = tuple(choice for choice in self.choices if choice in given)
        return known or self.default, None if known and given <= set(self.choices) else "unreadable"

    def _parse_ints(self, text: str) -> tuple[tuple[int, ...], str | None]:
        values: set[int] = set()
        problems: list[str] = []
        for item in text.split(","):
            first, dash, last = item.strip().partition("-")
            ends = [self._parse_int(end) for end in ((first, last) if dash else (first,))]
            found = [problem for _, problem in ends if problem is not None]
            problems += found
            if "unreadable" not in found:
                values.update(range(ends[0][0], ends[-1][0] + 1))
        worst = next((p for p in ("unreadable", "clamped", "rounded") if p in problems), None)
        if not values:
            return self.default, "unreadable"
        return tuple(sorted(values)), worst


MATRICES = tuple(
    f"{of}{name}"
    for of, names in (
        ("", ("W_1", "W_2", "W_Q", "W_K", "W_V", "W_O")),
        ("cross_", ("W_Q", "W_K", "W_V", "W_O")),
    )
    for name in names
)

OPTIONS: dict[str, Option] = {
    option.name: option
    for option in (
        Option("wiring", "choices", BASE, choices=tuple(WIRINGS)),
        Option("depth", "int", 12, low=1, high=48),
        Option("depths", "ints", (1, 2, 4, 6, 8, 12, 16, 24, 32, 48), low=1, high=48),
        Option("width", "int", 128, low=16, high=768, step=16),  # whole heads of 16
        Option("ff", "int", 1, low=1, high=4),
        Option("attention", "choice", "uniform", choices=("uniform", "softmax")),
        Option("tokens", "int", 5, low=1, high=32),
        Option("seed", "int", 0, low=0, high=2**32 - 1),
        Option("seeds", "int", 24, low=1, high=256),
        Option("scale", "float", 1.0, low=0.25, high=8.0),
        Option("change", "float", 0.01, low=0.0001, high=0.5),
        Option("stack", "choice", "encoder", choices=("encoder", "causal", "decoder")),
        Option("memory", "choice", "encoder", choices=("encoder", "iid")),
        Option("loss", "choice", "ce", choices=("ce", "linear")),
        Option("matrix", "choice", "W_2", choices=MATRICES),
        Option("start", "float", 0.0, low=0.0, high=1.0),
        Option("quantity", "choice", "change", choices=("change", "cosine", "merge", "drop")),
        Option("rate", "float", 0.01, low=0.00001, high=1.0),
        Option("warmup", "int", 0, low=0, high=10_000),
        Option("steps", "int", 200, low=1, high=2000),
        Option("batch", "int", 8, low=1, high=16),
        Option("optimizer", "choice", "adam", choices=("adam", "sgd")),
        Option("schedule", "choice", "linear", choices=("linear", "original")),
        Option("text", "choice", "en", choices=("en", "zh-Hans")),
    )
}


def narrowed(names: Iterable[str], **changes: Mapping[str, Any]) -> dict[str, Option]:
    """Options of the table, some with a default or bounds of a probe's own."""
    return {name: replace(OPTIONS[name], **changes.get(name, {})) for name in names}


def options_of(names: Iterable[str] | Mapping[str, Option]) -> Mapping[str, Option]:
    """The options that `names` stand for: the table's, or those of `narrowed` as they are."""
    return names if isinstance(names, Mapping) else {name: OPTIONS[name] for name in names}


def validated(
    config: Mapping[str, Any], names: Iterable[str] | Mapping[str, Option] | None = None
) -> dict[str, Any]:
    """`config` with defaults filled in, narrowed to the options in `names` (default: all), which
    may be what `narrowed` gives.

    Values may be typed or texts. Raises ValueError, with a sentence that names the allowed
    range, for an unknown option, a value that `Option.parse` would have to change, or values that
    do not go together.
    """
    for name in config:
        if name not in OPTIONS:
            raise ValueError(f"There is no option {name}; there are {', '.join(OPTIONS)}.")
    checked = {
        name: _checked(option, config[name]) if name in config else option.default
        for name, option in options_of(OPTIONS if names is None else names).items()
    }
    _refuse_what_does_not_go_together(checked)
    return checked


# Multiplications in one product of an FFN, T·d·d_ff: what a time slice and 64 MB allow for.
PRODUCT = 2**24


def _refuse_what_does_not_go_together(config: Mapping[str, Any]) -> None:
    if {"tokens", "width", "ff"} <= config.keys():
        width, ff = config["width"], config["ff"]
        most = int(PRODUCT // (width * width * ff))
        if config["tokens"] > most:
            raise ValueError(
                f"tokens must be 1 … {most} where width is {width} and ff {ff}; it was "
                f"'{config['tokens']}'."
            )
    for wiring in config.get("wiring", ()):
        fitting = WIRINGS[wiring].attentions
        attention = config.get("attention", fitting[0])
        if attention not in fitting:
            raise ValueError(
                f"wiring {wiring} needs attention {' or '.join(fitting)}; it was {attention!r}."
            )
    if "matrix" in config:
        kind, attention = config.get("stack", "encoder"), config.get("attention", "softmax")
        there = StackConfig(1, attention=attention, stack=kind).matrices
        if config["matrix"] not in there:
            raise ValueError(
                f"matrix must be one of {', '.join(there)} where stack is {kind} and attention "
                f"{attention}; it was {config['matrix']!r}."
            )
        if config.get("tokens", 2) == 1 and config["matrix"].endswith(("W_Q", "W_K")):
            raise ValueError(
                f"tokens must be 2 or more where matrix is {config['matrix']}, whose gradient is 0 "
                "at a single position; it was '1'."
            )


def _checked(option: Option, given: Any) -> Any:
    try:
        text = given if isinstance(given, str) else option.format(given)
    except TypeError:  # a single number where a list belongs
        text = str(given)
    value, notice = option.parse(text)
    if notice is not None:
        raise ValueError(f"{option.name} must be {option.allowed}; it was {notice.given!r}.")
    return value


def _number(text: str) -> int | float | None:
    """A whole number exactly, another number as a float, infinite ones too; None for no number."""
    for read in (int, float):
        try:
            number = read(text)
        except ValueError:
            continue
        return None if math.isnan(number) else number
    return None
