"""Brings Python to the state in which its memory is kept: everything imported, all caches warm.

Runs under snapshot.mjs, in the interpreter that is kept. PLAN["modules"]: what the trace found;
PLAN["language"]: of the pages that it is for, whose experiments are built ahead.
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
from bokeh.core.property.bases import Property  # noqa: E402
from param import Parameter  # noqa: E402

from app import live, proof  # noqa: E402
from app.experiments import EXPERIMENTS  # noqa: E402
from app.ui.strings import LANGUAGES, strings  # noqa: E402

for module in plan["modules"]:
    with suppress(ImportError):  # some are asked for and not there
        importlib.import_module(module)


def forget_help() -> None:
    """What only a reader of the code would ask for: NumPy's docstrings (its import needs them),
    those that Bokeh and Panel write at run time, the help of their properties and parameters, and
    Bokeh's signatures."""
    for module in list(sys.modules.values()):
        names = vars(module) if isinstance(module, ModuleType) else {}
        names.pop("__test__", None)  # Cython's copies of docstrings
        for thing in names.values():
            if type(thing).__name__ == "_ArrayFunctionDispatcher":  # a function to NumPy's users
                vars(thing).pop("__doc__", None)
    for thing in gc.get_objects():
        if isinstance(thing, FunctionType):
            forget_help_of(thing)
        if isinstance(thing, Property):
            thing._help = None
        if isinstance(thing, Parameter):
            object.__setattr__(thing, "doc", None)
        if isinstance(thing, FunctionType | type | property | ModuleType):
            with suppress(AttributeError, TypeError):  # a type of C's own keeps its
                if thing.__doc__ is not None:
                    thing.__doc__ = None


def forget_help_of(function: FunctionType) -> None:
    """A function's docstring is its code's first constant, too."""
    code = function.__code__
    if code.co_consts and isinstance(code.co_consts[0], str) and "\n" in code.co_consts[0]:
        function.__code__ = code.replace(co_consts=(None, *code.co_consts[1:]))
    if str(function.__module__).startswith("bokeh."):
        vars(function).pop("__signature__", None)


def work_ahead(language: str) -> None:
    """Warm what sessions use, then build the first one of each experiment, which stays.

    Rubbish is cleared away each time: the memory shall not grow around it.
    """
    for code in LANGUAGES:
        strings(code)
    for name in EXPERIMENTS:
        live.open(name, name, language, "{}", "no page's digest", "[]", lambda message: None)
        live.close(name)
        gc.collect()
    for name in EXPERIMENTS:
        live.keep(name, language)
        gc.collect()


forget_help()
gc.collect()
work_ahead(plan["language"])
said = proof.digits()
forget_help()  # what was written meanwhile
sys.path_importer_cache.clear()
zipimport._zip_directory_cache.clear()  # type: ignore[attr-defined]
said  # noqa: B018  (snapshot.mjs takes it)
