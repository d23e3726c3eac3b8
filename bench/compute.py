"""What the lessons compute by default: in Pyodide, in native NumPy, in PyTorch's eager autograd.

They run alternately on one machine, each on one thread, Pyodide under the Node of the virtual
environment. Native NumPy runs twice: our code as it is, whose products are chosen for the browser,
and with all of them by BLAS. Nothing of PyTorch is in the product: it gets an environment of its
own, .venv.torch.

    python3 build.py bench compute [--repeats 5] [--without torch]
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))  # for `python bench/compute.py`

from app.site import environment, fetch, node  # noqa: E402
from app.site.environment import Failure, explain_pip, explain_venv  # noqa: E402
from bench import harness  # noqa: E402

TORCH = ("torch==2.13.0", "numpy==2.2.5")  # NumPy, or PyTorch complains that it is missing
VENV = ROOT / ".venv.torch"
SIDE = ROOT / "bench" / "sides" / "side.py"
ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)

HOW = """\
milliseconds; each figure is the median over the repeats of the best of several calls in a row.
24 layers  forward and backward of Pre-LN layers, T = 5, uniform attention, d_ff = d, float64, the
           gradient by the input and every matrix; the matrices are there already
products   the matrix products of that pass and nothing else, in Pyodide; its ratios are to the
           whole pass of the others, so no aim below them can be reached by NumPy in Pyodide
estimate, perturbation, profile
           the default answers of the probes `sensitivity` and `gradients`, 24 seeds at d = 128,
           drawing included, which is most of an estimate in Pyodide
20 steps   of training, Pre-LN, at the setting of the lesson's contrast, float32; ours also reports
           what tells a run that learns from one that is stuck
native is the same code, BLAS the same with every product by `@`, which is what NumPy is fastest at.
÷: Pyodide's time over the others'; below 1, Pyodide is the faster.
Aims, for 24 layers: at most 2 times native NumPy, at most 1.2 times PyTorch."""


@dataclass(frozen=True)
class Case:
    """A computation of bench/sides: `times` calls in a row, the best counts. Of the part of
    another one, its `whole`, only Pyodide is asked, and compared with the others' whole."""

    label: str
    key: str
    name: str
    numbers: tuple[int, ...] = ()
    times: int = 1
    whole: str = ""


def of_passes(seeds: int, width: int, times: int) -> tuple[Case, Case]:
    """24 layers, and their products alone."""
    size, numbers = f"{seeds}x{width}", (seeds, width, 24)
    label = f"24 layers, {seeds} seed{'s' * (seeds > 1)}, d = {width}"
    whole = Case(label, f"passes_{size}", "passes", numbers, times)
    return whole, Case("  products", f"products_{size}", "products", numbers, times, whole.key)


CASES = (
    *of_passes(1, 64, 15),
    *of_passes(8, 64, 9),
    *of_passes(1, 128, 15),
    *of_passes(8, 128, 5),
    Case("estimate", "estimate", "estimate"),
    Case("perturbation", "perturbation", "perturbation"),
    Case("profile", "profile", "profile"),
    Case("20 steps", "steps", "steps", (), 2),
)
LAYERS = (10, 30, 100, 300, 1000)  # of d = 64, one seed
OTHERS = ("native", "BLAS", "torch")


