"""How soon a lesson is there: ours against the same small lesson from Panel's stock converter.

Both sides run alternately in one Chromium, from one kind of server on this machine, without
throttling: each repeat is one cold load (empty profile) and one warm load (the same profile, a new
page). A ratio is stock ÷ ours: above 1, ours is the faster or the smaller. Run it as

    python3 build.py bench startup [--repeats 5]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from bench import harness  # noqa: E402
from bench.stock.foreign import Foreign, plain  # noqa: E402

PATIENCE = 120.0  # seconds: a page that is not live by then has failed
QUIET = 0.5  # seconds without a request end a visit

HOW = """\
figure    the first frame in which a canvas of Bokeh's shows more than one colour
live      stock: its loading mark has gone, Python's document is in place and linked
          ours: data-runtime is "live" and every experiment is "ready"
answer    from an arrow key on the depth slider to changed data in the page's figures
bytes     answers with their headers as the server sent them, from the start of the visit to half a
          second after the answer; text and WebAssembly gzip-compressed at level 9, wheels as they are.
          Real delivery networks may use brotli, about a sixth less for those files."""


@dataclass(frozen=True)
class Side:
    """One of the two pages that are compared, served and counted."""

    name: str
    address: str
    path: str
    slider: str
    traffic: harness.Traffic


def visit(context: Any, side: Side) -> dict[str, float]:
    """Opens the page, waits until it is live, moves the slider once, and closes it.

    Raises RuntimeError when the page does not get there, with what its console said.
    """
    said: list[str] = []
    page = context.new_page()
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.add_init_script(path=str(ROOT / "bench" / "startup.js"))
    side.traffic.reset()
    try:
        page.goto(side.address + side.path, wait_until="commit")
        wait(page, "benchStartup.figure && benchStartup.live")
        page.evaluate("benchStartup.watch()")
        page.locator(side.slider).first.focus()
        page.keyboard.press("ArrowRight")
        wait(page, "benchStartup.answered")
        settle(side.traffic)
        seen = page.evaluate("({...benchStartup, watch: null})")
    except Exception as error:
        tail = "\n  ".join(said[-8:])
        raise RuntimeError(f"The {side.name} page did not become live: {error}\n  {tail}") from error
    finally:
        page.close()
    return {
        "figure": seen["figure"] / 1000,
        "live": seen["live"] / 1000,
        "answer": (seen["answered"] - seen["asked"]) / 1000,
        "megabytes": side.traffic.bytes / 1e6,
        "requests": len(side.traffic.paths),
    }


def wait(page: Any, condition: str) -> None:
    """Looks four times a second, which leaves the page's cores alone; the page notes the time."""
    page.wait_for_function(condition, timeout=PATIENCE * 1000, polling=250)


def settle(traffic: harness.Traffic) -> None:
    """Waits until no request has come for a while."""
    count = -1
    while count != len(traffic.paths):
        count = len(traffic.paths)
        time.sleep(QUIET)


def convert(out: Path) -> None:
    """The stock app as `panel convert` writes it, its foreign addresses without TLS."""
    command = [sys.executable, "-m", "panel", "convert", str(ROOT / "bench" / "stock" / "app.py")]
    subprocess.run(
        [*command, "--to", "pyodide-worker", "--out", str(out)], check=True, capture_output=True
    )
    for file in (out / "app.html", out / "app.js"):
        file.write_bytes(plain(file.read_bytes()))


def compare(sides: Sequence[Side], executable: str | None, repeats: int) -> dict[str, Any]:
    """Medians over the repeats, by side and by cold or warm."""
    rows: dict[str, dict[str, list[dict[str, float]]]] = {
        side.name: {"cold": [], "warm": []} for side in sides
    }
    for repeat in range(repeats + 1):
        for side in sides:
            with harness.browser(executable, side.address) as context:
                for kind in ("cold", "warm"):
                    row = visit(context, side)
                    progress(f"{side.name} {kind} {repeat}/{repeats}: {row}")
                    if repeat:  # the first visits fill the server's memory and are not counted
                        rows[side.name][kind].append(row)
    return {
        name: {kind: harness.medians(kinds[kind]) for kind in kinds}
        for name, kinds in rows.items()
    }


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
