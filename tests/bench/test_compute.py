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
    ratios = compute.ratios_of({"pass": {"pyodide": 3.0, "native": 2.0, "BLAS": 1.0}}, {})
    assert ratios == {
        "pass_pyodide_vs_native": 1.5, "pass_pyodide_vs_BLAS": 3.0, "pass_pyodide_vs_torch": None,
    }  # fmt: skip


def test_a_part_is_compared_with_the_others_whole() -> None:
    rows = {"pass": {"pyodide": 3.0, "torch": 2.0}, "products": {"pyodide": 1.0}}
    ratios = compute.ratios_of(rows, {"products": "pass", "pass": ""})
    assert ratios["products_pyodide_vs_torch"] == 0.5
    assert ratios["pass_pyodide_vs_torch"] == 1.5


def test_the_products_of_a_pass_are_its_eight_a_layer() -> None:
    """Forward one by W_V and two in the FFN; back the same, and two weights' gradients. That of W_V
    is of one mean position: no product."""
    made = cases.products(2, 16, 3)()
    assert isinstance(made, list)
    shapes = [product.shape for product in made]
    assert len(shapes) == 3 * 8
    assert shapes.count((2, 16, 16)) == 3 * 2
    assert shapes.count((2, 1, 16)) == 3 * 2


def test_the_side_of_blas_takes_no_product_of_ours() -> None:
    """And computes the same."""
    script = """
import numpy as np
from bench.sides import blas_cases
from app.nn import language_model, ops
assert ops.matrix_product is language_model.matrix_product is np.matmul
[*_, result] = blas_cases.CASES["profile"]()()
print(result.columns["post_ln"][0])
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=compute.ROOT, capture_output=True, text=True, check=True
    )
    [*_, ours] = cases.profile()()  # type: ignore[misc]
    assert float(done.stdout) == pytest.approx(ours.columns["post_ln"][0], rel=1e-12)


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
