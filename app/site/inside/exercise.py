"""Works every experiment through, as readers would: each control changed, each button pressed.

Runs under trace.py, inside Pyodide. Sessions are opened as the page opens them. What a lesson
imports or opens only after such a change is found this way.
"""

from __future__ import annotations

import json
import traceback
import warnings
from itertools import count
from typing import Any

from app import live
from app.experiments import EXPERIMENTS
from app.probes.options import Option
from app.ui.strings import LANGUAGES, strings

SLICES = 20_000  # far more than any experiment takes; an endless one must not hang the build
QUICK = {"seeds": "1", "width": "32"}  # what is imported does not depend on how much is computed

failures: list[Any] = []


def take(text: str) -> None:
    message = json.loads(text)
    if message["type"] == "error":
        failures.append(message)


def work() -> None:
    for _ in range(SLICES):
        if not live.step():
            return
    raise RuntimeError("an experiment does not come to an end")


def texts(option: Option) -> list[str]:
    """Values at both ends of an option, every choice, and one that is no value at all."""
    ends = [option.low, option.high] if option.low is not None else []
    return [*map(str, [*ends, *option.choices]), "no value", option.format(option.default)]


def work_through(name: str) -> None:
    sequence = count(1)

    def send(**message: Any) -> None:
        live.receive(name, json.dumps({"seq": next(sequence), **message}))
        work()

    live.open(name, name, LANGUAGES[0], json.dumps(QUICK), "another digest", "[]", take)
    work()
    experiment, _ = live.fresh(name, LANGUAGES[0])
    for control in experiment.controls.values():
        if control.option is None or control.option.name in QUICK:
            continue
        for text in texts(control.option):
            send(type="set", state={control.option.name: text})
    for action in experiment.buttons:
        send(type="press", action=action)
    send(type="set", state={"unknown": "1"})
    send(type="close")


for experiment_name in EXPERIMENTS:
    work_through(experiment_name)
for code in LANGUAGES:
    strings(code)  # another language has other words, and imports nothing else
if failures:
    raise RuntimeError(f"an experiment failed: {failures[0]}")
try:
    raise ValueError("what prints an error is needed as well")
except ValueError:
    traceback.format_exc()
with warnings.catch_warnings(record=True):
    warnings.warn("and what prints a warning", stacklevel=1)
