"""How the bench of computations reads its clocks, and that its sides do what is compared."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import compute
from bench.sides import cases


def test_the_exponent_is_the_power_of_the_law() -> None:
    assert compute.exponent({n: 3e-4 * n**1.2 for n in (10, 100, 1000)}) == pytest.approx(1.2)


def test_a_side_that_did_not_run_has_no_ratio() -> None:
    ratios = compute.ratios_of({"pass": {"pyodide": 3.0, "native": 2.0}})
    assert ratios == {"pass_pyodide_vs_native": 1.5, "pass_pyodide_vs_torch": None}


def test_every_case_is_known_to_the_sides() -> None:
    assert {case.name for case in compute.CASES} == set(cases.CASES)


def test_a_side_answers_with_as_many_times_as_it_was_asked_for() -> None:
    question = json.dumps(["passes", [2, 16, 3], 4])
    command = [sys.executable, str(compute.SIDE), str(compute.ROOT), "bench.sides.cases"]
    done = subprocess.run(
        command, input=f"{question}\n\n", capture_output=True, text=True, check=True
    )
    ready, answer = map(json.loads, done.stdout.splitlines())
    assert ready == "ready"
    assert len(answer) == 4
    assert min(answer) > 0


def test_a_side_that_ends_says_why() -> None:
    command = [sys.executable, "-c", "raise SystemExit('no such case')"]
    with pytest.raises(compute.Failure, match="no such case"), compute.side("native", command):
        pass


def test_no_python_no_torch(tmp_path: Path) -> None:
    assert not compute.has_torch(tmp_path / "python")
