"""Brings Python to the state in which its memory is kept: everything imported, all caches warm.

Runs under snapshot.mjs, in the interpreter that is kept. PLAN["modules"]: what the trace found.
The last expression is what app/proof.py says: the first thing that a restored Python is asked.
"""

from __future__ import annotations

import gc
import importlib
import json
import sys
import zipimport

PLAN: str
plan = json.loads(PLAN)  # noqa: F821  (given by snapshot.mjs)

gc.disable()
from app import live, proof  # noqa: E402
from app.experiments import EXPERIMENTS  # noqa: E402
from app.ui.strings import LANGUAGES, strings  # noqa: E402

for module in plan["modules"]:
    try:
        importlib.import_module(module)
    except ImportError:
        pass  # some are asked for and not there

for code in LANGUAGES:
    strings(code)
for name in EXPERIMENTS:
    live.open(name, name, LANGUAGES[0], "{}", "no page's digest", "[]", lambda message: None)
    live.close(name)


def tidy() -> None:
    sys.path_importer_cache.clear()
    zipimport._zip_directory_cache.clear()  # type: ignore[attr-defined]
    for _ in range(3):
        gc.collect()
    gc.freeze()
    gc.enable()


said = proof.digits()
tidy()
said
