"""Tests marked `slow` run with --slow only (`build.py test --slow`); or where `-m` names them.

Where several processes share the tests, all browser tests go to one of them: two browsers at once
would keep each other waiting. The others go file by file, for their fixtures' sake.
"""

from __future__ import annotations

import signal
import sys
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests that take minutes")


def pytest_configure(config: pytest.Config) -> None:
    # A shell that starts this in the background has it ignored: then Ctrl-C could not be tried.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def nothing_measured_before() -> None:
    """What the probes keep of earlier tests is forgotten: each computes what it looks at."""
    seeds = sys.modules.get("app.probes.seeds")
    if seeds is not None:
        seeds.forget()


class BrowserBesideFiles(LoadScopeScheduling):
    """Sends all browser tests to one process, and the tests of any other file to one."""

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return "browser" if file.startswith("tests/browser/") else file


@pytest.hookimpl(optionalhook=True)  # Pyodide's pytest has no xdist.
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> BrowserBesideFiles:
    return BrowserBesideFiles(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("slow") or "slow" in config.getoption("markexpr"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
