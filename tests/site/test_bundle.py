"""The runtime folder: small, neutral, whole, and a Python that computes what this one computes."""

from __future__ import annotations

import gzip
import hashlib
import importlib.metadata
import importlib.util
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from app import live
from app.experiments import EXPERIMENTS
from app.site import bundle, fetch, licences, node, packing

ARCHIVES = ("stdlib", "numpy", "app", "bokeh", "panel")
CORE = ("pyodide.js", "pyodide.asm.js", "lock.json", "python.gz.bin")
SNAPSHOT = ("en/snapshot.json", "en/snapshot.gz.bin", "native.gz.bin", "data.gz.bin")
SNAPSHOT_BYTES = 14.1e6
BOKEHJS = ("BokehJS", "noUiSlider", "flatpickr", "DOMPurify", "marked", "Preact")  # and its parts
UNWANTED = ("pandas", "PIL", "contourpy", "narwhals", "tornado", "requests", "panel_material_ui")


@pytest.fixture(scope="module")
def runtime() -> bundle.Runtime:
    return bundle.make(fetch.cache_folder())


@pytest.fixture(scope="module")
def archives(runtime: bundle.Runtime) -> dict[str, zipfile.ZipFile]:
    return {
        name: zipfile.ZipFile(
            io.BytesIO(gzip.decompress((runtime.folder / f"{name}.gz.bin").read_bytes()))
        )
        for name in ARCHIVES
    }


@pytest.fixture(scope="module")
def computed(
    runtime: bundle.Runtime,
    archives: dict[str, zipfile.ZipFile],
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Any]:
    """What the shipped files compute under Node, laid out as the worker lays them out."""
    root = tmp_path_factory.mktemp("shipped")
    core, site, out = root / "core", root / "site", root / "out"
    core.mkdir()
    out.mkdir()
    for shipped, name in {
        "pyodide.js": "pyodide.mjs", "pyodide.asm.js": "pyodide.asm.js",
        "python.gz.bin": "pyodide.asm.wasm", "stdlib.gz.bin": "python_stdlib.zip",
        "lock.json": "pyodide-lock.json",
    }.items():  # fmt: skip
        content = (runtime.folder / shipped).read_bytes()
        (core / name).write_bytes(
            gzip.decompress(content) if shipped.endswith(".gz.bin") else content
        )
    for name in ARCHIVES[1:]:
        archives[name].extractall(site)
    step = {
        "script": str(Path(__file__).with_name("in_the_browser.py")), "answer": "/out/answer.json",
        "packages": ["numpy", "panel", "bokeh", "param"], "absent": UNWANTED,
    }  # fmt: skip
    node.inside_pyodide(core, {bundle.SITE: site, "/out": out}, [step])
    answer: dict[str, Any] = json.loads((out / "answer.json").read_text(encoding="utf-8"))
    return answer


# --- what it computes -----------------------------------------------------------------------------


def test_the_shipped_python_has_the_pinned_versions(computed: dict[str, Any]) -> None:
    assert computed["versions"] == fetch.PINS["python"]


def test_the_shipped_numpy_draws_the_numbers_that_this_one_draws(computed: dict[str, Any]) -> None:
    assert computed["normals"] == np.random.default_rng(7).standard_normal(5).tolist()


def test_nothing_that_no_lesson_needs_is_shipped(computed: dict[str, Any]) -> None:
    assert computed["absent"] == list(UNWANTED)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_document_built_in_the_browser_has_the_models_of_the_one_built_here(
    computed: dict[str, Any], name: str
) -> None:
    _, built = live.fresh(name, "en")
    assert computed["experiments"][name]["digest"] == built.digest


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_word_and_digit_computed_in_the_browser_is_the_one_computed_here(
    computed: dict[str, Any], name: str
) -> None:
    experiment, _ = live.fresh(name, "en")
    while experiment.step():
        pass
    assert computed["experiments"][name]["status"] == "ready"
    assert computed["experiments"][name]["parts"] == experiment.parts()


# --- what it consists of --------------------------------------------------------------------------


def test_every_file_is_as_listed_and_the_folder_has_no_other(runtime: bundle.Runtime) -> None:
    for file in runtime.files:
        content = (runtime.folder / file.name).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file.bytes, file.sha256)
    listed = json.loads((runtime.folder / "files.json").read_text(encoding="utf-8"))
    assert [entry["name"] for entry in listed] == [file.name for file in runtime.files]
    paths = (path for path in runtime.folder.rglob("*") if path.is_file())
    names = {path.relative_to(runtime.folder).as_posix() for path in paths}
    assert names == {file.name for file in runtime.files} | {"files.json"}


def test_names_are_neutral(runtime: bundle.Runtime) -> None:
    for file in runtime.files:
        assert re.fullmatch(r"([\w-]+/)?[\w.]+\.(js|json|txt|gz\.bin)", file.name), file.name


