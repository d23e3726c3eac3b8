"""Where a line may end, in lessons' texts and in experiments' words alike. Needs nothing else."""

from __future__ import annotations

import re

# A hyphen or a slash within a name or a formula is no place for a line to end.
_WHOLE = re.compile(
    r"\b(?:Pre|Post|Sandwich|QK)-[A-Z]\w*|‖[^‖\s]+‖(?:/‖[^‖\s]+‖)?|∂L/∂\w+|\bW_[A-Z\d]\b"
)
_INDEX = re.compile(r"\bW_([A-Z\d])\b")
_FOLLOWS = re.compile(r"^(?=[^\s\u3400-\u9fff])")
_OPENS = re.compile(r"(?<=[(\[“‘（「《])$")


def unbroken(html: str) -> str:
    """Text that is escaped already, its names and formulas in one piece: Post-LN, ‖∂L/∂W₂‖; and
    W_Q with a true index."""
    whole = _WHOLE.sub(r'<span class="whole">\g<0></span>', html)
    return _INDEX.sub(r"W<sub>\1</sub>", whole)


def glued(words: str, *, after: bool, before: bool) -> str:
    """Words beside a formula (`after` it, `before` one), so that no comma begins a line and no
    bracket ends one: a typeset formula is a box, at whose edges a browser may end any line."""
    words = _FOLLOWS.sub("\N{WORD JOINER}", words) if after else words
    return _OPENS.sub("\N{WORD JOINER}", words) if before else words
