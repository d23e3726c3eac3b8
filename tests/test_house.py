"""The house's own checks, each run as its tool runs them: style, types, imports, JavaScript."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.site import node
from app.site.environment import ROOT

BIN = Path(sys.executable).parent
JS = ROOT / "node_modules"

CHECKS = {
    "ruff finds no fault in the Python": [str(BIN / "ruff"), "check", "."],
    "mypy finds no fault in the types": [str(BIN / "mypy")],
    "imports run one way": [str(BIN / "lint-imports")],
    "tsc finds no fault in the JavaScript's types": [
        str(node.node()), str(JS / "typescript" / "bin" / "tsc"), "--project", ".",
    ],
    "eslint finds no fault in the JavaScript": [
        str(node.node()), str(JS / "eslint" / "bin" / "eslint.js"), ".", "--max-warnings", "0",
    ],
    "the JavaScript passes its own tests": [
        str(node.node()), "--test", *map(str, sorted((ROOT / "tests" / "web").glob("*.test.js"))),
    ],
}  # fmt: skip


@pytest.fixture(scope="module", autouse=True)
def packages() -> None:
    node.packages()


@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS.keys())
def test_check(command: list[str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
