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
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from playwright.sync_api import CDPSession, Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/memory.py`

from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402
from bench.interaction import SCRIPT, Bench, floor_of, there_and_back  # noqa: E402

LESSON = "en/warmup/?training.steps=50&training.depth=2"
MOVED = (("sensitivity", "depth"), ("schedule", "step"), ("theorem", "width"), ("training", "rate"))
SAMPLES = 10
WARM = 2  # samples before what is kept for a reader who comes back has been filled
PATIENCE = 60.0  # seconds for an answer of the worker's debugger
ALLOWED = 350.0  # MB
FLAT = 2.0  # percent of what is there

HOW = f"""\
page, worker  MB of JavaScript's heap that is in use, elements and buffers included
wasm          MB of WebAssembly memory, which can only grow
objects       thousands of objects that Python's collector knows
process       MB of private memory of the process that runs page and worker (wanted: {ALLOWED:g})
growth        percent from the end of the warm-up ({WARM} rows) to the end, by a straight line
              through the rows (wanted: {FLAT:g}); it takes two rows after the warm-up"""

COUNTED = ("page", "worker", "wasm", "objects")


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the tables, the machine and, as the last line, one JSON object."""
    parser = harness.parser("memory", __doc__)
    parser.add_argument("--moves", type=int, default=1000, help="moves of controls")
    parser.add_argument("--runs", type=int, default=20, help="training runs")
    options = parser.parse_args(arguments)
    if min(options.moves, options.runs) < 1:
        parser.error("--moves and --runs must be 1 or more")
    tables: dict[str, Rows] = {}
    try:
        program = harness.program(options)
        with (
            harness.serve(options.site, instead=floor_of(options.site)) as (address, _),
            harness.browser(program, address) as context,
        ):
            page = harness.page(context, SCRIPT)
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


Rows = list[dict[str, float | None]]


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

    def sample(self) -> dict[str, float | None]:
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
        latest = time.monotonic() + PATIENCE
        while number not in self.answers:
            if time.monotonic() > latest:
                raise Failure(f"The worker has not answered {method} within {PATIENCE:g} seconds.")
            self.page.wait_for_timeout(10)
        return result(method, self.answers[number])


def result(method: str, answer: dict[str, Any]) -> dict[str, Any]:
    """What the debugger answered. Raises Failure with its words when that is an error."""
    if "result" not in answer:
        said = answer.get("error", {}).get("message", "without a reason")
        raise Failure(f"The worker refuses {method}: {said}")
    return dict(answer["result"])


def in_use(heap: dict[str, float]) -> float:
    return sum(heap.get(n, 0) for n in ("usedSize", "embedderHeapUsedSize", "backingStorageSize"))


def private() -> float | None:
    """MB of private memory of the renderer below this process that has most; None where the system
    does not say."""
    if not Path("/proc/self/smaps_rollup").exists():
        return None
    found = []
    for process, command in harness.processes():
        with contextlib.suppress(OSError):
            if "--type=renderer" in command:
                rollup = (process / "smaps_rollup").read_text().splitlines()
                found.append(sum(int(x.split()[1]) for x in rollup if x.startswith("Private_")))
    return max(found) * 1024 / 1e6 if found else None


def growth(values: Sequence[float]) -> float | None:
    """Percent from the end of the warm-up to the end, by a straight line; None before there is
    one."""
    settled = values[WARM:]
    if len(settled) < 2:
        return None
    places = range(len(settled))
    slope, start = statistics.linear_regression(places, settled)
    return 100 * slope * (len(settled) - 1) / start if start else 0.0


def show(tables: dict[str, Rows]) -> None:
    """Prints a table for moves and one for runs, the machine, and the JSON line."""
    grown: dict[str, float | None] = {}
    for kind, rows in tables.items():
        lines = [[cell(value, name == kind) for name, value in row.items()] for row in rows]
        last = ["growth"]
        for name in COUNTED:
            share = growth([value for row in rows if (value := row[name]) is not None])
            grown[f"{name}_growth_{kind}"] = None if share is None else round(share, 2)
            missed = share is not None and share > FLAT
            last.append("–" if share is None else f"{'*' if missed else ''}{share:.1f} %")
        print(harness.table(list(rows[0]), [*lines, [*last, ""]]), end="\n\n")
    sizes = [row["process"] for rows in tables.values() for row in rows]
    most = max((size for size in sizes if size is not None), default=None)
    machine = harness.machine()
    print(f"{HOW}\n\n{machine}")
    grown["allowed_vs_process"] = round(ALLOWED / most, 2) if most else None
    harness.report("memory", grown, process=most and round(most, 1), machine=machine)


def cell(value: float | None, whole: bool) -> str:
    return "–" if value is None else f"{value:.{0 if whole else 1}f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
