"""How long the lesson's three training runs take in a browser, and whether the page stays smooth.

One Chromium, one page, the experiment `training` at its default; each repeat presses Train, waits
until all three runs are done, then presses it again and Stop halfway. Nothing leaves the machine.

    python3 build.py bench training [--repeats 3]
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/training.py`

from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402

SECTION = "section[data-experiment=training]"
PATIENCE = 600_000  # milliseconds
AIM = 60.0  # seconds for the three runs together

HOW = """\
first    seconds from Train to the first points of all three curves
all      seconds from Train to the end of all three runs
stop     seconds from Stop to a page that says it has stopped
frame    milliseconds between two frames of the page meanwhile, 99 of 100 are shorter
longest  the longest of them
aim ÷ needed: above 1, the three runs take less than the minute they may take."""

# What happens from the next click on: states as they come, and how far frames are apart. The page
# itself notes the click, for the driver takes its time before it.
WATCH = """section => {
  const begin = () => Object.assign(bench, { states: [], frames: [], begun: performance.now() });
  const bench = (window.benchTraining = {});
  begin();
  bench.watch = () => addEventListener("click", begin, { capture: true, once: true });
  section.addEventListener("normlab:state", ({ detail }) =>
    bench.states.push({ at: performance.now() - bench.begun, ...detail }));
  let last = performance.now();
  const frame = (now) => {
    bench.frames.push(now - last);
    last = now;
    requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the table, the machine and, as the last line, one JSON object."""
    parser = harness.parser("training", __doc__, 3, "how often all three are trained")
    options = parser.parse_args(arguments)
    try:
        harness.has_lessons(options.site)
        program = harness.program(options)
        with harness.serve(options.site) as (address, _), harness.browser(program, address) as b:
            rows = trained(harness.page(b), address, options.repeats)
    except (Failure, Error) as failure:
        print(f"bench training: {failure}", file=sys.stderr)
        return 1
    show(rows)
    return 0


def trained(page: Page, address: str, repeats: int) -> list[dict[str, float]]:
    page.goto(address + harness.LESSON)
    section = page.locator(SECTION)
    section.scroll_into_view_if_needed()
    page.wait_for_selector("html[data-runtime=live]", timeout=PATIENCE)
    page.wait_for_selector(f"{SECTION}[data-state=ready]", timeout=PATIENCE)
    # What else the page shows is computed first, or it would be measured as well.
    page.wait_for_function(
        "!document.querySelector('section[data-state=computing]')", timeout=PATIENCE
    )
    section.evaluate(WATCH)
    return [once(page) for _ in range(repeats)]


def once(page: Page) -> dict[str, float]:
    train, stop = (
        page.locator(f'{SECTION} [data-slot="button:{action}"] button')
        for action in ("train", "stop")
    )
    page.evaluate("benchTraining.watch()")
    train.click()
    until(page, "states.some(({ done }) => done > 0)")
    until(page, "states.at(-1).status === 'ready'")
    states = page.evaluate("benchTraining.states")
    frames = sorted(page.evaluate("benchTraining.frames"))
    page.evaluate("benchTraining.watch()")
    train.click()
    until(page, "states.some(({ done, total }) => done > 0 && 2 * done >= total)")
    page.evaluate("benchTraining.watch()")
    stop.click()
    until(page, "states.at(-1).status === 'stopped'")
    stopped = page.evaluate("benchTraining.states.at(-1).at")
    train.click()  # to its end, so that the next press begins anew
    until(page, "states.at(-1).status === 'ready'")
    return {
        "first": next(state["at"] for state in states if state["done"] > 0) / 1000,
        "all": states[-1]["at"] / 1000,
        "stop": stopped / 1000,
        "frame": frames[int(0.99 * len(frames))],
        "longest": frames[-1],
    }


def until(page: Page, condition: str) -> None:
    page.wait_for_function(
        f"benchTraining.states.length > 0 && benchTraining.{condition}", timeout=PATIENCE
    )


def show(rows: Sequence[dict[str, float]]) -> None:
    measured = harness.medians(rows)
    lines = [[name, f"{value:.3g}"] for name, value in measured.items()]
    print(harness.table(["median of", str(len(rows))], lines))
    machine = harness.machine()
    print(f"\n{HOW}\n\n{machine}")
    ratio = round(AIM / measured["all"], 2)
    harness.report(
        "training", {"aim_vs_needed": ratio}, measured=measured, repeats=len(rows), machine=machine
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
