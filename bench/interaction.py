"""How soon a moved control is answered: every control of every experiment, against the floor.

One Chromium, each lesson once. The floor is a bare Panel slider that moves one point of one figure
in the same page, through the same worker (`bench/floor`). A control's answer is a "slice" of what
is computed already, or is computed "anew": which of them, the experiments' own runs say. Nothing
leaves the machine.

    python3 build.py bench interaction [--moves 24] [--only sensitivity]
"""

from __future__ import annotations

import itertools
import math
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Error, Page

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/interaction.py`

from app.experiments import EXPERIMENTS  # noqa: E402
from app.site import scripts  # noqa: E402
from app.site.environment import Failure  # noqa: E402
from bench import harness  # noqa: E402

LESSONS = ("warmup", "signal", "attenuation", "depth")
HERE = ROOT / "bench"
SCRIPT = HERE / "interaction.js"
PATIENCE = 120_000  # milliseconds
FRESH = itertools.count(1000)  # seeds that nothing has been computed from

# What is wanted: multiples of the floor's median, and milliseconds.
MEDIAN, P95, PARTIAL = 2.0, 3.0, 10.0
OVERTAKEN, DRAG, START = 50.0, 50.0, 200.0

HOW = f"""\
median, p95  from the control's event to the end of the painting that shows its answer; for "anew",
             to the frame that shows the control's value and that it is being computed: as
             multiples of the floor's median (wanted: {MEDIAN:g} and {P95:g})
first        for "anew": to the end of the painting of the first, partial answer, median, as a
             multiple of the floor's (wanted: {PARTIAL:g})
overtaken    from the event of a value that comes 20 ms after another one until Python has turned to
             it, in milliseconds, the longest (wanted: {OVERTAKEN:g})
drag         the main thread's longest task while the slider is dragged from end to end, in
             milliseconds, where any was over 50 (wanted: none)
*            misses what is wanted"""


@dataclass
class Row:
    """One control: what was measured, in milliseconds."""

    experiment: str
    option: str
    kind: str
    floor: float
    shown: list[float] = field(default_factory=list)
    control: list[float] = field(default_factory=list)
    overtaken: list[float] = field(default_factory=list)
    drag: float | None = None

    @property
    def measures(self) -> dict[str, float | None]:
        prompt = self.shown if self.kind == "slice" else self.control
        return {
            "median": statistics.median(prompt) / self.floor if prompt else None,
            "p95": p95(prompt) / self.floor if prompt else None,
            "first": statistics.median(self.shown) / self.floor if self.kind == "anew" else None,
            "overtaken": max(self.overtaken) if self.overtaken else None,
            "drag": self.drag,
        }


WANTED = {"median": MEDIAN, "p95": P95, "first": PARTIAL, "overtaken": OVERTAKEN, "drag": DRAG}


def main(arguments: Sequence[str]) -> int:
    """Measures, prints the tables, the machine and, as the last line, one JSON object."""
    parser = harness.parser("interaction", __doc__)
    parser.add_argument("--moves", type=int, default=24, help="moves of each control (a slice)")
    parser.add_argument("--draws", type=int, default=5, help="moves of each control (anew)")
    parser.add_argument("--only", nargs="*", help="experiments, or experiment.control")
    options = parser.parse_args(arguments)
    unknown = sorted({*(options.only or [])} - names())
    if unknown:
        known = ", ".join(EXPERIMENTS)
        parser.error(f"--only knows no {', '.join(unknown)}; there are {known}, and their controls")
    if min(options.moves, options.draws) < 1:
        parser.error("--moves and --draws must be 1 or more")
    rows: list[Row] = []
    starts: dict[str, float] = {}
    try:
        program = harness.program(options)
        with (
            harness.serve(options.site, instead=floor_of(options.site)) as (address, _),
            harness.browser(program, address) as context,
        ):
            for lesson in LESSONS:
                page = harness.page(context, SCRIPT)
                measured = {row.experiment for row in rows}
                bench = Bench(page, options.moves, options.draws, options.only, measured)
                starts[lesson] = bench.open(f"{address}en/{lesson}/")
                rows += bench.rows()
                page.close()
    except (Failure, Error) as failure:
        print(f"bench interaction: {failure}", file=sys.stderr)
        return 1
    show(rows, starts)
    return 0


def floor_of(site: Path) -> dict[str, bytes]:
    """The site's worker with the floor in it. Raises Failure when there is no site."""
    found = list(site.glob("assets/*/worker.js"))
    if len(found) != 1:
        raise Failure(f"There is no built site in {site}; run build.py build first.")
    folder = found[0].parent.relative_to(site).as_posix()
    with tempfile.TemporaryDirectory() as scratch:
        sources = Path(shutil.copytree(scripts.WEB, Path(scratch) / "web"))
        (sources / "boot.js").rename(sources / "boot.site.js")
        shutil.copy(HERE / "floor" / "boot.js", sources)
        worker = scripts.bundled(sources, ["worker.js"])["worker.js"]
    return {
        f"{folder}/worker.js": worker,
        f"{folder}/floor.py": (HERE / "floor" / "floor.py").read_bytes(),
    }


def classes(name: str) -> dict[str, str]:
    """For each option of an experiment: "anew" if what runs by itself depends on it."""
    it = EXPERIMENTS[name]("en")
    runs = [run for run in it.runs if run.action is None]
    before = [run.config(it.values) for run in runs]
    kinds = {}
    for option, control in it.controls.items():
        assert control.option is not None
        values = control._values or [control.option.low, control.option.high]
        states = [{**it.values, option: value} for value in values]
        anew = any([run.config(state) for run in runs] != before for state in states)
        kinds[option] = "anew" if anew else "slice"
    return kinds


def names() -> set[str]:
    """What can be measured: each experiment, and each of its controls."""
    return {
        *EXPERIMENTS,
        *(f"{name}.{option}" for name, of in EXPERIMENTS.items() for option in of("en").controls),
    }


class Bench:
    """One lesson's page, which `SCRIPT` runs in."""

    def __init__(
        self, page: Page, moves: int, draws: int, only: Sequence[str] | None, measured: set[str]
    ) -> None:
        self.page, self.moves, self.draws, self.only = page, moves, draws, only
        self.measured = measured
        page.set_default_timeout(PATIENCE)

    def open(self, address: str) -> float:
        """The longest task of the start, until what is in view has been computed."""
        self.page.goto(address)
        self.page.wait_for_selector("html[data-runtime=live]")
        self.page.wait_for_function(
            """() => {
              const open = [...document.querySelectorAll("section[data-hydration]")];
              return open.length > 0 && open.every(({ dataset }) => dataset.state === "ready");
            }""",
            polling=250,
        )
        return float(self.page.evaluate("benchInteraction.longest(0)"))

    def rows(self) -> Iterator[Row]:
        names = self.page.locator("section[data-experiment]").evaluate_all(
            "sections => sections.map(({ dataset }) => dataset.experiment)"
        )
        floor = 0.0
        for name in names:
            wanted = {
                option: kind
                for option, kind in classes(name).items()
                if self.only is None or {name, f"{name}.{option}"} & set(self.only)
            }
            if name in self.measured or not wanted:
                continue
            if not floor:
                self._floor(10)  # the first moves warm it up
            self.on(name, "1")
            times = self._floor(self.moves)
            floor = statistics.median(times)
            yield Row("", f"the floor, before {name}", "floor", floor, shown=times)
            for option, kind in wanted.items():
                values = self.on(name, "it.values(arg)", option)
                if len(values) < 2:
                    continue
                row = Row(name, option, kind, floor)
                base = self.on(name, "it.text(arg)", option)
                if kind == "slice":
                    path = there_and_back(values, base, self.moves)
                    times = self.on(name, "it.follow(...arg)", [option, path])
                    row.shown = [each["shown"] for each in times]
                else:
                    self._draw_anew(row, values, base)
                row.drag = self._drag(name, option)
                told = " ".join(f"{k} {v:.1f}" for k, v in row.measures.items() if v is not None)
                print(f"{name}.{option} ({kind}): {told}", file=sys.stderr)
                yield row

    def _draw_anew(self, row: Row, values: Sequence[str], base: str) -> None:
        seed = self.on(row.experiment, "it.text('seed')")
        for text in self._fresh(row, values, base):
            times = self.on(row.experiment, "it.anew(...arg)", [row.option, text])
            row.shown.append(times["shown"])
            if times["control"] is not None and not math.isnan(times["control"]):
                row.control.append(times["control"])
        for text in self._fresh(row, values, base):
            took = self.on(row.experiment, "it.overtake(...arg)", [row.option, text])
            row.overtaken.append(took)
        if self.on(row.experiment, "it.text('seed')") != seed:
            self.on(row.experiment, "it.follow('seed', [arg])", seed)

    def _fresh(self, row: Row, values: Sequence[str], base: str) -> Iterator[str]:
        """A control's values, one for each draw, of which not even a beginning is computed yet."""
        others = [value for value in values if value != base]
        for draw in range(self.draws):
            if row.option == "seed":
                yield str(next(FRESH))
                continue
            if draw % len(others) == 0:  # from here on they come again
                self.on(row.experiment, "it.follow('seed', [arg])", str(next(FRESH)))
            yield others[draw % len(others)]

    def _drag(self, name: str, option: str) -> float | None:
        """The main thread's longest task while a hand drags the slider, if it is one."""
        slot = f'section[data-experiment="{name}"] [data-slot="control:{option}"]'
        handle, track = (
            self.page.locator(f"{slot} {part}") for part in ("[role=slider]", ".noUi-base")
        )
        if not handle.count():
            return None
        base = self.on(name, "it.text(arg)", option)
        handle.scroll_into_view_if_needed()
        at, along = handle.bounding_box(), track.bounding_box()
        assert at is not None
        assert along is not None
        y = at["y"] + at["height"] / 2
        since = self.page.evaluate("performance.now()")
        self.page.mouse.move(at["x"] + at["width"] / 2, y)
        self.page.mouse.down()
        for step in range(41):
            share = abs(1 - step / 20)  # from one end to the other and back
            self.page.mouse.move(along["x"] + share * along["width"], y)
            time.sleep(0.012)
        self.page.mouse.up()
        self.on(name, "benchInteraction.pause()")
        longest = self.page.evaluate("since => benchInteraction.longest(since)", since)
        if self.on(name, "it.text(arg)", option) != base:
            self.on(name, "it.follow(...arg)", [option, [base]])
        return float(longest)

    def _floor(self, count: int) -> list[float]:
        return list(self.page.evaluate("count => benchInteraction.onFloor(count)", count))

    def on(self, experiment: str, expression: str, arg: Any = None) -> Any:
        """Evaluate with `it`, the experiment, and `arg`, once it is at rest."""
        return self.page.evaluate(
            f"""async ([name, arg]) => {{
              const it = await benchInteraction.take(name);
              return {expression};
            }}""",
            [experiment, arg],
        )


def there_and_back(values: Sequence[str], base: str, moves: int) -> list[str]:
    """So many neighbouring values, one after the other, turning round at the ends."""
    at, way, path = values.index(base), 1, []
    for _ in range(moves):
        if not 0 <= at + way < len(values):
            way = -way
        at += way
        path.append(values[at])
    return path


def p95(times: Sequence[float]) -> float:
    ordered = sorted(times)
    return ordered[math.ceil(0.95 * len(ordered)) - 1]


def show(rows: Sequence[Row], starts: dict[str, float]) -> None:
    """Prints the table, medians over the controls, what holds, the machine, and the JSON line."""
    lines = []
    for row in rows:
        if row.kind == "floor":
            cells = [f"{middle(row.shown):.1f} ms" for middle in (statistics.median, p95)]
            cells += [""] * (len(WANTED) - 2)
            lines.append([row.option, "", *cells])
            continue
        cells = []
        for name, value in row.measures.items():
            missed = value is not None and value > WANTED[name]
            digits = 0 if name in ("overtaken", "drag") else 2
            cells.append("" if value is None else f"{'*' if missed else ''}{value:.{digits}f}")
        lines.append([f"{row.experiment}.{row.option}", row.kind, *cells])
    print(harness.table(["control", "answer", *WANTED], lines))
    print(f"\n{HOW}\n")
    ratios: dict[str, float | None] = {}
    for kind, name in itertools.product(("slice", "anew"), WANTED):
        values = [row.measures[name] for row in rows if row.kind == kind]
        there = [value for value in values if value is not None]
        if not there:
            continue
        held = sum(value <= WANTED[name] for value in there)
        middle = statistics.median(there)
        print(
            f"{kind:5}  {name:9}  wanted {WANTED[name]:3g}: median {middle:.2f}, "
            f"worst {max(there):.2f}; holds for {held} of {len(there)}"
        )
        ratios[f"{kind}_{name}"] = round(middle, 3)
        ratios[f"{kind}_{name}_worst"] = round(max(there), 3)
    floors = [time for row in rows if row.kind == "floor" for time in row.shown]
    for lesson, longest in starts.items():
        print(f"start of {lesson}: longest task {longest:.0f} ms (wanted: {START:g})")
    machine = harness.machine()
    print(f"\n{machine}")
    harness.report(
        "interaction",
        ratios,
        floor={"median": round(statistics.median(floors), 2), "p95": round(p95(floors), 2)},
        start={lesson: round(longest) for lesson, longest in starts.items()},
        machine=machine,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