def main(arguments: Sequence[str]) -> int:
    """Measures, prints tables, the machine and, as the last line, one JSON object."""
    parser = argparse.ArgumentParser(prog="bench compute", description=__doc__.split("\n\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="rounds in which all sides run")
    parser.add_argument("--without", choices=("torch",), help="leave a side out")
    options = parser.parse_args(arguments)
    try:
        torch = None if options.without else torch_python(VENV)
        with ExitStack() as stack:
            sides = [
                stack.enter_context(pyodide()),
                stack.enter_context(native("native", "cases")),
                stack.enter_context(native("BLAS", "blas_cases")),
            ]
            if torch:
                sides.append(stack.enter_context(eager(torch)))
            rows = {
                case.key: compare(case, sides[:1] if case.whole else sides, options.repeats)
                for case in CASES
            }
            layers = {n: compare(of_layers(n), sides[:2], options.repeats) for n in LAYERS}
        show(rows, layers, options.repeats)
    except Failure as failure:
        print(f"bench compute: {failure}", file=sys.stderr)
        return 1
    return 0


# --- the sides --------------------------------------------------------------------------------


@dataclass
class Side:
    """A process that answers how long a case took."""

    name: str
    questions: IO[str]
    answers: IO[str]
    said: IO[str] = field(repr=False)

    def seconds(self, case: Case) -> float:
        """The best of the case's calls. Raises Failure with what the process said."""
        self._ask(json.dumps([case.name, case.numbers, case.times]))
        return float(min(json.loads(self._answer())))

    def ready(self) -> None:
        self._answer()

    def _ask(self, line: str) -> None:
        try:
            print(line, file=self.questions, flush=True)
        except OSError as error:
            raise self._failure() from error

    def _answer(self) -> str:
        line = self.answers.readline()
        if not line:
            raise self._failure()
        return line

    def _failure(self) -> Failure:
        self.said.seek(0)
        return Failure(f"The {self.name} side ended:\n{self.said.read().strip()}")


@contextmanager
def side(name: str, command: Sequence[str]) -> Iterator[Side]:
    """A started side; ended afterwards, whatever happened."""
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
            env={**os.environ, **ONE_THREAD},
            cwd=ROOT,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            one = Side(name, process.stdin, process.stdout, said)
            one.ready()
            yield one
        finally:
            process.kill()
            process.wait()


@contextmanager
def pyodide() -> Iterator[Side]:
    """The pinned runtime under Node, with this repository's files as they are."""
    core = fetch.runtime(fetch.cache_folder())
    with tempfile.TemporaryDirectory() as folder:
        numpy, plan = Path(folder) / "numpy", Path(folder) / "plan.json"
        for name in fetch.PINS["wheels"]:
            with zipfile.ZipFile(core / fetch.wheel(core, name).name) as wheel:
                wheel.extractall(numpy)
        step = {
            "script": str(SIDE),
            "arguments": ["/numpy", "/repository", "bench.sides.cases"],
        }
        mounts = [["/numpy", str(numpy)], ["/repository", str(ROOT)]]
        plan.write_text(json.dumps({"core": str(core), "mounts": mounts, "steps": [step]}))
        command = [str(node.node()), str(node.HERE / "inside.mjs"), str(plan)]
        with side("pyodide", command) as one:
            yield one


@contextmanager
def native(name: str, cases: str) -> Iterator[Side]:
    """The virtual environment's own NumPy."""
    command = [sys.executable, str(SIDE), str(ROOT), f"bench.sides.{cases}"]
    with side(name, command) as one:
        yield one


@contextmanager
def eager(python: Path) -> Iterator[Side]:
    command = [str(python), str(SIDE), str(ROOT), "bench.sides.torch_cases"]
    with side("torch", command) as one:
        yield one


def torch_python(venv: Path) -> Path | None:
    """A Python with PyTorch: this one, or that of `venv`, made if need be. None, and a sentence,
    where PyTorch cannot be had."""
    for python in (Path(sys.executable), environment.venv_python(venv)):
        if has_torch(python):
            return python
    with environment.alone(venv):
        if not has_torch(environment.venv_python(venv)):
            environment.say("installing PyTorch beside the project, for this bench alone")
            try:
                environment.run([sys.executable, "-m", "venv", "--clear", str(venv)], explain_venv)
                pip = [str(environment.venv_python(venv)), "-m", "pip", "install", "--no-input"]
                environment.run([*pip, "--disable-pip-version-check", *TORCH], explain_pip)
            except Failure as failure:
                shutil.rmtree(venv, ignore_errors=True)
                environment.say(f"PyTorch cannot be had, its column stays empty. {failure}")
                return None
    return environment.venv_python(venv)


def has_torch(python: Path) -> bool:
    """Whether the program is there and can import PyTorch."""
    if not python.is_file():
        return False
    done = subprocess.run([str(python), "-c", "import torch"], capture_output=True, check=False)
    return done.returncode == 0


# --- measuring and telling --------------------------------------------------------------------


def of_layers(n: int) -> Case:
    return Case(f"{n} layers", f"layers_{n}", "passes", (1, 64, n), max(2, 300 // n))


def compare(case: Case, sides: Sequence[Side], repeats: int) -> dict[str, float]:
    """Median seconds by side; the sides take turns, and who begins changes."""
    rows = []
    for repeat in range(repeats):
        order = sides if repeat % 2 else list(reversed(sides))
        rows.append({one.name: one.seconds(case) for one in order})
    medians = {name: statistics.median(row[name] for row in rows) for name in rows[0]}
    told = "  ".join(f"{name} {seconds * 1000:.2f} ms" for name, seconds in medians.items())
    print(f"{case.label}: {told}", file=sys.stderr)
    return medians


def exponent(seconds: Mapping[int, float]) -> float:
    """p of the law seconds ∝ Nᵖ that fits best: the slope of ln t against ln N."""
    sizes, times = zip(*seconds.items(), strict=True)
    return statistics.linear_regression(list(map(log, sizes)), list(map(log, times))).slope


def ratios_of(
    rows: Mapping[str, Mapping[str, float]], wholes: Mapping[str, str]
) -> dict[str, float | None]:
    """Pyodide ÷ each other side, by case; null where that side did not run. Of a part, ÷ the
    others' `wholes`."""
    ratios: dict[str, float | None] = {}
    for key, row in rows.items():
        others = rows[wholes.get(key) or key]
        for other in OTHERS:
            ratio = round(row["pyodide"] / others[other], 3) if other in others else None
            ratios[f"{key}_pyodide_vs_{other}"] = ratio
    return ratios


def show(
    rows: Mapping[str, Mapping[str, float]],
    layers: Mapping[int, Mapping[str, float]],
    repeats: int,
) -> None:
    """Prints both tables, how it is counted, the machine, and the JSON line."""
    ratios = ratios_of(rows, {case.key: case.whole for case in CASES})
    sides = ("pyodide", *OTHERS)
    head = [f"median of {repeats}", *sides, *(f"÷ {other}" for other in OTHERS)]
    lines = []
    for case in CASES:
        row = rows[case.key]
        times = [f"{row[x] * 1000:.2f}" if x in row else "–" for x in sides]
        of = [ratios[f"{case.key}_pyodide_vs_{x}"] for x in OTHERS]
        lines.append([case.label, *times, *("–" if r is None else f"{r:.2f}" for r in of)])
    print(harness.table(head, lines))
    print(f"\n{HOW}\n")
    exponents = {
        name: round(exponent({n: row[name] for n, row in layers.items()}), 3)
        for name in ("pyodide", "native")
    }
    head = ["layers of d = 64, 1 seed", *map(str, layers), "exponent"]
    lines = [
        [name, *(f"{row[name] * 1000:.2f}" for row in layers.values()), f"{of:.2f}"]
        for name, of in exponents.items()
    ]
    print(harness.table(head, lines))
    machine = harness.machine()
    print(f"\n{machine}")
    milliseconds = {
        key: {name: round(seconds * 1000, 3) for name, seconds in row.items()}
        for key, row in (*rows.items(), *((f"layers_{n}", row) for n, row in layers.items()))
    }
    harness.report(
        "compute",
        ratios,
        exponents=exponents,
        milliseconds=milliseconds,
        repeats=repeats,
        machine=machine,
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
