"""What is kept in the cache: whole or not at all, and not for ever."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from app.site.environment import Failure
from app.site.kept import Kept


def test_a_result_that_fails_half_way_is_not_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path)

    def fail(out: Path) -> None:
        (out / "half").write_text("half")
        raise Failure("cut off")

    with pytest.raises(Failure):
        kept.folder_of("kind", "key", fail)
    assert list((tmp_path / "kind").iterdir()) == []
    folder = kept.folder_of("kind", "key", lambda out: None)
    assert kept.folder_of("kind", "key", fail) == folder


def test_only_the_newest_results_are_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path, newest=2)
    for key in "abc":
        kept.folder_of("kind", key, lambda out: None)
        kept.folder_of("kind", "a", lambda out: None)
    assert {path.name for path in (tmp_path / "kind").iterdir()} == {"a", "c"}


def test_what_a_build_left_that_was_ended_goes_after_a_day(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.folder_of("kind", "key", lambda out: None)
    ended, running = tmp_path / "kind" / ".partial-1", tmp_path / "kind" / ".partial-2"
    for folder in (ended, running):
        folder.mkdir()
    os.utime(ended, (0, 0))
    kept.folder_of("kind", "key", lambda out: None)
    assert not ended.exists()
    assert running.exists()


def test_a_folder_that_another_build_removes_meanwhile_is_passed_over(tmp_path: Path) -> None:
    kept = Kept(tmp_path)
    kept.folder_of("kind", "key", lambda out: None)
    (tmp_path / "kind" / "gone").symlink_to(tmp_path / "nowhere")  # listed, and not there
    kept.folder_of("kind", "other", lambda out: None)
    assert (tmp_path / "kind" / "key").is_dir()


def test_of_two_builds_that_make_the_same_at_once_the_later_takes_the_earliers(
    tmp_path: Path,
) -> None:
    def fill(out: Path) -> None:
        (out / "file").write_text("later")
        Kept(tmp_path).folder_of(
            "kind", "key", lambda other: (other / "file").write_text("earlier")
        )

    folder = Kept(tmp_path).folder_of("kind", "key", fill)
    assert (folder / "file").read_text() == "earlier"
    assert [path.name for path in folder.parent.iterdir()] == ["key"]
