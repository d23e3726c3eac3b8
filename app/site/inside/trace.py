"""Finds out what a lesson needs: modules imported, data files opened or asked for.

Runs under app/site/inside.mjs. PLAN["subject"] is the file that works the lessons through
(exercise.py; a small script in the tests); the answer goes to PLAN["answer"] as JSON:
{"modules": [names], "data": [paths below one of PLAN["sites"]]}.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PLAN: str
plan = json.loads(PLAN)  # noqa: F821  (given by inside.mjs)
attempted = set(sys.modules)
opened: set[str] = set()


def note(event: str, arguments: tuple[Any, ...]) -> None:
    if event == "import":
        attempted.add(arguments[0])
    elif event == "open" and isinstance(arguments[0], str):
        opened.add(arguments[0])


def stat(path: Any, *arguments: Any, **options: Any) -> os.stat_result:
    """Some files need only be there: Panel's parameters of paths look for theirs."""
    if isinstance(path, str | os.PathLike):
        opened.add(os.fspath(path))
    return plain_stat(path, *arguments, **options)


plain_stat, os.stat = os.stat, stat
sys.path[:0] = plan["sites"]
sys.addaudithook(note)
with open(plan["subject"], encoding="utf-8") as file:
    exec(  # noqa: S102  (a script of ours)
        compile(file.read(), plan["subject"], "exec"), {"__name__": "__main__"}
    )

modules = sorted(attempted | set(sys.modules))
data = sorted(
    path[len(site) + 1 :]
    for path in {os.path.abspath(path) for path in opened}
    for site in plan["sites"]
    if path.startswith(f"{site}/")
    and not path.endswith((".py", ".pyc", ".so"))
    and os.path.isfile(path)
)
with open(plan["answer"], "w", encoding="utf-8") as file:
    json.dump({"modules": modules, "data": data}, file, indent=1)
print(f"traced {len(modules)} modules and {len(data)} data files")
