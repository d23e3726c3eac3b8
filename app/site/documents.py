"""The files that figures and controls are painted from: Bokeh's documents, as scripts, and small.

What is left out of them is nothing that anybody sees: a figure's numbers beyond a few digits
(Python sends its own as soon as it is there); the style sheets of controls, which are in every
document the same and therefore travel with the script that dresses controls; and of a model's
number all but how far it is from the one before it. `web/paint.js` puts the last two back.
"""

from __future__ import annotations

import json
from typing import Any

from app.ui import control_css

DIGITS = 6
"""Of every number that is no whole one: a canvas is less than 10,000 pixels wide."""

_SHEETS = {
    control_css.COMMON + getattr(control_css, name.upper()): f"normlab:{name}"
    for name in ("slider", "field", "switch", "button")
}


def script(document: Any) -> str:
    """Gives Bokeh's JSON to `web/documents.js` as the script's `holds`."""
    text = json.dumps(
        _small(document, [0]), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    # Browsers read long JSON sooner as a string than as a literal.
    literal = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"document.currentScript.holds=JSON.parse('{literal}');\n"


def sheets() -> str:
    """The style sheets that documents only name, for `web/painted.js` as a script."""
    named = {name: css for css, name in _SHEETS.items()}
    return f"window.normlabSheets={json.dumps(named, separators=(',', ':'))};\n"


def _small(node: Any, last: list[int]) -> Any:
    """`last`: the number of the model before this one, in the order of the text."""
    if isinstance(node, dict):
        if node.get("type") == "object" and "id" in node:
            number = int(node["id"].removeprefix("p"))
            node = {**node, "id": number - last[0]}
            last[0] = number
        return {key: _small(value, last) for key, value in node.items()}
    if isinstance(node, list | tuple):
        return [_small(value, last) for value in node]
    if isinstance(node, str):
        return _SHEETS.get(node, node)
    is_fraction = isinstance(node, float) and not node.is_integer()
    return float(f"{node:.{DIGITS}g}") if is_fraction else node
