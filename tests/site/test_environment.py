"""Setting the house up: the right Python, .venv from the lock, a sentence for what is missing."""

from __future__ import annotations

import ast
import hashlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app.site import environment
from app.site.environment import ROOT, Failure
from tests.site.conftest import Net


def program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def lock_for(folder: Path, net: Net, wheel: str, name: str = "tiny") -> Path:
    """A lock that names one wheel of the index by its true hash."""
    digest = hashlib.sha256(net.files[wheel]).hexdigest()
    lock = folder / "requirements.lock"
    lock.write_text(f"# header\n{name}==1.0 \\\n    --hash=sha256:{digest}\n")
    return lock


# --- which Python ---------------------------------------------------------------------------------


def test_a_python_that_only_has_the_name_is_passed_over(tmp_path: Path) -> None:
    program(tmp_path / "shims", "python3.12", "exit 127")
    program(tmp_path / "shims", "python3.13", "echo welcome")
    good = program(tmp_path / "bin", "python3.11", f'exec {sys.executable} "$@"')
    path = f"{tmp_path / 'shims'}:{tmp_path / 'bin'}"
    assert environment.find_python(path, current="") == good


def test_the_running_python_is_taken_if_it_fits(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3.13", f'exec {sys.executable} "$@"')
    found = environment.find_python(str(tmp_path / "bin"), current=sys.executable)
    assert found == Path(sys.executable)


def test_the_second_of_two_equal_names_on_the_path_is_tried_too(tmp_path: Path) -> None:
    program(tmp_path / "shims", "python3.11", "exit 127")
    good = program(tmp_path / "bin", "python3.11", f'exec {sys.executable} "$@"')
    path = f"{tmp_path / 'shims'}:{tmp_path / 'bin'}"
    assert environment.find_python(path, current="") == good


def test_no_fitting_python_is_said_with_what_was_found(tmp_path: Path) -> None:
    old = program(tmp_path / "bin", "python3", "echo 3 9")
    with pytest.raises(Failure, match=r"3\.11, 3\.12 or 3\.13 .*found only 3\.9"):
        environment.find_python(str(tmp_path / "bin"), current=str(old))
    with pytest.raises(Failure, match="found none"):
        environment.find_python("", current="")


def test_a_missing_venv_module_is_named_with_the_package_that_brings_it(tmp_path: Path) -> None:
    program(tmp_path / "bin", "python3.12", "echo 3 12; exit 1")
    with pytest.raises(Failure, match=r"lacks the venv module.*python3\.12-venv"):
        environment.find_python(str(tmp_path / "bin"), current="")


@pytest.mark.parametrize(
    "path", ["build.py", "app/__init__.py", "app/site/__init__.py", "app/site/environment.py"]
)
def test_what_runs_before_the_set_up_is_readable_for_python_3_8(path: str) -> None:
    ast.parse((ROOT / path).read_text(encoding="utf-8"), feature_version=(3, 8))


# --- making .venv ---------------------------------------------------------------------------------


def test_a_venv_is_made_once_and_then_needs_no_network(
    tmp_path: Path, net: Net, index: Callable[..., str]
) -> None:
    lock = lock_for(tmp_path, net, index("tiny", "1.0", {"tiny.py": b"answer = 42\n"}))
    python = environment.ensure(tmp_path / "venv", lock)
    said = subprocess.check_output([str(python), "-c", "import tiny; print(tiny.answer)"])
    assert said.strip() == b"42"
    net.asked.clear()
    assert environment.ensure(tmp_path / "venv", lock) == python
    assert net.asked == []


def test_a_venv_that_is_cut_off_changed_or_of_another_lock_is_not_complete(
    tmp_path: Path, net: Net, index: Callable[..., str]
) -> None:
    lock = lock_for(tmp_path, net, index("tiny", "1.0", {"tiny.py": b""}))
    venv = tmp_path / "venv"
    environment.ensure(venv, lock)
    assert environment.is_complete(venv, lock)
    (info,) = venv.glob("lib/python*/site-packages/tiny-1.0.dist-info")
    hidden = info.rename(tmp_path / "hidden")
    assert not environment.is_complete(venv, lock)
    hidden.rename(info)
    assert environment.is_complete(venv, lock)
    stamp = venv / "normlab.json"
    kept = stamp.read_text()
    stamp.write_text(kept[:20])
    assert not environment.is_complete(venv, lock)
    stamp.write_text(kept)
    lock.write_text(lock.read_text() + "# changed\n")
    assert not environment.is_complete(venv, lock)


def test_a_failed_set_up_leaves_nothing_and_a_broken_venv_is_made_anew(
    tmp_path: Path, net: Net, index: Callable[..., str]
) -> None:
    wheel = index("tiny", "1.0", {"tiny.py": b""})
    lock = lock_for(tmp_path, net, wheel)
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "bin" / "python").write_text("cut off")
    net.cut.add(wheel)
    with pytest.raises(Failure):
        environment.ensure(venv, lock)
    assert not venv.exists()
    net.cut.clear()
    (venv / "bin").mkdir(parents=True)
    environment.ensure(venv, lock)
    assert environment.is_complete(venv, lock)


def test_a_wrong_hash_is_said_and_nothing_is_installed(
    tmp_path: Path, net: Net, index: Callable[..., str], bare_venv: Path
) -> None:
    wheel = index("tiny", "1.0", {"tiny.py": b""})
    lock = lock_for(tmp_path, net, wheel)
    index("tiny", "1.0", {"tiny.py": b"other = True"})
    with pytest.raises(Failure, match=r"does not have the hash that requirements\.lock names"):
        environment.install(bare_venv, lock)


def test_a_cut_off_download_is_said(
    tmp_path: Path, net: Net, index: Callable[..., str], bare_venv: Path
) -> None:
    wheel = index("tiny", "1.0", {"tiny.bin": bytes(200_000)})
    net.files[wheel] += bytes(200_000)
    lock = lock_for(tmp_path, net, wheel)
    net.cut.add(wheel)
    with pytest.raises(Failure, match=r"cut off|does not have the hash"):
        environment.install(bare_venv, lock)


def test_no_network_is_said(
    tmp_path: Path, nowhere: str, pip_from: Callable[[str], None], bare_venv: Path
) -> None:
    pip_from(nowhere)
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"tiny==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(Failure, match="No package index could be reached"):
        environment.install(bare_venv, lock)


def test_a_package_that_nobody_has_is_named(
    tmp_path: Path, net: Net, pip_from: Callable[[str], None], bare_venv: Path
) -> None:
    pip_from(net.address)
    lock = tmp_path / "requirements.lock"
    lock.write_text(f"tiny==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    with pytest.raises(Failure, match=r"could not be installed .*tiny==1\.0"):
        environment.install(bare_venv, lock)


def test_no_permission_to_write_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    lock = tmp_path / "requirements.lock"
    lock.write_text("")
    with pytest.raises(Failure, match="Cannot write"):
        environment.ensure(tmp_path / "file" / "venv", lock)


def test_a_failure_is_one_sentence_and_exit_code_1(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setattr(environment, "VENV", tmp_path / "file" / "venv")
    assert environment.main(["build"]) == 1
    said = capsys.readouterr().err
    assert said.startswith("build.py: Cannot write ")
    assert said.count("\n") == 1


def test_progress_off_a_terminal_is_a_line_for_each_tenth(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for done in range(0, 1_000_001, 10_000):
        environment.progress("a file", done, 1_000_000)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 11
    assert lines[-1].strip() == "a file: 1.0 of 1.0 MB"
