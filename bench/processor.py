"""What a start's processor time goes into: page, Python, the browser's own helpers; by thread.

A start of the built embed page (cold, and again in the same browser), and the next lesson by its
link. Processor time does not grow when the machine is busy elsewhere, as the clock's does; divided
by the number of processors it says how soon "live" could come at best, were nothing ever waited
for. The kernel counts it (Linux only). Nothing leaves the machine meanwhile.

    python3 build.py bench processor [--repeats 5]
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import BrowserContext, CDPSession, Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/processor.py`

from app.site.environment import Failure  # noqa: E402
from bench import harness, navigation  # noqa: E402

NEXT = "en/signal"
SCRIPTS = (ROOT / "bench" / "startup.js", navigation.SCRIPT)

HOW = """\
live       milliseconds until Python's documents are in place, from the load's start or the click
at best    of the processor time, an equal share for each processor
page       the page's main thread: scripts, style, layout, painting
python     the worker's thread: unpacking, restoring, Python itself
helpers    V8's and Blink's threads beside them: compiling WebAssembly and scripts, collecting
           garbage, decoding, painting tiles
browser    the browser's other processes: network, cache, compositor, window
bench      this program's own, which serves the files, and that of the browser's driver
Threads that have ended between the two readings are not counted."""

# The service worker has kept the lesson's page, which comes after all that the page's start used.
KEPT = f"""async () => {{
  const latest = performance.now() + {1000 * harness.PATIENCE};
  while (performance.now() < latest) {{
    const active = (await navigator.serviceWorker.getRegistration())?.active;
    for (const name of await caches.keys()) {{
      const kept = await (await caches.open(name)).keys();
      const paths = kept.map(({{ url }}) => new URL(url).pathname);
      if (active && paths.includes("/{harness.LESSON}")) return true;
    }}
    await new Promise((resolve) => setTimeout(resolve, 100));
  }}
  return false;
}}"""

PARTS = ("page", "python", "helpers", "browser", "bench")


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the table, the machine and, as the last line, one JSON object."""
    parser = harness.parser("processor", __doc__, 5, "counted rounds")
    options = parser.parse_args(arguments)
    try:
        if not Path("/proc/self/schedstat").exists():
            raise Failure("This system does not count the processor time of threads as Linux does.")
        rows = measure(options.site, harness.program(options), options.repeats)
    except (Failure, Error) as failure:
        print(f"bench processor: {failure}", file=sys.stderr)
        return 1
    show(rows, options.repeats)
    return 0


Rows = dict[str, list[dict[str, float]]]


def measure(site: Path, program: str, repeats: int) -> Rows:
    """Milliseconds by part, of every counted start. Raises Failure without a built site."""
    harness.has_lessons(site)
    rows: Rows = {"cold": [], "warm": [], "link": []}
    with harness.serve(site) as (address, _):
        for repeat in range(repeats + 1):
            with harness.browser(program, address) as context:
                for kind, found in rows.items():
                    if kind == "link":  # embeds have no service worker
                        keep(context, address)
                    page = harness.page(context, *SCRIPTS)
                    session = context.new_cdp_session(page)
                    row = (link if kind == "link" else start)(page, session, address)
                    page.close()
                    if repeat:  # the first round fills the server's memory and is not counted
                        found.append(row)
                    told = "  ".join(f"{name} {value:.0f}" for name, value in row.items())
                    print(f"{repeat}/{repeats} {kind}: {told}", file=sys.stderr)
    return rows


def keep(context: BrowserContext, address: str) -> None:
    """A first visit to the lesson, until the service worker has kept it: it hashes megabytes for
    that, once. Raises Failure when it keeps nothing."""
    page = harness.page(context, *SCRIPTS)
    navigation.open_lesson(page, context.new_cdp_session(page), address, navigation.START)
    kept = page.evaluate(KEPT)
    page.close()
    if not kept:
        raise Failure(f"The service worker has not kept {harness.LESSON}.")


def start(page: Page, session: CDPSession, address: str) -> dict[str, float]:
    before = spent()
    page.goto(address + harness.EMBED, wait_until="commit")
    harness.wait(session, "benchStartup.live !== null")
    parts = since(before)
    harness.wait(
        session, "benchStartup.ready !== null"
    )  # what is on its way is not the next start's
    return {"live": page.evaluate("benchStartup.live"), **parts}


def link(page: Page, session: CDPSession, address: str) -> dict[str, float]:
    navigation.open_lesson(page, session, address, navigation.START)
    page.wait_for_timeout(harness.AT_REST)  # the service worker is told what it has already
    page.evaluate("(to) => benchNavigation.watch(to)", NEXT)
    before = spent()
    page.locator(navigation.ROUTE[NEXT]).first.click()
    harness.wait(session, "benchNavigation.live !== undefined")
    parts = since(before)
    return {"live": page.evaluate("benchNavigation.live - benchNavigation.clicked"), **parts}


def spent() -> dict[tuple[str, str], float]:
    """Milliseconds of processor time, by part and thread, of this program and all below it."""
    times: dict[tuple[str, str], float] = {}
    for process, command in [(Path("/proc/self"), ""), *harness.processes()]:
        for thread in (process / "task").glob("*"):
            with contextlib.suppress(OSError):  # it has ended
                part = part_of(command, (thread / "comm").read_text().strip())
                time = int((thread / "schedstat").read_text().split()[0]) / 1e6
                times[part, str(thread)] = time
    return times


def part_of(command: str, thread: str) -> str:
    """Which part's a thread is, by its process's command and its own name."""
    if "--type=renderer" in command:
        if thread.startswith("DedicatedWorker"):
            return "python"
        return "page" if thread == Path(command.split()[0]).name[:15] else "helpers"
    return "browser" if "--type=" in command or "--user-data-dir=" in command else "bench"


def since(before: dict[tuple[str, str], float]) -> dict[str, float]:
    """What has been spent, by part."""
    parts: Counter[str] = Counter(dict.fromkeys(PARTS, 0))
    for key, time in spent().items():
        parts[key[0]] += time - before.get(key, 0.0)
    return dict(parts)


def show(rows: Rows, repeats: int) -> None:
    """Prints the medians, how things are counted, the machine, and the JSON line."""
    lines, ratios = [], {}
    medians = {kind: harness.medians(found) for kind, found in rows.items()}
    for kind, row in medians.items():
        best = sum(row[part] for part in PARTS) / (os.cpu_count() or 1)
        ratios[f"{kind}_live_vs_best"] = round(row["live"] / best, 2)
        lines.append(
            [
                kind,
                f"{row['live']:.0f}",
                f"{best:.0f}",
                *(f"{row[part]:.0f}" for part in PARTS),
            ]
        )
    print(harness.table([f"median of {repeats}", "live", "at best", *PARTS], lines))
    machine = harness.machine()
    print(f"\n{HOW}\n\n{machine}")
    harness.report("processor", ratios, medians=medians, repeats=repeats, machine=machine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
