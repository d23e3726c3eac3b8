"""Packs files for the browser: a stored zip or a single file, compressed once, as a whole.

Runs under app/site/inside.mjs, so that Pyodide's own zlib compresses: the same bytes come out
whatever machine builds. PLAN: root, paths below it, zipped (else the one file as it is), target.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Sequence

PLAN: str
plan = json.loads(PLAN)  # noqa: F821  (given by inside.mjs)


def read(path: str) -> bytes:
    with open(f"{plan['root']}/{path}", "rb") as file:
        return file.read()


def zipped(paths: Sequence[str]) -> bytes:
    """A stored zip without time stamps (each is 1980-01-01)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in paths:
            archive.writestr(zipfile.ZipInfo(path), read(path))
    return buffer.getvalue()


content = zipped(plan["paths"]) if plan["zipped"] else read(plan["paths"][0])
with open(plan["target"], "wb") as file:
    file.write(gzip.compress(content, compresslevel=9, mtime=0))
