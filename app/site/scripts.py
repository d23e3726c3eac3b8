"""Our own scripts as pages load them: in few files, for a page waits for each.

What is written as modules is put together with what it imports by esbuild, neither shortened nor
mangled, so that whoever opens it can read it: into a module, or into a plain script where modules
do not run. Scripts without imports are written one after the other.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from app.site.environment import Failure
from app.site.node import MODULES, node

WEB = Path(__file__).parents[1] / "web"
PLAIN = {
    "shell.js": ("shell.js", "begin.js"),
    "frame.js": ("shell.js", "begin.js", "frame.js"),
}
CLASSIC = ("paint.js", "controls.js")  # for pages that are opened as files, too
BEFORE = "python.js"  # runs before the page's other modules, so it is none of their parts
ENTRIES = (BEFORE, "page.js", "embed.js", "worker.js")


def gather() -> dict[str, bytes]:
    """The files by name. Raises Failure when a module cannot be put together."""
    plain = {
        name: b"\n".join((WEB / part).read_bytes() for part in parts)
        for name, parts in PLAIN.items()
    }
    return {**plain, **bundled(WEB, CLASSIC, "iife"), **bundled(WEB, ENTRIES)}


def bundled(folder: Path, entries: Sequence[str], form: str = "esm") -> dict[str, bytes]:
    """Each of these modules in one file with what it imports: a module, or a script ("iife").

    Raises Failure.
    """
    with tempfile.TemporaryDirectory() as out:
        done = subprocess.run(
            [
                *(str(node()), str(MODULES / "esbuild" / "bin" / "esbuild"), *entries),
                *("--bundle", f"--format={form}", "--target=es2022", "--charset=utf8"),
                *(f"--external:./{BEFORE}", f"--outdir={out}", "--log-level=error"),
            ],
            cwd=folder,
            text=True,
            capture_output=True,
            check=False,
        )
        if done.returncode:
            raise Failure(f"The page's scripts could not be put together:\n{done.stderr.strip()}")
        return {name: (Path(out) / name).read_bytes() for name in entries}
