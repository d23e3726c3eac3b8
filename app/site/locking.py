"""Writes requirements.lock anew from pyproject.toml: `python3 build.py lock`."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from app.site import environment
from app.site.environment import LOCK, ROOT, Failure, say
from app.site.fetch import replacing

UV = "uv==0.13.9"  # it writes every hash of the lock
HEADER = """\
# Everything that .venv holds, each file by its hash; good for Python 3.11 to 3.13 on any system.
# Made from pyproject.toml by `python3 build.py lock`, that is:
#   uv pip compile --universal --python-version 3.11 --generate-hashes --no-header
#     --no-emit-index-url --no-annotate --group build --group record --group test pyproject.toml
"""


def write() -> None:
    """Resolve the dependencies anew, keeping what is locked already where it still fits."""
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / LOCK.name
        if LOCK.exists():
            shutil.copy(LOCK, draft)
        done = subprocess.run(
            [
                uv(Path(folder)),
                "pip",
                "compile",
                "--universal",
                "--python-version",
                "3.11",
                "--generate-hashes",
                "--no-header",
                "--no-emit-index-url",
                "--no-annotate",
                "--quiet",
                "--group",
                "build",
                "--group",
                "record",
                "--group",
                "test",
                "--output-file",
                str(draft),
                "pyproject.toml",
            ],
            cwd=ROOT,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
        if done.returncode:
            raise Failure(f"uv could not resolve the dependencies ({done.stderr.strip()}).")
        with replacing(LOCK) as file:
            file.write((HEADER + draft.read_text(encoding="utf-8")).encode())
    say(f"wrote {LOCK.name}; the next command makes .venv anew")


def uv(folder: Path) -> str:
    """The program uv: one that is installed, else one of this run's own."""
    found = shutil.which("uv")
    if found:
        return found
    say("installing uv for this run")
    venv.create(folder / "uv", with_pip=True)
    command = [str(environment.venv_python(folder / "uv")), "-m", "pip", "install", "--quiet", UV]
    environment.run(command, environment.explain_pip)
    return str(
        environment.venv_python(folder / "uv").with_name(
            "uv" + (".exe" if sys.platform == "win32" else "")
        )
    )
