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
from contextlib import suppress
from types import FunctionType, ModuleType

PLAN: str
plan = json.loads(PLAN)  # noqa: F821  (given by snapshot.mjs)

gc.disable()
from app import live, proof  # noqa: E402
from app.experiments import EXPERIMENTS  # noqa: E402
from app.ui.strings import LANGUAGES, strings  # noqa: E402

for module in plan["modules"]:
    with suppress(ImportError):  # some are asked for and not there
        importlib.import_module(module)

for code in LANGUAGES:
    strings(code)
for name in EXPERIMENTS:
    live.open(name, name, LANGUAGES[0], "{}", "no page's digest", "[]", lambda message: None)
    live.close(name)


def forget_docstrings() -> None:
    """NumPy's (its import needs them), and those that Bokeh and Panel write at run time."""
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType | type | property | ModuleType):
            with suppress(AttributeError, TypeError):  # a type of C's own keeps its
                if thing.__doc__ is not None:
                    thing.__doc__ = None


def tidy() -> None:
    forget_docstrings()
    sys.path_importer_cache.clear()
    zipimport._zip_directory_cache.clear()  # type: ignore[attr-defined]


said = proof.digits()
tidy()
said  # noqa: B018  (snapshot.mjs takes it)
