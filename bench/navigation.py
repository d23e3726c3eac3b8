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

from playwright.sync_api import Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/navigation.py`

from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402

START = "en/warmup"
ROUTE = {  # where it leads → the link
    "en/signal": "a[rel=next]",
    "en/attenuation": "a[rel=next]",
    "en/depth": "a[rel=next]",
    "zh-Hans/depth": "nav a[hreflang=zh-Hans]",
    "zh-Hans/warmup": ".course li:first-child a",
}
PATIENCE = 120.0  # seconds

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
    except Failure as failure:
        print(f"bench navigation: {failure}", file=sys.stderr)
        return 1
    show(rows, options.repeats)
    return 0


Rows = dict[str, dict[str, list[dict[str, float]]]]


def measure(site: Path, program: str, repeats: int) -> Rows:
    """What was measured, by way (link or load) and page. Raises Failure when one does not come."""
    if not (site / START).is_dir():
        raise Failure(f"There is no built lesson in {site}; run build.py build first.")
    rows: Rows = {way: {to: [] for to in ROUTE} for way in ("link", "load")}
    with harness.serve(site) as (address, _), harness.browser(program, address) as context:
        for repeat in range(repeats + 1):
            page = harness.page(context, ROOT / "bench" / "navigation.js")
            for way in ("link", "load"):
                open_lesson(page, address, START)
                for to, row in follow(page, ROUTE) if way == "link" else load(page, address):
                    if repeat:  # the first round fills the browser's cache and is not counted
                        rows[way][to].append(row)
                    told = "  ".join(f"{name} {value:.0f}" for name, value in row.items())
                    print(f"{repeat}/{repeats} {way} {to}: {told}", file=sys.stderr)
            page.close()
    return rows


def open_lesson(page: Page, address: str, lesson: str) -> dict[str, float]:
    """An ordinary load."""
    page.goto(f"{address}{lesson}/index.html", wait_until="commit")
    page.evaluate("(to) => benchNavigation.watch(to)", lesson)
    return seen(page, "performance.timeOrigin")


def load(page: Page, address: str) -> Iterator[tuple[str, dict[str, float]]]:
    for to in ROUTE:
        yield to, open_lesson(page, address, to)


def follow(page: Page, route: dict[str, str]) -> Iterator[tuple[str, dict[str, float]]]:
    for to, link in route.items():
        page.evaluate("(to) => benchNavigation.watch(to)", to)
        page.locator(link).first.click()
        yield to, seen(page, "benchNavigation.clicked")
    if page.evaluate("performance.getEntriesByType('navigation').length") != 1:
        raise Failure("A link has been followed by an ordinary load.")


def seen(page: Page, start: str) -> dict[str, float]:
    """Milliseconds, once the page is ready. Raises Failure when it does not get there."""
    try:
        page.wait_for_function(
            "benchNavigation.ready !== undefined", timeout=PATIENCE * 1000, polling=250
        )
    except Error as error:
        raise Failure(f"{page.url} did not become ready.") from error
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
