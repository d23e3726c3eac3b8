"""Results that are kept in the cache, each under a hash of what went into it."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from app.site.environment import ROOT
from app.site.fetch import make_folder

PARTIAL = ".partial-"
ABANDONED = 24 * 3600.0  # seconds; no build takes as long


class Kept:
    """Results in the cache, each under a key of what went into it; of a kind the newest stay."""

    def __init__(self, root: Path, newest: int = 12) -> None:
        self.root, self.newest = make_folder(root), newest

    def folder_of(self, kind: str, key: str, fill: Callable[[Path], None]) -> Path:
        """The folder of this kind and key; filled first if missing, whole or not at all."""
        parent = make_folder(self.root / kind)
        folder = parent / key
        if not folder.is_dir():
            scratch = Path(tempfile.mkdtemp(prefix=PARTIAL, dir=parent))
            try:
                fill(scratch)
                scratch.chmod(0o755)
                _move(scratch, folder)
            finally:
                shutil.rmtree(scratch, ignore_errors=True)
        os.utime(folder)
        self.forget(parent)
        return folder

    def forget(self, parent: Path) -> None:
        """Remove what was not used for longest, and what builds left that were ended."""
        used: dict[Path, float] = {}
        for folder in parent.iterdir():
            with suppress(FileNotFoundError):  # another build is tidying up, too
                used[folder] = folder.stat().st_mtime
        partial = {folder for folder in used if folder.name.startswith(PARTIAL)}
        known = sorted(used.keys() - partial, key=lambda folder: used[folder])
        left = {folder for folder in partial if used[folder] < time.time() - ABANDONED}
        for folder in {*known[: -self.newest], *left}:
            shutil.rmtree(folder, ignore_errors=True)


def _move(scratch: Path, folder: Path) -> None:
    """Give a filled folder its name; another build may have made the same one meanwhile."""
    try:
        scratch.rename(folder)
    except OSError:
        if not folder.is_dir():
            raise


def contents(paths: Iterable[Path]) -> list[str]:
    """Places and hashes of files, for a key."""
    return [f"{_place(path)} {file_digest(path)}" for path in paths]


def _place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix() if ROOT in path.parents else path.name


def file_digest(path: Path) -> str:
    """A file's SHA-256 in hex."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def digest(*parts: str) -> str:
    """A short hash of texts, for the name of a folder."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]
