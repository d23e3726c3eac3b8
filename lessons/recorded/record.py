"""Records the training runs that the lessons show: the grid, and the three runs of the contrast.

    python -m lessons.recorded.record                    all cores of this machine
    python -m lessons.recorded.record --jobs 1           one
    python -m lessons.recorded.record --dask tcp://host:8786
    python -m lessons.recorded.record --contrast         only the contrast, in some seconds
    python -m lessons.recorded.record --texts            only writes the texts anew

The files lie where the experiments find them, also in a browser: `app/experiments/recorded`.
A stopped run goes on where it was: finished cells wait in `unfinished.jsonl`, which is removed when
the last one is done and `grid.json` and `curves.json` are written. For a Dask cluster install the
group `cluster`; its workers need this repository on their path and the same NumPy.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, parallel_config
from tqdm import tqdm

from app.probes import NUMBERS_VERSION, sentences, training
from lessons.recorded import grid

HERE = Path(__file__).parent
DATA = HERE.parents[1] / "app" / "experiments" / "recorded"
UNFINISHED = "unfinished.jsonl"


def main(arguments: list[str]) -> int:
    chosen = command_line().parse_args(arguments)
    write_texts(chosen.out or HERE)
    if chosen.texts:
        return 0
    out = chosen.out or DATA
    try:
        for language in training.CONTRAST:
            record_contrast(out, language)
        if chosen.contrast:
            return 0
        results = record(out, backend(chosen.dask, chosen.jobs), grid.cells())
    except KeyboardInterrupt:
        print("\nStopped; the same command goes on from here.", file=sys.stderr)
        return 130
    print("\n".join(grid.table(results)))
    return 0


def command_line() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m lessons.recorded.record",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--jobs", type=int, default=-1, help="processes (default: all cores)")
    parser.add_argument("--dask", metavar="ADDRESS", help="a Dask scheduler to run the cells on")
    parser.add_argument("--contrast", action="store_true", help="only record the contrast")
    parser.add_argument("--texts", action="store_true", help="only write the texts")
    parser.add_argument("--out", type=Path, help="another folder to write everything to")
    return parser


def record(
    out: Path, where: AbstractContextManager[None], cells: list[grid.Cell]
) -> list[dict[str, Any]]:
    """Run every cell that is not done yet, then write the files. Returns all results in the order
    of `cells`."""
    done = finished(out)
    todo = [cell for cell in cells if cell not in done]
    with where, (out / UNFINISHED).open("a", encoding="utf-8") as file:
        if file.tell() == 0:
            file.write(json.dumps(grid.whole_config()) + "\n")
        running = Parallel(return_as="generator_unordered")(delayed(grid.train)(c) for c in todo)
        for result in tqdm(running, total=len(cells), initial=len(done), unit="run"):
            file.write(json.dumps(result) + "\n")
            file.flush()  # so that a stop, of whatever kind, loses the cells under way only
            done[cell_of(result)] = result
    results = [done[cell] for cell in cells]
    write(out, results)
    (out / UNFINISHED).unlink()
    return results


def record_contrast(out: Path, language: str) -> None:
    """`contrast-<language>.json`: the probe `contrast` at the setting that tells its runs apart,
    rounded as a grid's numbers are."""
    config = {"text": language, "rate": training.CONTRAST[language]}
    *_, result = training.contrast(config)
    assert result is not None
    content = {
        "config": result.config,
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions("numpy"),
        "summary": result.summary,
        "columns": {
            name: [short_number(name, number) for number in column]
            for name, column in result.columns.items()
        },
    }
    dump(out / f"contrast-{language}.json", content)


def short_number(column: str, number: float) -> float | None:
    return number if column == "step" else grid.kept(column.rsplit("_", 1)[-1], number)


def finished(out: Path) -> dict[grid.Cell, dict[str, Any]]:
    """The cells that an earlier, stopped run of the same config has left behind."""
    path = out / UNFINISHED
    if not path.exists():
        return {}
    with path.open(encoding="utf-8") as file:
        lines = list(whole_lines(file))
    if not lines or lines[0] != json.loads(json.dumps(grid.whole_config())):
        print("What was unfinished was another grid; this one starts anew.", file=sys.stderr)
        path.unlink()
        return {}
    # Written again, so that what is added does not follow half a line.
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return {cell_of(line): line for line in lines[1:]}


def whole_lines(file: Any) -> Iterator[Any]:
    """What the lines hold; the last may be half written."""
    for line in file:
        try:
            yield json.loads(line)
        except json.JSONDecodeError:
            return


def cell_of(result: dict[str, Any]) -> grid.Cell:
    return grid.Cell(*(result[name] for name in ("depth", "rate", "warmup", "wiring", "seed")))


@contextmanager
def backend(dask: str | None, jobs: int) -> Iterator[None]:
    """Where joblib runs the cells: processes of this machine, each with one thread (a BLAS that
    starts threads of its own would only wait for itself), or a Dask cluster."""
    if dask is None:
        with parallel_config(backend="loky", n_jobs=jobs, inner_max_num_threads=1):
            yield
        return
    from distributed import Client

    with Client(dask), parallel_config(backend="dask"):
        yield


def write(out: Path, results: list[dict[str, Any]]) -> None:
    """`grid.json`: config, versions, a row per cell. `curves.json`: a list of points per cell."""
    corpus = grid.corpus()
    head = {
        "config": grid.whole_config(),
        "date": datetime.now(UTC).date().isoformat(),
        "versions": versions("numpy", "joblib"),
        "symbols": corpus.symbols,
        "unigram": round(corpus.unigram(grid.COMMON["tokens"]), 4),
    }
    rows = [
        {
            **asdict(cell_of(result)),
            "verdict": result["verdict"],
            **{name: curve[-1] for name, curve in result["curves"].items()},
        }
        for result in results
    ]
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    dump(out / "grid.json", {**head, "columns": columns})
    curves = {name: [result["curves"][name] for result in results] for name in grid.CURVES}
    dump(out / "curves.json", {**head, "step": list(grid.POINTS), "curves": curves})


def dump(path: Path, content: dict[str, Any]) -> None:
    """JSON with a line per key and per column: small, and a change shows where it is."""
    lines = []
    for key, value in content.items():
        if key in ("columns", "curves"):
            inner = ",\n".join(f"  {json.dumps(k)}: {short(v)}" for k, v in value.items())
            lines.append(f" {json.dumps(key)}: {{\n{inner}\n }}")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value)}")
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def short(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def versions(*of: str) -> dict[str, str]:
    return {
        "numbers": NUMBERS_VERSION,
        "python": platform.python_version(),
        **{name: version(name) for name in of},
        "machine": f"{platform.system()} {platform.machine()}",
    }


def write_texts(out: Path) -> None:
    folder = out / "texts"
    folder.mkdir(parents=True, exist_ok=True)
    for language in sentences.CHARACTERS:
        path = folder / f"{language}.txt"
        path.write_text(sentences.text(language), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
