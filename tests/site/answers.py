"""Runs inside Pyodide: what each experiment says of its default state, with few seeds, as lines."""

import hashlib
import json

from app import live
from app.experiments import EXPERIMENTS

for name in EXPERIMENTS:
    experiment, built = live.fresh(name, "en")
    experiment.set({"seeds": "2"})
    while experiment.step():
        pass
    told = json.dumps([experiment.parts(), built.json], sort_keys=True)
    print(name, experiment.status, built.digest, hashlib.sha256(told.encode()).hexdigest())
