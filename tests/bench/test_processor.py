"""Whose a thread is, and that a process below this one is counted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from bench import harness, processor

RENDERER = "/usr/lib/chromium/chromium --type=renderer --no-sandbox"

pytestmark = pytest.mark.skipif(not Path("/proc/self/schedstat").exists(), reason="Linux only")


@pytest.mark.parametrize(
    ("command", "thread", "part"),
    [
        (RENDERER, "chromium", "page"),
        (RENDERER, "DedicatedWorker", "python"),
        (RENDERER, "ThreadPoolForeg", "helpers"),
        ("/usr/lib/chromium/chromium --type=gpu-process", "chromium", "browser"),
        ("/usr/lib/chromium/chromium --user-data-dir=/tmp/x", "chromium", "browser"),
        ("", "python", "bench"),
    ],
)
def test_a_thread_belongs_to_a_part(command: str, thread: str, part: str) -> None:
    assert processor.part_of(command, thread) == part


def of(process: int) -> dict[tuple[str, str], float]:
    return {key: ms for key, ms in processor.spent().items() if f"/{process}/task/" in key[1]}


def test_what_a_process_below_this_one_spends_is_counted() -> None:
    busy = "import sys; sys.stdin.readline(); sum(range(3_000_000)); print(1, flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", busy], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        assert any(busy in command for _, command in harness.processes())
        before = of(child.pid)
        child.stdin.write("\n")
        child.stdin.flush()
        child.stdout.readline()
        after = of(child.pid)
        child.communicate("\n")
    assert after.keys() == before.keys() != set()
    assert {part for part, _ in after} == {"bench"}
    assert sum(after.values()) - sum(before.values()) > 5
