"""The service worker, with the list of what this build consists of: it keeps nothing else."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

from app.site import packing
from app.site.kept import digest, file_digest
from app.site.scripts import WEB
from app.ui.strings import LANGUAGES

NAME = "offline.js"  # at the top of the site: there it may serve all pages


def page(language: str) -> str:
    """Where the page is that it answers with when one is asked for offline that is not kept."""
    return f"{language}/offline.html"


def write(site: Path, assets: str, runtime: str, documents: str) -> None:
    """Write it for the finished pages and folders `assets`, `runtime`, `documents` below `site`."""
    source = (WEB / NAME).read_text(encoding="utf-8")
    paths = {
        path.relative_to(site).as_posix(): path
        for folder in (assets, runtime, documents)
        for path in sorted((site / folder).rglob("*"))
        if path.is_file()
    }
    files = {name: file_digest(path) for name, path in paths.items()}
    contents = {
        name: hashlib.sha256(gzip.decompress(path.read_bytes())).hexdigest()
        for name, path in paths.items()
        if name.endswith(packing.PACKED)
    }
    pages = {language: page(language) for language in LANGUAGES}
    texts = [(site / path).read_text(encoding="utf-8") for path in pages.values()]
    version = digest(source, json.dumps(files), *texts)
    about = {
        **{"version": version, "assets": assets, "runtime": runtime},
        **{"files": files, "contents": contents, "offline": pages},
    }
    text = f"const SITE = {json.dumps(about, separators=(',', ':'))};\n{source}"
    (site / NAME).write_text(text, encoding="utf-8", newline="\n")
