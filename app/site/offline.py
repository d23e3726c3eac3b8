"""The service worker, with the list of what this build consists of: it keeps nothing else."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from app.site import packing
from app.site.kept import digest, file_digest
from app.site.scripts import WEB

NAME = "offline.js"  # at the top of the site: there it may serve all pages


def write(site: Path, assets: str, runtime: str, documents: str) -> None:
    """Write it for the finished folders `assets`, `runtime` and `documents` below `site`."""
    source = (WEB / NAME).read_text(encoding="utf-8")
    files = {
        path.relative_to(site).as_posix(): _digest(path)
        for folder in (assets, runtime, documents)
        for path in sorted((site / folder).rglob("*"))
        if path.is_file()
    }
    version = digest(source, json.dumps(files))
    about = {
        **{"version": version, "assets": assets, "runtime": runtime},
        **{"packed": packing.PACKED, "files": files},
    }
    text = f"const SITE = {json.dumps(about, separators=(',', ':'))};\n{source}"
    (site / NAME).write_text(text, encoding="utf-8", newline="\n")


def _digest(path: Path) -> str:
    """A file's SHA-256; of a packed one, of what is in it."""
    if not path.name.endswith(packing.PACKED):
        return file_digest(path)
    return hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()
