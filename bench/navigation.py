"""How soon the next lesson is there: by its link, against an ordinary load in the same browser.

The links lead from lesson to lesson and to another language and are followed while Python goes on
(app/web/travel.js). An ordinary load finds all in the browser's cache, but starts Python anew.
A ratio is load ÷ link: above 1, the link is the faster. Nothing leaves the machine meanwhile.

    python3 build.py bench navigation [--repeats 5]
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from playwright.sync_api import CDPSession, Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/navigation.py`

from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402

SCRIPT = ROOT / "bench" / "navigation.js"
START = harness.LESSON.rstrip("/")
ROUTE = {  # where it leads → the link
    "en/signal": "a[rel=next]",
    "en/attenuation": "a[rel=next]",
    "en/depth": "a[rel=next]",
    "zh-Hans/depth": "nav a[hreflang=zh-Hans]",
    "zh-Hans/warmup": ".course li:first-child a",
}
LOOK = 250  # milliseconds between two looks, which leave the page's processor alone

HOW = """\
text   milliseconds from the click, or from the load's start, to the first frame with the new text
live   from that frame until Python's documents are in place for every experiment in the window or
       near it
ready  from that frame until what they show at the start has been computed in the browser, too"""


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the table, the ratios and, as the last line, one JSON object."""
    parser = harness.parser("navigation", __doc__, 5, "counted rounds")
    options = parser.parse_args(arguments)
    try:
        rows = measure(options.site, harness.program(options), options.repeats)
    except (Failure, Error) as failure:
        print(f"bench navigation: {failure}", file=sys.stderr)
        return 1
    show(rows, options.repeats)
    return 0


Rows = dict[str, dict[str, list[dict[str, float]]]]


def measure(site: Path, program: str, repeats: int) -> Rows:
    """What was measured, by way (link or load) and page. Raises Failure when one does not come."""
    harness.has_lessons(site)
    rows: Rows = {way: {to: [] for to in ROUTE} for way in ("link", "load")}
    with harness.serve(site) as (address, _), harness.browser(program, address) as context:
        for repeat in range(repeats + 1):
            page = harness.page(context, SCRIPT)
            session = context.new_cdp_session(page)
            for way in ("link", "load"):
                open_lesson(page, session, address, START)
                by = follow(page, session) if way == "link" else load(page, session, address)
                for to, row in by:
                    if repeat:  # the first round fills the browser's cache and is not counted
                        rows[way][to].append(row)
                    told = "  ".join(f"{name} {value:.0f}" for name, value in row.items())
                    print(f"{repeat}/{repeats} {way} {to}: {told}", file=sys.stderr)
            page.close()
    return rows


def open_lesson(page: Page, session: CDPSession, address: str, lesson: str) -> dict[str, float]:
    """An ordinary load."""
    page.goto(f"{address}{lesson}/index.html", wait_until="commit")
    page.evaluate("(to) => benchNavigation.watch(to)", lesson)
    return seen(page, session, "performance.timeOrigin")


def load(page: Page, session: CDPSession, address: str) -> Iterator[tuple[str, dict[str, float]]]:
    for to in ROUTE:
        yield to, open_lesson(page, session, address, to)


def follow(page: Page, session: CDPSession) -> Iterator[tuple[str, dict[str, float]]]:
    for to, link in ROUTE.items():
        page.evaluate("(to) => benchNavigation.watch(to)", to)
        page.locator(link).first.click()
        yield to, seen(page, session, "benchNavigation.clicked")


def seen(page: Page, session: CDPSession, start: str) -> dict[str, float]:
    """Milliseconds, once the page is ready. Raises Failure when it does not get there, and when
    another one has come in its place."""
    fault = None
    try:
        harness.wait(session, "benchNavigation.ready !== undefined || !benchNavigation.to", LOOK)
    except Error as error:  # it may have been left meanwhile
        fault = error
    if not page.evaluate("benchNavigation.to"):  # `watch` sets it, and an ordinary load begins anew
        raise Failure(f"{page.url} came by an ordinary load, not by its link.") from fault
    if fault:
        said = str(fault).partition("\n")[0]
        raise Failure(f"{page.url} did not become ready ({said}).") from fault
    return dict(
        page.evaluate(
            f"""(() => {{
              const {{ text, live, ready }} = benchNavigation;
              return {{ text: text - {start}, live: live - text, ready: ready - text }};
            }})()"""
        )
    )


def show(rows: Rows, repeats: int) -> None:
    """Prints medians and ratios, how things are counted, the machine, and the JSON line."""
    lines, ratios = [], {}
    medians = {
        way: {to: harness.medians(all_) for to, all_ in found.items()}
        for way, found in rows.items()
    }
    for to in ROUTE:
        link, loaded = medians["link"][to], medians["load"][to]
        lines.append(
            [
                to,
                *(f"{link[name]:.0f}" for name in link),
                *(f"{loaded[name]:.0f}" for name in loaded),
            ]
        )
        whole = {way: row["text"] + row["live"] for way, row in (("link", link), ("load", loaded))}
        ratios[f"live_{to}_load_vs_link"] = round(whole["load"] / whole["link"], 2)
        lines[-1].append(f"{ratios[f'live_{to}_load_vs_link']:.1f}")
    names = ("text", "live", "ready")
    head = [
        f"median of {repeats}",
        *(f"link {x}" for x in names),
        *(f"load {x}" for x in names),
        "ratio",
    ]
    print(harness.table(head, lines))
    machine = harness.machine()
    print(f"\n{HOW}\nratio  text and live together, load ÷ link\n\n{machine}")
    harness.report("navigation", ratios, medians=medians, repeats=repeats, machine=machine)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
