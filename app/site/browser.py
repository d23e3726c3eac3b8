"""A Chromium for the browser tests and benches: one that is there, else one that can be had."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

from app.site.environment import Failure, last_line, say

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)


def ensure() -> Path:
    """A Chromium that runs: installed, or Debian's package (as root), or Playwright's build.

    Raises Failure, in one sentence, if none can be had.
    """
    found = chromium()
    if found and (can_write_chinese() or not is_debian_root()):
        return found
    reasons = []
    for way in (from_debian, from_playwright):
        reason = way()
        found = chromium()
        if found:
            return found
        if reason:
            reasons.append(reason)
    raise Failure(
        f"The browser tests need a Chromium and none could be had ({'; '.join(reasons)}); install "
        "Chromium or Google Chrome, or name its program in NORMLAB_CHROMIUM."
    )


def chromium() -> Path | None:
    """An installed one: NORMLAB_CHROMIUM, on the PATH, in its usual place, Playwright's own."""
    named = os.environ.get("NORMLAB_CHROMIUM")
    if named:
        return Path(named)
    found = [program for program in map(shutil.which, NAMES) if program]
    for program in [*found, *PLACES]:
        if runs(program):
            return Path(program)
    own = playwright_program()
    return Path(own) if own and runs(own) else None


def runs(program: str) -> bool:
    """Whether it is a browser indeed: some distributions put a stand-in under the name."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and any(name in done.stdout for name in ("Chrom", "chrom"))


def playwright_program() -> str:
    """Where Playwright keeps its Chromium, whether it is there or not.

    Asked in a process of its own: in one that drives a browser already, Playwright refuses.
    """
    done = subprocess.run(
        [sys.executable, "-c", PLAYWRIGHT], capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


PLAYWRIGHT = """
from playwright.sync_api import sync_playwright
with sync_playwright() as playwright:
    print(playwright.chromium.executable_path)
"""


def from_debian() -> str | None:
    """Install Debian's Chromium, with a font for Chinese; says why not, if not."""
    if not is_debian_root():
        return "not root on a machine with apt-get"
    say("installing Chromium and a font for Chinese with apt-get")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "update", "-qq"],
        [
            "apt-get",
            "install",
            "-y",
            "-qq",
            "--no-install-recommends",
            "chromium",
            "fonts-noto-cjk",
        ],
    ):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return f"apt-get: {last_line(done.stderr)}" if done.returncode else None


def from_playwright() -> str | None:
    """Let Playwright fetch its Chromium; says why not, if not."""
    say("fetching Playwright's Chromium")
    done = subprocess.run(
        [sys.executable, "-m", "playwright", "install", "chromium"],
        capture_output=True,
        text=True,
        check=False,
    )
    return f"playwright: {last_line(done.stderr)}" if done.returncode else None


def is_debian_root() -> bool:
    """Whether Debian's packages can be installed here."""
    return hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("apt-get") is not None


def can_write_chinese() -> bool:
    """Whether there is a font for Chinese, without which a picture of a page shows boxes."""
    if shutil.which("fc-list") is None:
        return False
    done = subprocess.run(["fc-list", ":lang=zh"], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip())
