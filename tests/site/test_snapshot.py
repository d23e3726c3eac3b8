"""The snapshot: the same bytes each time, and a Python from it that needs nothing more."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from app.site import bundle, fetch, snapshot

HERE = Path(__file__).parent
PLAN, MEMORY = (f"en/{name}" for name in snapshot.FILES)


@pytest.fixture(scope="module")
def runtime() -> bundle.Runtime:
    return bundle.make(fetch.cache_folder())


@pytest.fixture(scope="module")
def files(runtime: bundle.Runtime) -> dict[str, bytes]:
    """As an English page names them."""
    names = [file.name for file in runtime.files if not file.name.startswith("zh-")]
    return {name: (runtime.folder / name).read_bytes() for name in names}


@pytest.fixture(scope="module")
def about(files: dict[str, bytes]) -> dict[str, Any]:
    plan: dict[str, Any] = json.loads(files[PLAN])
    return plan


def booted(folder: Path, files: dict[str, bytes], *scripts: Path) -> list[str]:
    """What scripts print in a Python that booted from these files: first the way of the boot."""
    plan = {
        "folder": str(snapshot.laid_out(folder, files)),
        "files": [{"name": name, "bytes": len(data)} for name, data in files.items()],
        "scripts": [str(script) for script in scripts],
    }
    return snapshot.in_worker("restored.mjs", plan).splitlines()


def test_every_experiment_can_be_worked_through_and_nothing_is_imported(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    boot, *said = booted(
        tmp_path / "it", files, HERE / "no_import.py", bundle.EXERCISE, HERE / "modules_again.py"
    )
    assert boot == "snapshot"
    assert said == ["no module is new"]


def test_a_restored_python_computes_what_a_booted_one_computes(
    tmp_path: Path, files: dict[str, bytes]
) -> None:
    plain = {name: data for name, data in files.items() if name != PLAN}
    script = HERE / "answers.py"
    first, *restored = booted(tmp_path / "restored", files, script)
    second, *started = booted(tmp_path / "plain", plain, script)
    assert (first, second) == ("snapshot", "plain")
    assert restored
    assert restored == started


def test_the_same_files_give_the_same_memory(
    files: dict[str, bytes], about: dict[str, Any], runtime: bundle.Runtime
) -> None:
    given = {name: data for name, data in files.items() if name not in (PLAN, MEMORY)}
    made = snapshot.run(given, about["build"], "en", about["libraries"], runtime.modules)
    assert made[snapshot.PLAN] == files[PLAN]
    # Not assert ==: to tell of 70 MB how they differ takes pytest minutes.
    assert gzip.decompress(made[snapshot.MEMORY]) == gzip.decompress(files[MEMORY]), "same"


def test_the_memory_holds_no_path_of_the_machine_that_made_it(files: dict[str, bytes]) -> None:
    memory = gzip.decompress(files[MEMORY])
    assert b"app.experiments" in memory
    for path in (f"{tempfile.gettempdir()}/tmp", str(bundle.ROOT)):
        assert path.encode() not in memory
