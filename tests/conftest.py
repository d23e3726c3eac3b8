"""Tests marked `slow` run with --slow only (`build.py test --slow`); or where `-m` names them.

Where several processes share the tests, all browser tests go to one of them: two browsers at once
would keep each other waiting. The others go file by file, for their fixtures' sake.
"""

from __future__ import annotations

from pathlib import Path

import pytest

BROWSER = Path(__file__).parent / "browser"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="also run the tests that take minutes")


@pytest.hookimpl(tryfirst=True)  # before xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        group = "browser" if BROWSER in item.path.parents else str(item.path)
        item.add_marker(pytest.mark.xdist_group(group))
    if config.getoption("slow") or "slow" in config.getoption("markexpr"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    if slow:
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
