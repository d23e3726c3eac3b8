"""What lies beside the files for hosts that serve it: the same, compressed with brotli.

Such hosts answer a browser that takes brotli with `NAME.br` where it asks for NAME (nginx calls it
`brotli_static`, Caddy `precompressed`), and the browser undoes it. For packed files that is a
loose pack, which app/web/download.js takes as it takes any: brotli finds a quarter more to save
than the gzip that it replaces.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from app.site import packing
from app.site.environment import Failure, say
from app.site.kept import Kept, digest, file_digest
from app.site.node import INSIDE, node

ENDING = ".br"
SUFFIXES = (".html", ".js", ".css", ".json", ".svg", ".txt")
SMALL = 1000  # bytes: below that there is nothing to save
HARDEST = 11


def beside(site: Path, cache: Path) -> None:
    """Write them all; what was compressed before comes from the cache. Raises Failure."""
    say("compressing with brotli, for hosts that serve it (the first time, some minutes)")
    kept = Kept(cache / "brotli", newest=400)
    for path in sorted(site.rglob("*")):
        if path.is_file() and wanted(path):

            def fill(out: Path, path: Path = path) -> None:
                compress(path, out / "compressed")

            made = kept.folder_of("files", digest(file_digest(path), str(HARDEST)), fill)
            path.with_name(path.name + ENDING).write_bytes((made / "compressed").read_bytes())


def wanted(path: Path) -> bool:
    """Whether a file may become smaller."""
    return path.name.endswith((packing.PACKED, *SUFFIXES)) and path.stat().st_size >= SMALL


def compress(path: Path, out: Path, quality: int = HARDEST) -> None:
    """Write a file's brotli to `out`. Raises Failure."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        content = path.read_bytes()
        is_packed = path.name.endswith(packing.PACKED)
        source.write_bytes(packing.loose(content) if is_packed else content)
        arguments: Iterable[object] = (node(), INSIDE / "brotli.mjs", source, out, quality)
        done = subprocess.run(
            list(map(str, arguments)), text=True, capture_output=True, check=False
        )
    if done.returncode:
        raise Failure(f"{path.name} could not be compressed:\n{done.stderr.strip()}")
