"""Sets the house up: finds a fitting Python, makes .venv from the lock, goes on inside it.

Standard library only, and only syntax that Python 3.8 reads: this runs before anything is there.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import Callable, Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
LOCK = ROOT / "requirements.lock"
VENV = ROOT / ".venv"
OLDEST, NEWEST = (3, 11), (3, 13)  # NumPy 2.2.5 has no wheel beyond


class Failure(Exception):  # noqa: N818  (no error of the program)
    """Something the person at the terminal must know, as one sentence; ends the command."""


def main(arguments: Sequence[str]) -> int:
    """Run a command of build.py inside .venv, which is made first if need be."""
    try:
        python = ensure(VENV, LOCK)
        if running_in(VENV):
            from app.site import cli  # only here: it needs what .venv holds

            return cli.main(arguments)
    except Failure as failure:
        print(f"build.py: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    sys.stdout.flush()
    command = [str(python), str(ROOT / "build.py"), *arguments]
    if os.name != "nt":
        os.execv(command[0], command)
    return subprocess.call(command)


def ensure(venv: Path, lock: Path) -> Path:
    """Make `venv` from `lock` unless it is there already; return its Python. Raises Failure."""
    if is_complete(venv, lock):
        return venv_python(venv)
    with alone(venv):
        if not is_complete(venv, lock):  # another run may have made it while this one waited
            base = find_python()
            say(f"making {venv.name} with {base}")
            make(venv, lock, base)
    return venv_python(venv)


def is_complete(venv: Path, lock: Path) -> bool:
    """Whether `venv` was made to its end from this very lock, and is still whole."""
    try:
        stamp = json.loads((venv / "normlab.json").read_text(encoding="utf-8"))
        return (
            stamp == {"lock": digest(lock), "installed": installed(venv)}
            and venv_python(venv).exists()  # follows the link to the Python it was made with
        )
    except (OSError, ValueError):
        return False


def make(venv: Path, lock: Path, python: Path) -> None:
    """Make a virtual environment from a lock; on any failure nothing of it is left behind."""
    try:
        if venv.exists():
            shutil.rmtree(str(venv))
        run([str(python), "-m", "venv", str(venv)], explain_venv)
        install(venv_python(venv), lock)
        stamp = {"lock": digest(lock), "installed": installed(venv)}
        (venv / "normlab.json").write_text(json.dumps(stamp), encoding="utf-8")
    except OSError as error:
        shutil.rmtree(str(venv), ignore_errors=True)
        raise Failure(f"Cannot write {venv} ({error.strerror}).") from error
    except BaseException:
        shutil.rmtree(str(venv), ignore_errors=True)
        raise


def install(python: Path, lock: Path) -> None:
    """Install exactly what the lock names, each file checked against its hash."""
    names = {
        line.split("==")[0]
        for line in lock.read_text(encoding="utf-8").splitlines()
        if "==" in line and not line.startswith((" ", "#"))
    }
    seen: list[str] = []

    def step(line: str) -> None:
        if line.startswith("Collecting "):
            seen.append(line.split()[1].split("==")[0])
            progress(
                f"installing {seen[-1]}", len(seen), max(len(names), len(seen)), unit="packages"
            )
        elif line.startswith("Installing collected"):
            say("unpacking the packages (about a minute the first time)")

    run(
        [
            str(python),
            "-m",
            "pip",
            "install",
            "--require-hashes",
            "--no-deps",
            "--only-binary=:all:",
            "--no-input",
            "--disable-pip-version-check",
            "--retries=2",
            "--progress-bar=off",
            "-r",
            str(lock),
        ],
        explain_pip,
        step,
    )


def run(
    command: Sequence[str], explain: Callable[[str], str], step: Callable[[str], None] | None = None
) -> None:
    """Run a command, hand each line it prints to `step`; if it fails, raise what `explain` says."""
    said: list[str] = []
    try:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True
        )
    except OSError as error:
        raise Failure(f"Cannot run {command[0]} ({error.strerror}).") from error
    assert process.stdout is not None
    try:
        for line in process.stdout:
            said.append(line.rstrip())
            if step:
                step(line)
        code = process.wait()
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait()
        process.stdout.close()
    if code:
        raise Failure(explain("\n".join(said)))


def explain_venv(said: str) -> str:
    """Why `python -m venv` failed, in one sentence."""
    if "Errno" in said or "denied" in said.lower():
        return f"Cannot write the virtual environment ({last_line(said)})."
    return f"Python's venv module failed ({last_line(said)})."


def explain_pip(said: str) -> str:
    """Why pip failed, in one sentence."""
    if "DO NOT MATCH THE HASHES" in said:
        return (
            "A downloaded package does not have the hash that requirements.lock names, so nothing "
            "was installed; if a proxy or mirror changed it, use another, then run again."
        )
    if any(word in said for word in ("Permission denied", "Read-only", "No space left")):
        return f"Packages could not be written ({last_line(said)})."
    if any(word in said for word in CUT_OFF):
        return "A package's download was cut off; check the network and run the command again."
    if any(word in said for word in NO_NETWORK):
        return "No package index could be reached; check the network and run the command again."
    return f"Packages could not be installed ({last_line(said)})."


CUT_OFF = ("IncompleteRead", "Connection broken", "incomplete-download", "not enough bytes")
NO_NETWORK = (
    "NewConnectionError",
    "ConnectTimeout",
    "Failed to establish a new connection",
    "Could not fetch URL",
    "ProxyError",
    "Temporary failure in name resolution",
    "ReadTimeout",
    "Connection refused",
    "Connection aborted",
)


def find_python(path: str | None = None, current: str | None = None) -> Path:
    """A Python 3.11–3.13 that can make virtual environments: this one, else one on the PATH.

    Every candidate is run, since a name proves nothing: version managers put names on the PATH
    that answer only if such a version was chosen. Raises Failure if none fits.
    """
    without_venv: list[tuple[Path, str]] = []
    others: list[str] = []
    for candidate in candidates(path, current):
        version, has_venv = try_python(candidate)
        if version is None:
            continue
        if not OLDEST <= version <= NEWEST:
            others.append("{}.{}".format(*version))
        elif has_venv:
            return candidate
        else:
            without_venv.append((candidate, "{}.{}".format(*version)))
    if without_venv:
        candidate, number = without_venv[0]
        raise Failure(
            f"Python {number} ({candidate}) lacks the venv module; install it (Debian and "
            f"Ubuntu: apt-get install python{number}-venv) and run the command again."
        )
    found = f"found only {', '.join(sorted(set(others)))}" if others else "found none"
    raise Failure(
        f"NormLab needs Python 3.11, 3.12 or 3.13 on the PATH ({found}); install one and run the "
        "command again."
    )


def candidates(path: str | None = None, current: str | None = None) -> list[Path]:
    """Programs that may be a fitting Python, likeliest first, each once."""
    folders = (os.environ.get("PATH", "") if path is None else path).split(os.pathsep)
    names = [f"python3.{minor}" for minor in range(NEWEST[1], OLDEST[1] - 1, -1)]
    names += ["python3", "python"]
    if current is None:
        # Inside a virtual environment (which may be the one to be replaced): what it was made with.
        current = getattr(sys, "_base_executable", None) or sys.executable
    found = [Path(current)] if current else []
    for name in names:
        for folder in folders:
            program = Path(folder, name + (".exe" if os.name == "nt" else ""))
            if folder and program not in found and os.access(str(program), os.X_OK):
                found.append(program)
    return found


def try_python(program: Path) -> tuple[tuple[int, int] | None, bool]:
    """What a program answers: ((major, minor) or None if it does not run, whether it has venv)."""
    question = (
        "import sys; print(*sys.version_info[:2]); sys.stdout.flush(); import venv, ensurepip"
    )
    try:
        done = subprocess.run(
            [str(program), "-c", question],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            universal_newlines=True,
            timeout=30,
            check=False,
        )
        major, minor = done.stdout.split()
        return (int(major), int(minor)), done.returncode == 0
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return None, False


def venv_python(venv: Path) -> Path:
    """A virtual environment's Python."""
    return venv / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def running_in(venv: Path) -> bool:
    """Whether this very Python is the virtual environment's."""
    return Path(sys.prefix).resolve() == venv.resolve()


