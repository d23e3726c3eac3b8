"""How soon a lesson is there: ours against the same small lesson from Panel's stock converter.

A third side, plain, is ours from a server without the snapshot, so that Python boots and imports.
All run alternately in one Chromium, from one kind of server on this machine: each repeat is a cold
load (empty profile), a warm one (the same profile, a new page) and a slow one (an empty profile
again, with the browser's own throttling of processor and line). A ratio is stock ÷ ours or
plain ÷ ours: above 1, ours is the faster or the smaller. Nothing leaves the machine meanwhile.

    python3 build.py bench startup [--repeats 5]
"""

from __future__ import annotations

import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence, Set
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import BrowserContext, Error

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/startup.py`

from app.site import fetch  # noqa: E402
from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402
from bench.stock.foreign import Foreign, plain  # noqa: E402

LOOK = 250  # milliseconds between two looks, which leave the page's processor alone
QUIET = 0.5  # seconds without a request end a visit

KINDS = ("cold", "warm", "slow")
SLOWER = 4  # times
LINE = {
    "offline": False,
    "latency": 40,  # milliseconds
    "downloadThroughput": 10e6 / 8,  # bytes per second
    "uploadThroughput": 10e6 / 8,
}

MEASURES = ("figure", "live", "ready", "answer", "megabytes", "requests")
HOW = """\
stock      the same small lesson from `panel convert`
plain      ours without the snapshot of Python's memory, so that Python boots and imports
ours       like plain the embed page with one experiment (a lesson's own page has several), in a
           browser at rest, without a service worker
figure     seconds to the first frame in which one of Bokeh's canvases shows more than one colour
live       seconds until Python's documents are in place and answer. Stock: its loading mark is
           gone; ours: data-runtime is "live" and every experiment's document is linked
ready      seconds until what the figures show at the start has been computed in the browser, too.
           Stock: the same moment, with 4 seeds; ours: data-state is "ready", with 24 seeds
answer     seconds from an arrow key on the depth slider to changed data in the page's figures
megabytes  answers as the server sends them, headers included, from the start of the visit until it
           has been quiet after the answer. Text and WebAssembly travel gzip-compressed at level 9,
           wheels and packed files as they are; a delivery network with brotli sends about a sixth
           less of the former, which are a sixth of stock's bytes.
requests   all of them, preflights excluded
slow       10 Mbit/s and 40 ms for the page and its worker, and a processor 4 times slower for the
           page: for workers Chromium has no such brake, so Python itself runs as fast as ever.
           What was asked for and then given up counts whole among the bytes.
stock ÷ ours, plain ÷ ours: above 1, ours is the faster or the smaller."""

WITHHELD = ("snapshot.json", "snapshot.gz.bin", "native.gz.bin", "data.gz.bin")  # from plain

# Of Pyodide's distribution stock's page installs these too. Its own lock pins the wheels; the
# script is in no lock.
WHEELS = (
    *("certifi", "charset-normalizer", "contourpy", "idna", "micropip", "packaging", "pandas"),
    *("pillow", "python-dateutil", "pytz", "requests", "six", "typing-extensions", "urllib3"),
)
SCRIPT = fetch.Wanted(
    "pyodide.js", "24a458425dcb4ea9836eb5ce26701d18cb769374e2b79247602ba605bf093278", 17331
)


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the table, the ratios and, as the last line, one JSON object."""
    parser = harness.parser("startup", __doc__, 5, "counted visits of each kind")
    parser.add_argument(
        "--only", choices=("stock", "plain", "ours"), help="one side alone, without ratios"
    )
    options = parser.parse_args(arguments)
    try:
        with prepared(options.site, options.only) as sides:
            program = harness.program(options)
            results = compare(sides, program, options.repeats)
            show(results, options.repeats, sorted(set().union(*(x.stand_ins for x in sides))))
    except (Failure, Error) as failure:
        print(f"bench startup: {failure}", file=sys.stderr)
        return 1
    return 0


@dataclass(frozen=True)
class Side:
    """One of the pages that are compared, served and counted."""

    name: str
    address: str
    path: str
    slider: str
    traffic: harness.Traffic
    stand_ins: Set[str] = frozenset()


@contextmanager
def prepared(site: Path, only: str | None) -> Iterator[list[Side]]:
    """The sides, served. Raises Failure when there is nothing to serve."""
    with ExitStack() as stack:
        sides = []
        if only in (None, "stock"):
            out = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            convert(out)
            foreign = Foreign(stock_runtime())
            address, traffic = stack.enter_context(harness.serve(out, foreign))
            sides.append(
                Side("stock", address, "app.html", ".noUi-handle", traffic, foreign.stand_ins)
            )
        if only != "stock":
            harness.has_lessons(site)
        for name, withheld in (("plain", WITHHELD), ("ours", ())):
            if only in (None, name):
                address, traffic = stack.enter_context(harness.serve(site, withheld=withheld))
                slider = '[data-control="depth"] .noUi-handle'
                sides.append(Side(name, address, harness.EMBED, slider, traffic))
        yield sides


def stock_runtime() -> Path:
    """The runtime's folder, with what the stock page needs besides. Raises Failure."""
    folder = fetch.runtime(fetch.cache_folder())
    wanted = [SCRIPT, *(fetch.wheel(folder, name) for name in WHEELS)]
    fetch.fetch(wanted, folder, fetch.PINS["sources"], "all")
    return folder


def visit(context: BrowserContext, side: Side, *, slow: bool = False) -> dict[str, float]:
    """Opens the page, waits until it is live, moves the slider once, and closes it.

    Raises Failure when the page does not get there, with what its console said, and when it asks
    another host for something that cannot be answered here.
    """
    said: list[str] = []
    page = harness.page(context, ROOT / "bench" / "startup.js")
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    session = context.new_cdp_session(page)
    if slow:
        session.send("Network.emulateNetworkConditions", LINE)
        session.send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
    side.traffic.reset()
    try:
        page.goto(side.address + side.path, wait_until="commit")
        harness.wait(session, "benchStartup.figure && benchStartup.ready", LOOK)
        page.evaluate("benchStartup.watch()")
        page.locator(side.slider).first.focus()
        page.keyboard.press("ArrowRight")
        harness.wait(session, "benchStartup.answered", LOOK)
        settle(side.traffic)
        seen = page.evaluate("({...benchStartup, watch: null})")
    except Error as error:
        tail = "\n  ".join([str(error).partition("\n")[0], *said[-8:]])
        raise Failure(f"The {side.name} page did not answer:\n  {tail}") from error
    finally:
        page.close()
    if side.traffic.refused:
        raise Failure(f"The {side.name} page asked for {', '.join(side.traffic.refused)}.")
    return {
        "figure": seen["figure"] / 1000,
        "live": seen["live"] / 1000,
        "ready": seen["ready"] / 1000,
        "answer": (seen["answered"] - seen["asked"]) / 1000,
        "megabytes": side.traffic.bytes / 1e6,
        "requests": len(side.traffic.paths),
    }


def settle(traffic: harness.Traffic) -> None:
    """Waits until no request has come for a while."""
    count = -1
    while count != len(traffic.paths):
        count = len(traffic.paths)
        time.sleep(QUIET)


def convert(out: Path) -> None:
    """The stock app as `panel convert` writes it, its foreign addresses without TLS.

    Raises Failure with what `panel convert` said.
    """
    command = [sys.executable, "-m", "panel", "convert", str(ROOT / "bench" / "stock" / "app.py")]
    command += ["--to", "pyodide-worker", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Failure(f"panel convert failed:\n{done.stderr.strip()}")
    for file in (out / "app.html", out / "app.js"):
        file.write_bytes(plain(file.read_bytes()))


Rows = dict[str, dict[str, list[dict[str, float]]]]


def compare(sides: Sequence[Side], executable: str, repeats: int) -> Rows:
    """What was measured at each repeat, by side and by kind."""
    rows: Rows = {side.name: {kind: [] for kind in KINDS} for side in sides}
    for repeat in range(repeats + 1):
        for side in sides if repeat % 2 else reversed(sides):
            # The first round fills the servers' memories and is not counted.
            for kinds in (KINDS[:2], KINDS[2:]) if repeat else (KINDS[:2],):
                with harness.browser(executable, side.address) as context:
                    for kind in kinds:
                        row = visit(context, side, slow=kind == "slow")
                        if repeat:
                            rows[side.name][kind].append(row)
                        told = "  ".join(f"{name} {row[name]:.2f}" for name in MEASURES)
                        print(f"{repeat}/{repeats} {side.name} {kind}: {told}", file=sys.stderr)
    return rows


def show(rows: Rows, repeats: int, stand_ins: Sequence[str]) -> None:
    """Prints medians and ratios, how things are counted, the machine, and the JSON line."""
    medians = {
        f"{side} {kind}": harness.medians(found)
        for side, kinds in rows.items()
        for kind, found in kinds.items()
    }
    lines = [[name, *(f"{row[x]:.2f}" for x in MEASURES)] for name, row in medians.items()]
    ratios = {}
    for other, kind in itertools.product(("stock", "plain"), KINDS):
        if not {other, "ours"} <= rows.keys():
            continue
        lines.append([f"{other} ÷ ours {kind}"])
        for name in MEASURES:
            theirs, ours = medians[f"{other} {kind}"][name], medians[f"ours {kind}"][name]
            # A warm load may need nothing from the wire: then there is no ratio to tell.
            ratio = round(theirs / ours, 2) if ours else None
            lines[-1].append("–" if ratio is None else f"{ratio:.2f}")
            key = "bytes" if name == "megabytes" else name
            ratios[f"{key}_{kind}_vs_{other}"] = ratio
    print(harness.table(["median of " + str(repeats), *MEASURES], lines))
    print(f"\n{HOW}")
    if stand_ins:
        print(
            f"Wheels without their compiled part, so lighter than stock's: {', '.join(stand_ins)}"
        )
    machine = harness.machine()
    print(f"\n{machine}")
    harness.report("startup", ratios, medians=medians, repeats=repeats, machine=machine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
