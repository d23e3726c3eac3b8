"""Byte-compiles Python sources inside Pyodide, so that the bytecode fits the shipped interpreter.

Runs under app/site/inside.mjs. PLAN["trees"]: [{source (a folder or a zip), target, home (where the
browser will have it), optimize}, …]. What PLAN["skip"] matches (fnmatch over the path inside the
tree) is left out; other files are copied as they are.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from functools import partial
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]  # PEP 552

PLAN: str
plan = json.loads(PLAN)  # noqa: F821  (given by inside.mjs)


def files(source: str) -> Iterator[tuple[str, Callable[[], bytes]]]:
    """Yield (path inside the tree, function that reads its bytes), in a fixed order."""
    if os.path.isfile(source):
        archive = zipfile.ZipFile(source)
        for name in sorted(archive.namelist()):
            if not name.endswith("/"):
                yield name, partial(archive.read, name)
        return
    for folder, folders, names in os.walk(source):
        folders[:] = sorted(f for f in folders if not skipped(_inside(folder, f, source) + "/"))
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, source), partial(read, path)


def _inside(folder: str, name: str, source: str) -> str:
    return os.path.relpath(os.path.join(folder, name), source)


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def skipped(path: str) -> bool:
    return any(fnmatch.fnmatch(path, pattern) for pattern in plan["skip"])


def bytecode(source: bytes, path: str, optimize: int) -> bytes:
    """The .pyc of a source: hash-based and unchecked, so that no time stamp gets in."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=optimize)
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), checked=False))


def write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


for tree in plan["trees"]:
    for path, content in files(tree["source"]):
        if skipped(path):
            continue
        if path.endswith(".py"):
            code = bytecode(content(), f"{tree['home']}/{path}", tree["optimize"])
            write(f"{tree['target']}/{path}c", code)
        else:
            write(f"{tree['target']}/{path}", content())
