"""Finding a Chromium: by running it, for a name proves nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.site import browser
from app.site.environment import Failure


def program(folder: Path, name: str, script: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def only(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with nothing but one folder on the PATH, and no browser in any usual place."""
    monkeypatch.delenv("NORMLAB_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.setenv("PLAYWRIGHT_BROWSERS_PATH", str(tmp_path / "none"))
    monkeypatch.setattr(browser, "PLACES", ())
    (tmp_path / "bin").mkdir()
    return tmp_path / "bin"


def test_a_stand_in_under_the_name_is_passed_over(only: Path) -> None:
    program(only, "chromium-browser", "echo 'Requires the chromium snap to be installed.'; exit 1")
    assert browser.chromium() is None
    good = program(only, "google-chrome", "echo 'Google Chrome 150.0.1'")
    assert browser.chromium() == good


def test_the_named_one_goes_first(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(only, "chromium", "echo 'Chromium 150.0.1'")
    monkeypatch.setenv("NORMLAB_CHROMIUM", "/opt/own/chromium")
    assert browser.chromium() == Path("/opt/own/chromium")


def test_playwrights_own_is_found(only: Path, tmp_path: Path) -> None:
    place = Path(browser.playwright_program())
    assert tmp_path / "none" in place.parents
    place.parent.mkdir(parents=True)
    program(place.parent, place.name, "echo 'Chromium 150.0.1'")
    assert browser.chromium() == place


def test_no_chromium_is_one_sentence_with_what_was_tried(
    only: Path, monkeypatch: pytest.MonkeyPatch, nowhere: str
) -> None:
    monkeypatch.setenv("PLAYWRIGHT_DOWNLOAD_HOST", nowhere)
    with pytest.raises(Failure) as failure:
        browser.ensure()
    said = str(failure.value)
    assert said.startswith("The browser tests need a Chromium and none could be had (not root on")
    assert "playwright: " in said
    assert "NORMLAB_CHROMIUM" in said
    assert "\n" not in said


def test_root_on_debian_gets_the_package(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for apt-get here puts down a program as the package would."""
    program(
        only,
        "apt-get",
        f"""[ "$1" = install ] || exit 0
        printf '#!/bin/sh\necho Chromium 150.0.1\n' > {only}/chromium
        /bin/chmod +x {only}/chromium""",
    )
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert browser.ensure() == only / "chromium"


def test_a_failing_apt_get_is_said(only: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(only, "apt-get", "echo 'E: Unable to locate package chromium' >&2; exit 100")
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert browser.from_debian() == "apt-get: E: Unable to locate package chromium"
