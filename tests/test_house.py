"""The house's own checks, each run as its tool runs them: style, types, imports, JavaScript."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
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


@pytest.fixture(scope="module")
def packages() -> None:
    node.packages()


@pytest.mark.usefixtures("packages")
@pytest.mark.parametrize("command", CHECKS.values(), ids=CHECKS.keys())
def test_check(command: list[str]) -> None:
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"


def imported(path: Path) -> Iterator[str]:
    """The modules that a file imports, as far as their package's name."""
    for statement in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom):
            yield statement.module or "."


@pytest.mark.parametrize("package", ["nn", "probes"])
def test_the_computation_imports_numpy_and_nothing_else_that_has_to_be_installed(
    package: str,
) -> None:
    files = sorted((ROOT / "app" / package).rglob("*.py"))
    assert files
    for path in files:
        for name in imported(path):
            own = name.startswith(("app.nn", "app.probes"))
            top = name.partition(".")[0]
            assert own or top in {"numpy", *sys.stdlib_module_names}, f"{path} imports {name}"


def test_nothing_imports_the_lessons() -> None:
    for path in sorted((ROOT / "app").rglob("*.py")):
        assert not any(name.partition(".")[0] == "lessons" for name in imported(path)), path
