"""One side of the comparison: a Python that is asked over its standard input and answers there.

A question is one line of JSON, [case, numbers, times]; the answer one line, the seconds that each
of `times` calls took. An empty line ends it. PLAN (inside Pyodide) or the command line gives the
folders for sys.path and, last, the module of cases.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable, Sequence


def serve(module: str) -> None:
    cases = importlib.import_module(module).CASES
    prepared: dict[str, Callable[[], object]] = {}
    print(json.dumps("ready"), flush=True)
    while line := sys.stdin.readline().strip():
        name, numbers, times = json.loads(line)
        key = json.dumps([name, numbers])
        if key not in prepared:
            prepared.clear()  # one at a time: 1,000 layers take 100 MB
            prepared[key] = cases[name](*numbers)
            prepared[key]()  # what is allocated and looked up the first time only
        print(json.dumps([seconds(prepared[key]) for _ in range(times)]), flush=True)


def seconds(case: Callable[[], object]) -> float:
    begin = time.perf_counter()
    case()
    return time.perf_counter() - begin


def begin(arguments: Sequence[str]) -> None:
    sys.path[:0] = arguments[:-1]
    serve(arguments[-1])


if sys.platform == "emscripten":
    begin(json.loads(PLAN)["arguments"])  # type: ignore[name-defined]  # noqa: F821
else:
    begin(sys.argv[1:])
