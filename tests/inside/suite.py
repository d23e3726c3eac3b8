"""Runs inside Pyodide: pytest over the tests that PLAN names.

PLAN: {repository, paths (for sys.path), arguments (for pytest), answer (a file)}. The answer counts
outcomes and gives the report of every failure.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

PLAN: str
plan = json.loads(PLAN)  # noqa: F821  (given by inside.mjs)
sys.path[:0] = plan["paths"]
os.chdir(plan["repository"])
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"

import pytest  # noqa: E402  (found where PLAN says)


class Counting:
    def __init__(self) -> None:
        self.outcomes: dict[str, int] = {}
        self.failures: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failures.append(f"{report.nodeid}\n{report.longreprtext}")
        if report.when == "call" or not report.passed:
            self.outcomes[report.outcome] = self.outcomes.get(report.outcome, 0) + 1

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.failures.append(f"{report.nodeid}\n{report.longreprtext}")


counting = Counting()
code = pytest.main([*plan["arguments"], "-p", "no:cacheprovider"], plugins=[counting])
answer: dict[str, Any] = {
    "code": int(code),
    "outcomes": counting.outcomes,
    "failures": counting.failures,
    "platform": sys.platform,
}
with open(plan["answer"], "w", encoding="utf-8") as file:
    json.dump(answer, file)
