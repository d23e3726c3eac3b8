"""Node and npm of the virtual environment; node_modules from its lock, whole or not at all."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from app.site import node
from app.site.environment import Failure
from tests.site.conftest import Net


@pytest.fixture
def project(tmp_path: Path, registry: Callable[..., str]) -> Path:
    """A project that needs one package of the registry, locked; its node_modules are not there."""
    registry("tiny", "1.0.0", {"index.js": b"module.exports = 42;\n"})
    root = tmp_path / "project"
    root.mkdir()
    (root / ".npmrc").write_text("omit-lockfile-registry-resolved=true\n")
    (root / "package.json").write_text(
        json.dumps({"private": True, "dependencies": {"tiny": "1.0.0"}})
    )
    done = node.npm(["install", "--package-lock-only"], root)
    assert done.returncode == 0, done.stderr
    return root


def left_over(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.name.startswith(".node_modules-"))


def test_node_is_the_virtual_environments_own() -> None:
    said = subprocess.check_output([str(node.node()), "--version"], text=True)
    assert said.startswith("v24.")


def test_packages_are_installed_once(project: Path, net: Net) -> None:
    node.packages(project / "node_modules")
    assert (project / "node_modules" / "tiny" / "index.js").is_file()
    net.asked.clear()
    node.packages(project / "node_modules")
    assert net.asked == []
    assert left_over(project) == []


def test_a_package_that_is_gone_is_brought_back(project: Path) -> None:
    modules = project / "node_modules"
    node.packages(modules)
    (modules / "tiny").rename(project / "moved")
    node.packages(modules)
    assert (modules / "tiny" / "index.js").is_file()


def test_a_wrong_hash_is_said_and_the_old_packages_stay(
    project: Path, registry: Callable[..., str]
) -> None:
    modules = project / "node_modules"
    modules.mkdir()
    (modules / "old").write_text("stays")
    registry("tiny", "1.0.0", {"index.js": b"module.exports = 'another';\n"})
    with pytest.raises(Failure, match=r"does not have the hash that package-lock\.json names"):
        node.packages(modules)
    assert (modules / "old").read_text() == "stays"
    assert left_over(project) == []


def test_a_cut_off_download_is_said(project: Path, net: Net) -> None:
    net.cut.add("/tiny/-/tiny-1.0.0.tgz")
    with pytest.raises(Failure, match=r"cut off or damaged|could not be fetched"):
        node.packages(project / "node_modules")
    assert not (project / "node_modules").exists()
    assert left_over(project) == []


def test_no_network_is_said(
    project: Path, nowhere: str, npm_from: Callable[[str], None], monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:  # fmt: skip
    npm_from(nowhere)
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "empty"))
    with pytest.raises(Failure, match="could not be fetched; check the network"):
        node.packages(project / "node_modules")
    assert not (project / "node_modules").exists()
    assert left_over(project) == []


def test_a_script_that_fails_inside_pyodide_is_said_with_its_traceback(tmp_path: Path) -> None:
    from app.site import fetch

    script = tmp_path / "bad.py"
    script.write_text("raise ValueError('said inside')\n")
    core = fetch.runtime(fetch.cache_folder())
    with pytest.raises(
        Failure, match=r"(?s)bad\.py failed inside Pyodide.*ValueError: said inside"
    ):
        node.inside_pyodide(core, {}, [{"script": str(script)}])
