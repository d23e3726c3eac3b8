"""The tests of `nn` and `probes` pass in the browser's Python, too: Pyodide, run by Node."""

import json
import sysconfig
import zipfile
from pathlib import Path

import pytest

from app.site import fetch, node

ROOT = Path(__file__).resolve().parents[2]


def run_inside(folder, *arguments):
    """What suite.py answers to pytest's arguments.

    NumPy is Pyodide's own build; pytest, all Python, is the virtual environment's; Hypothesis,
    which is not, is represented by the few lines beside this file.
    """
    core = fetch.runtime(fetch.cache_folder())
    numpy, out = folder / "numpy", folder / "out"
    for made in (numpy, out):
        made.mkdir()
    for name in fetch.PINS["wheels"]:
        with zipfile.ZipFile(core / fetch.wheel(core, name).name) as wheel:
            wheel.extractall(numpy)
    step = {
        "script": str(Path(__file__).with_name("suite.py")),
        "repository": "/repository",
        "paths": ["/numpy", "/repository/tests/inside", "/repository", "/environment"],
        "arguments": list(arguments),
        "answer": "/out/answer.json",
    }
    environment = Path(sysconfig.get_path("purelib"))
    mounts = {"/repository": ROOT, "/numpy": numpy, "/out": out, "/environment": environment}
    node.inside_pyodide(core, mounts, [step], options=["--stack-size=3900"])  # pytest nests deep
    return json.loads((out / "answer.json").read_text(encoding="utf-8"))


def passed(folder, *arguments):
    """How many tests passed inside, where none failed."""
    answer = run_inside(folder, *arguments, "-q")
    assert answer["failures"] == []
    assert answer["code"] == 0
    assert answer["platform"] == "emscripten"
    return answer["outcomes"]["passed"]


# What checks every operation, wiring, stack and probe, but no means over many seeds.
QUICK = [
    "tests/nn",
    *(f"tests/probes/test_{name}.py" for name in ("digits", "options", "streaming", "theory")),
]


def test_nn_and_the_probes_contracts_pass_in_pyodide(tmp_path):
    assert passed(tmp_path, *QUICK) > 350


@pytest.mark.slow
def test_all_of_nn_and_probes_passes_in_pyodide(tmp_path):
    assert passed(tmp_path, "tests/nn", "tests/probes") > 600
