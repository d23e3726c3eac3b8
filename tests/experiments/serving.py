"""Runs `panel serve` on a lesson, as its author would."""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from pathlib import Path

from app.site.environment import ROOT


class Serving:
    """`panel serve lessons/<slug>/lesson.py` on a free port, started from another folder."""

    def __init__(self, slug: str, folder: Path, *options: str) -> None:
        path = ROOT / "lessons" / slug / "lesson.py"
        self.log: list[str] = []
        self._address = ""
        self._known = threading.Event()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "panel", "serve", str(path), "--port", "0", *options],
            cwd=folder,
            stderr=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    @property
    def address(self) -> str:
        """Where the lesson is, once it is served."""
        self._known.wait()
        assert self._address, "".join(self.log)
        return self._address

    def end(self) -> str:
        """End it; returns all that it said."""
        self._process.terminate()
        self._process.wait()
        self._reader.join()
        return "".join(self.log)

    def _read(self) -> None:
        assert self._process.stderr is not None
        for line in self._process.stderr:
            self.log.append(line)
            found = re.search(r"running at: (\S+)", line)
            if found:
                self._address = found[1]
                self._known.set()
        self._known.set()  # it has ended: nobody shall wait for it
