"""Snapshots: Python's memory with everything imported, restored instead of booting.

There is one for each language, for each holds the experiments of its own pages, built ahead.
Made under Node by the product's own boot (inside/snapshot.mjs), from the very files that are
shipped, and bound to them: its `build` is a hash of them and of the scripts that make it.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from app.site import packing
from app.site.environment import ROOT, Failure, say
from app.site.kept import Kept, contents, digest
from app.site.node import INSIDE, node
from app.ui.strings import LANGUAGES

FILES = PLAN, MEMORY = "snapshot.json", "snapshot.gz.bin"  # in a folder named by the language
WEB = ROOT / "app" / "web"
# What makes it, besides Pyodide; a change of theirs changes the snapshot.
TOOLS = (
    *(INSIDE / name for name in ("snapshot.mjs", "snapshot.py")),
    *(INSIDE / name for name in ("worker.mjs", "steady.mjs", "zero.mjs")),
    *(
        WEB / name
        for name in ("download.js", "interpreter.js", "plain.js", "snapshot.js", "unzip.js")
    ),
)


def make(
    kept: Kept, runtime: Mapping[str, bytes], libraries: Sequence[str], modules: Sequence[str]
) -> dict[str, bytes]:
    """The files of all snapshots by name. `runtime`: all files that a plain boot needs.

    Raises Failure.
    """
    texts = [json.dumps([libraries, modules]), packing.VERSION, *contents(TOOLS)]
    texts += [f"{name} {digest(data.hex())}" for name, data in sorted(runtime.items())]

    def make_one(language: str) -> dict[str, bytes]:
        build = digest(language, *texts)

        def fill(out: Path) -> None:
            say(f"keeping Python's memory with everything imported ({language})")
            made = run(runtime, build, language, libraries, modules)
            for name, data in made.items():
                (out / name).write_bytes(data)

        folder = kept.folder_of("snapshot", build, fill)
        return {f"{language}/{name}": (folder / name).read_bytes() for name in FILES}

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        made = list(pool.map(make_one, LANGUAGES))
    return {name: data for files in made for name, data in files.items()}


def run(
    runtime: Mapping[str, bytes],
    build: str,
    language: str,
    libraries: Sequence[str],
    modules: Sequence[str],
) -> dict[str, bytes]:
    """Make the files of one snapshot, whatever the cache holds."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = laid_out(Path(scratch) / "runtime", runtime)
        plan = {
            "folder": str(folder),
            "bytes": {name: len(data) for name, data in runtime.items()},
            "build": build,
            "language": language,
            "libraries": list(libraries),
            "modules": list(modules),
            "script": str(INSIDE / "snapshot.py"),
            "out": scratch,
        }
        in_worker("snapshot.mjs", plan)
        about = json.loads((Path(scratch) / "about.json").read_text(encoding="utf-8"))
        memory = (Path(scratch) / "memory").read_bytes()
    return {PLAN: json.dumps(about).encode(), MEMORY: packing.gzip(memory)}


def laid_out(folder: Path, runtime: Mapping[str, bytes]) -> Path:
    """The files in a folder, from which Node imports their scripts as a browser would."""
    folder.mkdir()
    for name, data in runtime.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    (folder / "package.json").write_text('{"type": "module"}', encoding="utf-8")
    return folder


def in_worker(script: str, plan: Mapping[str, Any]) -> str:
    """Run a script of `inside/` that takes Node for a browser's worker; what it printed.

    Raises Failure with what went wrong.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        done = subprocess.run(
            [str(node()), str(INSIDE / script), str(path)],
            text=True,
            capture_output=True,
            check=False,
        )
    if done.returncode:
        raise Failure(f"{script} failed:\n{done.stderr.strip() or done.stdout.strip()}")
    return done.stdout
