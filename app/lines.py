"""Where a line may end, in lessons' texts and in experiments' words alike. Needs nothing else."""

from __future__ import annotations

import re
from html import escape

# A hyphen or a slash within a name or a formula is no place for a line to end.
_WHOLE = re.compile(
    r"\b(?:Pre|Post|Sandwich|QK)-[A-Z]\w*|\b[Ww]arm-up\b"
    r"|‖[^‖\s]+‖(?:/‖[^‖\s]+‖)?|∂L/∂\w+|\bW_[A-Z\d]\b"
)
_INDEX = re.compile(r"\b(W|x)_(?:([A-Zl\d])\b|\{([^{}]+)\})")
_CLOSES = re.compile(r"^[,.;:!?)\]’”，。；：！？）、」》]+")
_OPENS = re.compile(r"[(\[“‘（「《]+$")


def unbroken(html: str) -> str:
    """Text that is escaped already, its names and formulas in one piece: Post-LN, ‖∂L/∂W₂‖; and
    W_Q, x_l and x_{l+1} with a true index."""
    whole = _WHOLE.sub(r'<span class="whole">\g<0></span>', html)
    return _INDEX.sub(r"\1<sub>\2\3</sub>", whole)


def apart(words: str, *, after: bool, before: bool) -> tuple[str, str, str]:
    """What of words beside a formula (`after` it, `before` one) must stay on its line: the
    punctuation that they begin with, the rest, the brackets that they end with."""
    closing = _CLOSES.search(words) if after else None
    first = closing[0] if closing else ""
    rest = words[len(first) :]
    opening = _OPENS.search(rest) if before else None
    last = opening[0] if opening else ""
    return first, rest[: len(rest) - len(last)], last


def glued(formula: str, before: str, after: str) -> str:
    """A typeset formula and the `after` of one piece of words and the `before` of the next: a
    formula is a box, at whose edges a browser would end a line whatever stands there."""
    if not before and not after:
        return formula
    return f'<span class="glued">{escape(before)}{formula}{escape(after)}</span>'