def installed(venv: Path) -> list[str]:
    """The names and versions of what a virtual environment holds, sorted."""
    folders = list(venv.glob("lib/python*/site-packages")) + list(venv.glob("Lib/site-packages"))
    return sorted(info.stem for folder in folders for info in folder.glob("*.dist-info"))


def digest(path: Path) -> str:
    """A file's SHA-256 in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def alone(path: Path) -> Iterator[None]:
    """Hold others off who would make the same thing at the same time."""
    try:
        import fcntl
    except ImportError:  # Windows: two set-ups at once are not looked after there
        yield
        return
    try:
        lock = open(str(path.with_name(f".{path.name.lstrip('.')}.lock")), "w")  # noqa: SIM115  (closed below; only opening may fail)
    except OSError as error:
        raise Failure(f"Cannot write {path} ({error.strerror}).") from error
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("waiting for another run to finish")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    """Print a step, at once."""
    print(f"· {text}", flush=True)


def progress(what: str, done: int, total: int | None, unit: str = "MB") -> None:
    """Show how far something is: rewritten in place on a terminal, at each tenth elsewhere."""
    global _last_tenth
    total = total or done or 1
    scale = 1e6 if unit == "MB" else 1
    shape = "{:.1f}" if unit == "MB" else "{:.0f}"
    text = f"  {what}: {shape.format(done / scale)} of {shape.format(total / scale)} {unit}"
    if sys.stdout.isatty():
        end = "\n" if done >= total else ""
        print(f"\r\033[K{text}", end=end, flush=True)
    else:
        tenth = (what if unit == "MB" else unit, done * 10 // total)
        if tenth != _last_tenth:
            _last_tenth = tenth
            print(text, flush=True)


_last_tenth: tuple[str, int] | None = None


def last_line(text: str) -> str:
    """The last line that says something, for a sentence."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else "it said nothing"
