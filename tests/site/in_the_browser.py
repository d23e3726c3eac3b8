"""Runs inside the shipped runtime: what a page would compute, written to PLAN["answer"] as JSON."""

import importlib
import importlib.util
import json
import sys

plan = json.loads(PLAN)  # noqa: F821  (given by inside.mjs)

import numpy as np  # noqa: E402

from app import live  # noqa: E402
from app.experiments import EXPERIMENTS  # noqa: E402

answer = {
    "versions": {name: importlib.import_module(name).__version__ for name in plan["packages"]},
    "normals": np.random.default_rng(7).standard_normal(5).tolist(),
    "absent": [name for name in plan["absent"] if importlib.util.find_spec(name) is None],
    "loaded": sorted({name.partition(".")[0] for name in sys.modules}),
    "experiments": {},
}
for name in EXPERIMENTS:
    experiment, built = live.fresh(name, "en")
    while experiment.step():
        pass
    answer["experiments"][name] = {
        "digest": built.digest,
        "parts": experiment.parts(),
        "status": experiment.status,
    }
with open(plan["answer"], "w", encoding="utf-8") as file:
    json.dump(answer, file)
