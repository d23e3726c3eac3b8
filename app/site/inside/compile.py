"""Byte-compiles Python sources inside Pyodide, so that the bytecode fits the shipped interpreter.

Runs under app/site/inside.mjs. PLAN["trees"]: [{source (a folder or a zip), target, home (where the
browser will have it), optimize, lines}, …]; without lines, code knows its functions' first lines.
What PLAN["skip"] matches (fnmatch over the path inside the tree) is left out; other files are
copied as they are.
"""

from __future__ import annotations

import fnmatch
import importlib.util
import json
import os
import zipfile
from collections.abc import Callable, Iterator
from functools import cache, partial
from importlib._bootstrap_external import _code_to_hash_pyc  # type: ignore[attr-defined]  # PEP 552
from types import CodeType

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


def bytecode(source: bytes, path: str, optimize: int, lines: bool) -> bytes:
    """The .pyc of a source: hash-based and unchecked, so that no time stamp gets in."""
    code = compile(source, path, "exec", dont_inherit=True, optimize=optimize)
    code = code if lines else with_first_lines(code)
    return bytes(_code_to_hash_pyc(code, importlib.util.source_hash(source), checked=False))


def with_first_lines(code: CodeType) -> CodeType:
    """The code without its table of lines, a fifth of its bytes: each function has its first line.

    Its qualified name, which only some messages tell, becomes its name, which is there anyway.
    """
    return code.replace(
        co_linetable=one_line(len(code.co_code) // 2),
        co_qualname=code.co_name,
        co_consts=tuple(
            with_first_lines(it) if isinstance(it, CodeType) else it for it in code.co_consts
        ),
    )


@cache
def one_line(units: int) -> bytes:
    """A table for so many units of code on one line; one object, which marshal writes once a file.

    Entries of kind 13 (a difference of lines, no columns) for up to eight units of code:
    https://github.com/python/cpython/blob/3.13/InternalDocs/code_objects.md
    """
    entries = [min(8, units - start) for start in range(0, units, 8)]
    return b"".join(bytes([0x80 | 13 << 3 | length - 1, 0]) for length in entries)


def write(path: str, content: bytes) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


for tree in plan["trees"]:
    for path, content in files(tree["source"]):
        if skipped(path):
            continue
        if path.endswith(".py"):
            source = b"" if path in plan.get("empty", ()) else content()
            code = bytecode(source, f"{tree['home']}/{path}", tree["optimize"], tree["lines"])
            write(f"{tree['target']}/{path}c", code)
        else:
            write(f"{tree['target']}/{path}", content())
