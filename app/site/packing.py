"""How files are packed: stored in one zip, then gzip as a whole, which every browser can unpack."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Iterable
from gzip import compress
from pathlib import Path

VERSION = f"zlib {zlib.ZLIB_RUNTIME_VERSION}"
"""What packed bytes depend on, besides what is in them."""


def gzip(content: bytes) -> bytes:
    """`content`, packed as hard as can be."""
    return compress(content, 9, mtime=0)


def stored(root: Path, paths: Iterable[str]) -> bytes:
    """The files at these paths below a folder, as a zip that does not pack them: read at once, and
    packed better as a whole. No time stamps (each is 1980-01-01)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for path in paths:
            entry = zipfile.ZipInfo(path)
            entry.create_system = 3  # else it would tell what system has built it
            archive.writestr(entry, (root / path).read_bytes())
    return buffer.getvalue()
