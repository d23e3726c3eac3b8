"""The locks: every file by its hash, no address, good for each Python that the project takes."""

from __future__ import annotations

import itertools
import json
import re
import tomllib

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from app.site import fetch, locking
from app.site.environment import LOCK, NEWEST, OLDEST, ROOT

TEXT = LOCK.read_text(encoding="utf-8")
ENTRIES = re.findall(r"^(\S+==[^\\\n]+?) \\\n((?:    --hash=\S+(?: \\)?\n)+)", TEXT, re.MULTILINE)
PYTHONS = [f"3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def locked(python: str, system: str = "linux") -> dict[str, str]:
    """Names and versions that the lock gives to a Python."""
    where = {
        "python_version": python, "python_full_version": f"{python}.0", "sys_platform": system,
        "platform_python_implementation": "CPython",
    }  # fmt: skip
    found: dict[str, str] = {}
    for entry, _ in ENTRIES:
        requirement = Requirement(entry)
        if requirement.marker is None or requirement.marker.evaluate(where):
            name = canonicalize_name(requirement.name)
            assert name not in found, f"{name} twice on Python {python}"
            found[name] = str(requirement.specifier).removeprefix("==")
    return found


def test_every_entry_has_hashes_and_nothing_else_stands_in_the_lock() -> None:
    rest = re.sub(r"^#.*\n", "", TEXT, flags=re.MULTILINE)
    for entry, hashes in ENTRIES:
        rest = rest.replace(f"{entry} \\\n{hashes}", "")
        assert re.fullmatch(r"(    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+", hashes), entry
    assert rest.strip() == ""
    assert len(ENTRIES) > 40


def test_no_lock_holds_a_download_address() -> None:
    assert "://" not in TEXT
    assert "--index" not in TEXT
    packages = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))["packages"]
    assert not [path for path, package in packages.items() if "resolved" in package]
    assert all("integrity" in package for path, package in packages.items() if path)


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_has_what_the_project_asks_for(python: str) -> None:
    found = locked(python)
    groups = PROJECT["dependency-groups"]
    wanted = (groups["build"], groups["record"], groups["test"])
    for text in itertools.chain(PROJECT["project"]["dependencies"], *wanted):
        requirement = Requirement(text)
        assert found[canonicalize_name(requirement.name)] in requirement.specifier, text


@pytest.mark.parametrize("python", PYTHONS)
def test_the_lock_holds_the_versions_that_the_runtime_pins(python: str) -> None:
    found = locked(python)
    assert {name: found[name] for name in fetch.PINS["python"]} == fetch.PINS["python"]


def test_the_pythons_are_those_of_the_project() -> None:
    python = Marker(f"python_version >= '{PYTHONS[0]}' and python_version <= '{PYTHONS[-1]}'")
    wanted = Requirement(f"x{PROJECT['project']['requires-python']}").specifier
    for minor in range(8, 17):
        inside = python.evaluate({"python_version": f"3.{minor}"})
        assert inside == wanted.contains(f"3.{minor}.0"), minor


def test_the_header_says_how_the_lock_is_made() -> None:
    assert TEXT.startswith(locking.HEADER)
