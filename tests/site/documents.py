"""Reads the files that figures and controls are painted from."""

import json
import re
from pathlib import Path
from typing import Any


def read(file: Path) -> dict[str, Any]:
    """The Bokeh document that the script `file` gives to `web/paint.js`."""
    script = r"document\.currentScript\.holds=JSON\.parse\('(.*)'\);\n"
    literal = re.fullmatch(script, file.read_text(encoding="utf-8"))
    assert literal, f"{file} is no script that holds a document"
    return dict(json.loads(re.sub(r"\\(.)", r"\1", literal[1])))
