"""Whether page and worker keep what they no longer need: a thousand moves, twenty training runs.

One Chromium, one lesson's page on the built site. After every so many moves or runs garbage is
collected, and what remains is counted: the JavaScript heaps of page and worker, the worker's
WebAssembly memory, Python's objects. What page and worker hold of the machine is the private memory
of the browser's process that runs both (Linux only). Nothing leaves the machine.

    python3 build.py bench memory [--moves 1000] [--runs 20]
"""

from __future__ import annotations

import contextlib
import json
import statistics
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/memory.py`

from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402
from bench.interaction import Bench, floor_of, there_and_back  # noqa: E402

LESSON = "en/warmup/?training.steps=50&training.depth=2"
MOVED = (("sensitivity", "depth"), ("schedule", "step"), ("theorem", "width"), ("training", "rate"))
SAMPLES = 10
WARM = 2  # samples before what is kept for a reader who comes back has been filled
ALLOWED = 350.0  # MB
FLAT = 2.0  # percent of what is there

HOW = f"""\
page, worker  MB of JavaScript's heap that is in use, elements and buffers included
wasm          MB of WebAssembly memory, which can only grow
objects       thousands of objects that Python's collector knows
process       MB of private memory of the process that runs page and worker (wanted: {ALLOWED:g})
growth        percent from the end of the warm-up ({WARM} rows) to the end, by a straight line
              through the rows (wanted: {FLAT:g})"""

COUNTED = ("page", "worker", "wasm", "objects")


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the tables, the machine and, as the last line, one JSON object."""
    parser = harness.parser("memory", __doc__)
    parser.add_argument("--moves", type=int, default=1000, help="moves of controls")
    parser.add_argument("--runs", type=int, default=20, help="training runs")
    options = parser.parse_args(arguments)
    tables: dict[str, list[dict[str, float]]] = {}
    try:
        program = harness.program(options)
        with (
            harness.serve(options.site, instead=floor_of(options.site)) as (address, _),
            harness.browser(program, address) as context,
        ):
            page = harness.page(context)
            bench = Bench(page, 0, 0, None, set())
            bench.open(address + LESSON)
            memory = Memory(page, context.new_cdp_session(page))
            for kind, turns in (
                ("moves", moves(bench, options.moves)),
                ("runs", runs(bench, options.runs)),
            ):
                tables[kind] = []
                for done in turns:
                    tables[kind].append({kind: done, **memory.sample()})
                    print(tables[kind][-1], file=sys.stderr)
    except (Failure, Error) as failure:
        print(f"bench memory: {failure}", file=sys.stderr)
        return 1
    show(tables)
    return 0


def moves(bench: Bench, count: int) -> Iterator[int]:
    """Moves controls, whose answers are slices or computed anew; yields how many, now and then."""
    each = max(1, count // SAMPLES // len(MOVED))
    done = 0
    while done < count:
        for name, option in MOVED:
            values, base = (bench.on(name, f"it.{ask}(arg)", option) for ask in ("values", "text"))
            path = there_and_back(values, base, each)
            bench.on(name, "it.follow(...arg)", [option, path])
            done += each
        yield done


def runs(bench: Bench, count: int) -> Iterator[int]:
    """Trains, from another seed each time."""
    for done in range(1, count + 1):
        bench.on("training", "it.follow('seed', [arg])", str(done))
        bench.on("training", "it.press('train')")
        if done % max(1, count // SAMPLES) == 0:
            yield done


class Memory:
    """What the page and its worker hold, once garbage has been collected."""

    def __init__(self, page: Page, session: CDPSession) -> None:
        self.page, self.session = page, session
        self.answers: dict[int, dict[str, Any]] = {}
        self.worker = ""
        session.on("Target.attachedToTarget", self._attached)
        session.on("Target.receivedMessageFromTarget", self._answered)
        session.send(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": False, "flatten": False},
        )

    def sample(self) -> dict[str, float]:
        (worker,) = self.page.workers
        inside = worker.evaluate(
            """(count) => {
              const { pyodide } = self.benchFloor;
              const objects = pyodide.runPython(count);
              return { objects, wasm: pyodide._module.HEAPU8.length };
            }""",
            "import gc; gc.collect(); len(gc.get_objects()) + gc.get_freeze_count()",
        )
        for send in (self.session.send, self._in_worker):
            send("HeapProfiler.collectGarbage")
        page, work = (
            in_use(send("Runtime.getHeapUsage")) for send in (self.session.send, self._in_worker)
        )
        return {
            "page": page / 1e6,
            "worker": work / 1e6,
            "wasm": inside["wasm"] / 1e6,
            "objects": inside["objects"] / 1e3,
            "process": private(),
        }

    def _attached(self, event: dict[str, Any]) -> None:
        if event["targetInfo"]["type"] == "worker":
            self.worker = event["sessionId"]

    def _answered(self, event: dict[str, Any]) -> None:
        answer = json.loads(event["message"])
        self.answers[answer.get("id", 0)] = answer

    def _in_worker(self, method: str) -> dict[str, Any]:
        number = max(self.answers, default=0) + 1
        message = json.dumps({"id": number, "method": method})
        self.session.send(
            "Target.sendMessageToTarget", {"sessionId": self.worker, "message": message}
        )
        while number not in self.answers:
            self.page.wait_for_timeout(10)
        return dict(self.answers[number]["result"])


def in_use(heap: dict[str, float]) -> float:
    return sum(heap.get(n, 0) for n in ("usedSize", "embedderHeapUsedSize", "backingStorageSize"))


def private() -> float:
    """MB of private memory of the renderer below this process that has most; NaN elsewhere."""
    if not Path("/proc/self/smaps_rollup").exists():
        return float("nan")
    found = []
    for process, command in harness.processes():
        with contextlib.suppress(OSError):
            if "--type=renderer" in command:
                rollup = (process / "smaps_rollup").read_text().splitlines()
                found.append(sum(int(x.split()[1]) for x in rollup if x.startswith("Private_")))
    return max(found, default=0) * 1024 / 1e6


def growth(values: Sequence[float]) -> float:
    """Percent from the end of the warm-up to the end, by a straight line."""
    settled = values[min(WARM, len(values) - 2) :]
    places = range(len(settled))
    slope, start = statistics.linear_regression(places, settled)
    return 100 * slope * (len(settled) - 1) / start if start else 0.0


def show(tables: dict[str, list[dict[str, float]]]) -> None:
    """Prints a table for moves and one for runs, the machine, and the JSON line."""
    grown: dict[str, float | None] = {}
    for kind, rows in tables.items():
        lines = [
            [f"{row[name]:.0f}" if name == kind else f"{row[name]:.1f}" for name in row]
            for row in rows
        ]
        last = ["growth"]
        for name in COUNTED:
            share = growth([row[name] for row in rows])
            grown[f"{name}_growth_{kind}"] = round(share, 2)
            last.append(f"{'*' if share > FLAT else ''}{share:.1f} %")
        print(harness.table(list(rows[0]), [*lines, [*last, ""]]), end="\n\n")
    most = max(row["process"] for rows in tables.values() for row in rows)
    machine = harness.machine()
    print(f"{HOW}\n\n{machine}")
    grown["allowed_vs_process"] = round(ALLOWED / most, 2) if most else None
    harness.report("memory", grown, process=round(most, 1), machine=machine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
