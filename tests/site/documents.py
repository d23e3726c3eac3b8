"""Reads the files that figures and controls are painted from."""

import json
import re
from pathlib import Path
from typing import Any

from app.site import documents

named = re.fullmatch(r"window\.normlabSheets=(.*);\n", documents.sheets())
assert named
SHEETS: dict[str, str] = json.loads(named[1])


def read(file: Path) -> dict[str, Any]:
    """The Bokeh document that the script `file` gives to `web/paint.js`."""
    document = json.loads(literal(file))
    in_full(document, 0)
    return dict(document)


def literal(file: Path) -> str:
    """Its JSON, as it is written."""
    script = r"document\.currentScript\.holds=JSON\.parse\('(.*)'\);\n"
    found = re.fullmatch(script, file.read_text(encoding="utf-8"))
    assert found, f"{file} is no script that holds a document"
    return re.sub(r"\\(.)", r"\1", found[1])


def in_full(node: Any, last: int) -> int:
    """With the sheets and the models' numbers that the file only hints at; the last number."""
    if isinstance(node, dict):
        if isinstance(node.get("id"), int):
            last += node["id"]
            node["id"] = f"p{last}"
        if sheets := node.get("stylesheets"):
            node["stylesheets"] = [SHEETS.get(sheet, sheet) for sheet in sheets]
    if isinstance(node, dict | list):
        for value in node.values() if isinstance(node, dict) else node:
            last = in_full(value, last)
    return last
