"""The probes from a terminal:  python -m app probe sensitivity --depths 6,12,24 --json

Any Python 3.8 or newer may start this; one that cannot compute goes on in the project's .venv.
So this file keeps to syntax that 3.8 reads, and imports the rest of the project late.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV_PYTHON = ROOT / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def start(arguments: list[str]) -> int:
    """Run one command, by another Python if this one cannot; returns the exit code."""
    if not can_compute():
        return go_on_in_venv(arguments)
    try:
        from app.terminal import main

        code = main(arguments)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # whoever reads (`| head`) has seen enough; spare it the traceback
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return code


def can_compute() -> bool:
    """Is this a Python that the project runs on, with the very NumPy that it names?

    Another NumPy may draw other random numbers, and so print other digits than the pages show.
    """
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    try:
        right_numpy = f'"numpy=={version("numpy")}"' in project
    except PackageNotFoundError:
        return False
    return right_numpy and (3, 11) <= sys.version_info[:2] <= (3, 13)


def go_on_in_venv(arguments: list[str]) -> int:
    """Run the same command by the Python in .venv; answers only where that does not take over."""
    inside = Path(sys.prefix).resolve() == (ROOT / ".venv").resolve()
    if inside or not VENV_PYTHON.exists():
        print(
            "This Python is not 3.11 to 3.13 with the project's NumPy, and there is no .venv to go "
            "on in; python3 build.py build makes one.",
            file=sys.stderr,
        )
        return 1
    command = [str(VENV_PYTHON), "-m", "app", *arguments]
    paths = [str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    if os.name != "nt":
        os.execve(command[0], command, environment)
    # On Windows exec would give the terminal back before the command has ended.
    return subprocess.call(command, env=environment)


if __name__ == "__main__":
    sys.exit(start(sys.argv[1:]))