def test_the_runtime_is_small(runtime: bundle.Runtime) -> None:
    """As it lies here; scripts travel packed. Stock `panel convert` sends 22.4 MB."""
    sizes = {file.name: file.bytes for file in runtime.files}
    core = sum(sizes[name] for name in CORE)
    assert core + sum(sizes[f"{name}.gz.bin"] for name in ARCHIVES) < 8.7e6
    assert core + sum(sizes[name] for name in SNAPSHOT) < SNAPSHOT_BYTES
    assert all(sizes[name] < 9e6 for name in sizes if name.endswith("snapshot.gz.bin"))


def test_stand_ins_travel_in_place_of_what_no_lesson_uses(
    archives: dict[str, zipfile.ZipFile],
) -> None:
    shipped = {path for archive in archives.values() for path in archive.namelist()}
    for module in (module for modules in bundle.STAND_INS.values() for module in modules):
        start = module.removesuffix("__init__")
        standing = {f"{name}.pyc" for names in bundle.STAND_INS.values() for name in names}
        assert {path for path in shipped if path.startswith(start)} <= standing
        assert f"{module}.pyc" in shipped


def test_a_stand_in_can_be_imported_from_and_says_so_when_it_is_used() -> None:
    path = Path(bundle.__file__).parent / "inside" / "stand_in.py"
    spec = importlib.util.spec_from_file_location("numpy.random.mtrand", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert module.RandomState is module.RandomState
    assert not isinstance(np.random.RandomState(1), module.RandomState)
    assert not hasattr(module, "__all__")
    with pytest.raises(NotImplementedError, match="RandomState is not among what this page"):
        module.RandomState(1)


def test_archives_are_stored_zips_without_time_stamps(archives: dict[str, zipfile.ZipFile]) -> None:
    for archive in archives.values():
        for entry in archive.infolist():
            assert entry.compress_type == zipfile.ZIP_STORED
            assert entry.date_time == (1980, 1, 1, 0, 0, 0)
        assert archive.namelist() == sorted(archive.namelist())
        assert archive.namelist()


def test_no_source_test_or_stub_is_shipped(archives: dict[str, zipfile.ZipFile]) -> None:
    for archive in archives.values():
        for path in archive.namelist():
            assert not path.endswith((".py", ".pyi", ".h", ".a", ".map", ".ts")), path
            assert "/tests/" not in path, path
            assert not path.startswith(("numpy/f2py", "app/site", "app/web")), path


def test_bytecode_is_of_the_shipped_interpreter_unchecked_and_without_time_stamp(
    archives: dict[str, zipfile.ZipFile],
) -> None:
    heads = {
        archive.read(path)[:8]
        for archive in archives.values()
        for path in archive.namelist()
        if path.endswith(".pyc")
    }
    cpython_3_13 = (3571).to_bytes(2, "little") + b"\r\n"
    assert heads == {cpython_3_13 + (1).to_bytes(4, "little")}


def test_the_scripts_name_no_source_map(runtime: bundle.Runtime) -> None:
    for name in ("pyodide.js", "pyodide.asm.js"):
        assert b"sourceMappingURL" not in (runtime.folder / name).read_bytes()


def test_notices_name_every_part_with_its_licence(
    runtime: bundle.Runtime, archives: dict[str, zipfile.ZipFile]
) -> None:
    text = (runtime.folder / "THIRD_PARTY.txt").read_text(encoding="utf-8")
    for name in ("Pyodide 0.28.3", "CPython", "Emscripten", "Mozilla Public License", *BOKEHJS):
        assert name in text
    standing = {f"{name}.pyc" for name in bundle.STAND_INS["site"]}  # these are ours
    packed = {
        path.partition("/")[0]
        for name in ("bokeh", "panel", "numpy")
        for path in archives[name].namelist()
        if path not in standing
    }
    for top in packed:
        if top.endswith(".dist-info"):
            continue
        distributions = importlib.metadata.packages_distributions()[top.removesuffix(".pyc")]
        for distribution in distributions:
            title = f"{distribution} {importlib.metadata.version(distribution)} — "
            assert title.lower() in text.lower(), distribution
    assert licences.NO_TEXT not in text
    for words in ("Exhibit A - Source Code Form License", "PYTHON SOFTWARE FOUNDATION LICENSE"):
        assert words in text


# --- how it is made -------------------------------------------------------------------------------


def test_the_same_files_give_the_same_bytes(tmp_path: Path) -> None:
    source = tmp_path / "source" / "package"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text(
        '"""Said."""\nNAMES = {"b", "a", "c"}\n\n\ndef f(): return NAMES\n'
    )
    (source / "data.css").write_text("p {}")
    core = fetch.runtime(fetch.cache_folder())
    made = []
    for run in ("one", "two"):
        out = tmp_path / run
        out.mkdir()
        tree = bundle.tree("/source", "/out/site", bundle.SITE, bundle.NO_DOCSTRINGS)
        compiled = {"script": "compile.py", "trees": [tree], "skip": []}
        node.inside_pyodide(core, {"/source": source.parent, "/out": out}, [compiled])
        paths = ["package/__init__.pyc", "package/data.css"]
        made.append(packing.gzip(packing.stored(out / "site", paths)))
    assert made[0] == made[1]
    archive = zipfile.ZipFile(io.BytesIO(gzip.decompress(made[0])))
    assert archive.read("package/data.css") == b"p {}"
    assert b"Said." not in archive.read("package/__init__.pyc")
