"""How a command starts: the way into .venv, and an end that is no traceback."""

import ast
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from app import __main__ as start
from app.probes import beta

ROOT = Path(__file__).resolve().parents[1]
SMALL = ["--width", "32", "--seeds", "3"]


def test_a_reader_that_has_gone_is_no_traceback():
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "app", "probe", "beta", "--depth", "1", *SMALL]
    done = subprocess.run(command, cwd=ROOT, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, b"")


def test_the_file_is_read_by_python_3_8():
    source = (ROOT / "app" / "__main__.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 8))
    assert "from __future__ import annotations" in source  # list[str] would fail at definition


@pytest.fixture
def elsewhere(tmp_path):
    """A project with nothing but the terminal in it."""
    (tmp_path / "app").mkdir()
    for name in ("app/__init__.py", "app/__main__.py", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def started_without_numpy(folder, *arguments):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    return subprocess.run(
        [sys.executable, "-S", "-m", "app", *arguments],  # -S: no site-packages
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_python_that_cannot_compute_hands_over_to_the_one_in_venv(elsewhere):
    python = elsewhere / ".venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$PYTHONPATH"\nprintf "%s|" "$@"\nexit 7\n')
    python.chmod(0o755)
    done = started_without_numpy(elsewhere, "probe", "beta", "--wiring", "post_ln, pre_ln")
    assert done.returncode == 7
    assert done.stdout == f"{elsewhere}\n-m|app|probe|beta|--wiring|post_ln, pre_ln|"


def test_another_numpy_than_the_pages_is_not_used(elsewhere):
    project = elsewhere / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("numpy==", "numpy==9."), encoding="utf-8")
    command = [sys.executable, "-m", "app", "probe", "beta"]
    done = subprocess.run(command, cwd=elsewhere, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "python3 build.py build" in done.stderr


def test_without_a_venv_one_sentence_says_how_to_make_it(elsewhere):
    done = started_without_numpy(elsewhere, "probe", "beta")
    assert done.returncode == 1
    assert done.stdout == ""
    assert "python3 build.py build" in done.stderr
    assert done.stderr.count("\n") == 1


def test_the_numbers_come_out_whichever_python_starts():
    if not start.VENV_PYTHON.exists():
        pytest.skip("this project has no .venv yet")
    done = started_without_numpy(ROOT, "probe", "beta", "--depth", "1", *SMALL, "--json")
    assert done.returncode == 0, done.stderr
    *_, expected = beta.measure({"depth": 1, "width": 32, "seeds": 3})
    assert json.loads(done.stdout)["columns"]["pre_ln"] == pytest.approx(expected.columns["pre_ln"])
