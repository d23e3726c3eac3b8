"""Results that are kept in the cache, each under a hash of what went into it."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path

from app.site.environment import ROOT
from app.site.fetch import make_folder


class Kept:
    """Results in the cache, each under a key of what went into it; of a kind the newest stay."""

    def __init__(self, root: Path, newest: int = 12) -> None:
        self.root, self.newest = make_folder(root), newest

    def folder_of(self, kind: str, key: str, fill: Callable[[Path], None]) -> Path:
        """The folder of this kind and key; filled first if missing, whole or not at all."""
        parent = make_folder(self.root / kind)
        folder = parent / key
        if not folder.is_dir():
            scratch = Path(tempfile.mkdtemp(prefix=".partial-", dir=parent))
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
        """Remove the folders that were not used for longest."""
        known = [folder for folder in parent.iterdir() if not folder.name.startswith(".")]
        for folder in sorted(known, key=lambda folder: folder.stat().st_mtime)[: -self.newest]:
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
