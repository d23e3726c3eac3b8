"""The commands: what they take, that a site appears whole or not at all, that serving serves."""

from __future__ import annotations

import argparse
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from itertools import count
from pathlib import Path
from urllib.request import urlopen

import pytest

from app.site import cli, pages
from app.site.bundle import Runtime
from app.site.environment import ROOT, Failure


def left_over(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("/", "/"),
        ("", "/"),
        ("courses/norm", "/courses/norm/"),
        ("/courses/norm/", "/courses/norm/"),
    ],
)
def test_a_base_has_a_slash_at_both_ends(text: str, path: str) -> None:
    assert cli.parse(["build", f"--base={text}"]).base == path


def test_pytest_and_benches_get_their_own_options() -> None:
    assert cli.parse(["test", "-k", "lock", "-x"]).rest == ["-k", "lock", "-x"]
    options = cli.parse(["bench", "startup", "--repeats", "3"])
    assert (options.name, options.rest) == ("startup", ["--repeats", "3"])
    assert cli.parse(["bench", "startup", "--help"]).rest == ["--help"]


def test_a_bench_says_what_it_takes_before_anything_is_made(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "build", lambda: pytest.fail("nothing needs to be built"))
    assert cli.main(["bench", "memory", "--help"]) == 0
    assert "--moves" in capfd.readouterr().out


def test_an_unknown_option_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parse(["build", "--bsae", "/x/"])
    assert "--bsae" in capsys.readouterr().err


@pytest.mark.parametrize("port", ["0", "65536", "-1", "http"])
def test_what_is_no_port_is_refused(port: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parse(["serve", f"--port={port}"])
    assert "a port is a whole number from 1 to 65535" in capsys.readouterr().err


def test_a_site_is_made_once_and_made_again_if_a_file_of_it_is_gone(tmp_path: Path) -> None:
    out = tmp_path / "site"
    cli.build(out)
    front = out / "index.html"
    made = front.stat().st_ino
    cli.build(out)
    assert front.stat().st_ino == made
    front.unlink()
    cli.build(out)
    assert front.is_file()
    assert left_over(tmp_path) == []


def test_a_build_that_fails_leaves_the_old_site_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    for part in ("assets", "runtime", "en", "zh-Hans"):
        (out / part).mkdir(parents=True)
    (out / "404.html").write_text("old")
    (out / "index.html").write_text("old")

    def fail(out: Path, runtime: Runtime, base: str) -> None:
        out.mkdir()
        (out / "index.html").write_text("half")
        raise Failure("a text is wrong")

    monkeypatch.setattr(pages, "build", fail)
    with pytest.raises(Failure, match="a text is wrong"):
        cli.build(out)
    assert (out / "index.html").read_text() == "old"
    assert left_over(tmp_path) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [("", "/"), ("/", "/"), ("courses", "/courses/"), ("/courses/norm/", "/courses/norm/")],
)
def test_a_base_is_given_a_slash_at_both_ends(text: str, path: str) -> None:
    assert cli.base_path(text) == path


@pytest.mark.parametrize("text", ["https://a.org/norm/", "/../norm/", "/a b/", '/"norm/', "/a//b/"])
def test_what_is_no_path_is_refused_as_a_base(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError, match="a base is a path like"):
        cli.base_path(text)


def test_only_a_site_is_ever_replaced(tmp_path: Path) -> None:
    """A folder named by mistake (`--out app`) must not be thrown away, nor a file."""
    others = tmp_path / "thesis"
    (others / "runtime").mkdir(parents=True)
    (others / "index.html").write_text("years of work")
    for out in (others, others / "index.html"):
        with pytest.raises(Failure, match=r"is left as it is; .*--out"):
            cli.build(out)
    assert (others / "index.html").read_text() == "years of work"
    empty = tmp_path / "empty"
    empty.mkdir()
    assert cli.may_be_replaced(empty)
    assert cli.may_be_replaced(tmp_path / "new")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(Failure, match=r"Cannot write .*--out"):
        cli.build(tmp_path / "file" / "site")


def test_serve_builds_opens_says_where_the_site_is_and_ends_at_ctrl_c(tmp_path: Path) -> None:
    """As a person runs it, with the wanted port taken and the site below a path."""
    opened = tmp_path / "opened"
    browser = tmp_path / "browser"
    browser.write_text(f'#!/bin/sh\necho "$1" > {opened}\n')
    browser.chmod(0o755)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        command = [sys.executable, str(ROOT / "build.py"), "serve", "--base=/courses/norm/"]
        server = subprocess.Popen(
            [*command, f"--port={port}", f"--out={tmp_path / 'site'}", "--open"],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1", "BROWSER": str(browser)},
        )
        assert server.stdout is not None
        try:
            said = ""
            while not (found := re.search(r"at (http://127\.0\.0\.1:(\d+)/courses/norm/)", said)):
                line = server.stdout.readline()
                assert line, said
                said += line
            assert f"port {port} is taken" in said
            with urlopen(found[1]) as answer:
                assert b"<html" in answer.read()
            server.send_signal(signal.SIGINT)
            assert server.wait(timeout=20) == 0
            assert opened.read_text().strip() == found[1]
        finally:
            server.kill()
            server.stdout.close()
    assert cli.may_be_replaced(tmp_path / "site")


def test_a_change_of_a_source_makes_the_site_anew_and_bytecode_does_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "__pycache__").mkdir()
    stop, seen = threading.Event(), threading.Semaphore(0)
    watching = threading.Thread(target=cli.watch, args=([tmp_path], seen.release, stop))
    watching.start()
    try:
        names = count()
        while not seen.acquire(timeout=0.2):  # the watcher needs a moment before it sees anything
            (tmp_path / "__pycache__" / "en.pyc").write_text(str(next(names)))
            (tmp_path / "en.md").write_text(str(next(names)))
    finally:
        stop.set()
        watching.join()
    said = capsys.readouterr().out
    assert "changed: " in said
    assert "en.md" in said
    assert "en.pyc" not in said


def test_after_a_change_a_new_process_makes_the_site_and_a_fault_leaves_it_as_it_was(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cli.rebuild(cli.parse(["serve", "--base=/b/", f"--out={tmp_path / 'site'}"]))
    assert (tmp_path / "site" / "index.html").is_file()
    assert "reload the page" in capfd.readouterr().out
    (tmp_path / "site" / "own.txt").write_text("no part of a site, so nothing is replaced")
    (tmp_path / "site" / "index.html").write_text("old")
    assert not cli.rebuild(cli.parse(["serve", f"--out={tmp_path / 'site'}"]))
    assert (tmp_path / "site" / "index.html").read_text() == "old"
    assert "the site stays as it was until this is put right" in capfd.readouterr().out


def test_the_one_command_says_what_it_can_do() -> None:
    said = subprocess.check_output([sys.executable, str(ROOT / "build.py"), "--help"], text=True)
    for command in ("build", "serve", "test", "bench", "lock"):
        assert command in said


def test_a_site_that_cannot_be_replaced_stays(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text("as it was")
    with pytest.raises(FileNotFoundError):
        cli.replace(site, tmp_path / "never made", aside=tmp_path / "aside")
    assert (site / "index.html").read_text() == "as it was"
    assert not (tmp_path / "aside").exists()
