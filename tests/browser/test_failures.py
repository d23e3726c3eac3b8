"""A runtime that cannot come: a message that names the file, a retry, and a page that stands."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.driver import FEW, Fault, Lesson, damaged, missing, truncated

SPOILED = [
    ("python.gz.bin", missing),
    ("python.gz.bin", truncated),
    ("python.gz.bin", damaged),
    ("stdlib.gz.bin", damaged),
    ("numpy.gz.bin", truncated),
    ("panel.gz.bin", damaged),
    ("app.gz.bin", missing),
    ("lock.json", truncated),
    ("pyodide.js", missing),
    ("pyodide.asm.js", truncated),
    ("worker.js", missing),
]


def no_snapshot(name: str) -> dict[str, Fault]:
    """Makes the page boot plainly where that alone needs the file."""
    needed = name.endswith(".gz.bin") and name != "python.gz.bin"
    return {"snapshot.json": missing} if needed else {}


@pytest.mark.parametrize(("name", "fault"), SPOILED, ids=lambda it: getattr(it, "__name__", it))
def test_a_spoiled_file_gives_a_message_and_leaves_the_page_standing(
    lesson: Lesson, name: str, fault: Fault
) -> None:
    lesson.host.faults |= {**no_snapshot(name), name: fault}
    lesson.watch.allowed = ("",)  # the browser and the page complain of it in their own ways
    lesson.open().painted().until(runtime="failed")
    status = lesson.page.locator("#status")
    expect(status).to_contain_text(name)
    expect(status.get_by_role("button", name="Try again")).to_be_visible()
    assert lesson.data("state") == "prerendered"
    assert "N = 12" in lesson.part("sentence")
    assert any(len(column["x"]) > 0 for column in lesson.columns("sensitivity"))


@pytest.mark.parametrize("name", ["panel.gz.bin", "pyodide.asm.js", "worker.js"])
def test_a_retry_fetches_again_and_becomes_live_with_the_readers_values(
    lesson: Lesson, name: str
) -> None:
    lesson.host.faults |= {**no_snapshot(name), name: truncated}
    lesson.watch.allowed = ("",)
    lesson.open(FEW).painted().until(runtime="failed")
    lesson.keys("depth", "ArrowLeft")
    del lesson.host.faults[name]
    lesson.page.get_by_role("button", name="Try again").click()
    lesson.ready()
    assert lesson.data("hydration") == "linked"
    assert lesson.data("stale") is None
    assert "N = 11" in lesson.part("sentence")


@pytest.mark.parametrize("name", ["bokeh.min.js", "bokeh-widgets.min.js", "sensitivity.*.js"])
def test_a_page_that_cannot_be_painted_says_so_and_promises_nothing(
    lesson: Lesson, site: Path, name: str
) -> None:
    (file,) = [*(site / "assets").rglob(name), *(site / "documents" / "en").glob(name)]
    lesson.host.faults[file.name] = missing
    lesson.watch.allowed = ("404", "could not be", "okeh")
    lesson.open("?depth=20")
    lesson.section.scroll_into_view_if_needed()
    lesson.until(state="error")
    note = lesson.section.locator("[data-note]")
    expect(note).to_contain_text("could not be drawn")
    if name.startswith("bokeh"):  # nothing at all can be drawn: Python would run in vain
        lesson.until(runtime="failed")
        expect(lesson.page.locator("#status")).to_contain_text(f"“{name}”, did not arrive whole")
    else:
        lesson.until(runtime="live")
    expect(note).to_contain_text("could not be drawn")
    expect(lesson.section.locator('[data-part="stale"]')).to_contain_text("were not computed")
    assert "N = 12" in lesson.part("sentence")


@pytest.mark.parametrize(("name", "fault"), [("page.js", missing), ("paint.js", truncated)])
def test_without_a_script_of_its_own_the_page_says_so_and_can_be_loaded_again(
    lesson: Lesson, name: str, fault: Fault
) -> None:
    lesson.host.faults[name] = fault
    lesson.watch.allowed = ("",)
    lesson.open(FEW)
    status = lesson.page.locator("#status")
    expect(status).to_contain_text(f"“{name}”, did not arrive whole")
    if name == "page.js":
        lesson.painted().keys("depth", "ArrowLeft")
        stale = lesson.section.locator('[data-part="stale"]')
        expect(stale).to_contain_text("were not computed")
        expect(stale).not_to_contain_text("Python")
        expect(lesson.section.get_by_role("button", name="Picture")).to_be_hidden()
    del lesson.host.faults[name]
    status.get_by_role("button", name="Load again").click()
    lesson.ready()
    expect(status).to_contain_text("Live")
    assert lesson.host.asked.count("python.gz.bin") == 1  # before, it could only have run in vain


def test_what_a_host_has_put_into_the_page_and_a_filter_stops_is_nobodys_loss(
    lesson: Lesson,
) -> None:
    foreign = (
        b'<img src="../../none.png" alt=""><script defer src="../../beacon.js"></script></body>'
    )
    lesson.host.faults["index.html"] = lambda page: page.replace(b"</body>", foreign)
    lesson.watch.allowed = ("404",)
    lesson.open(FEW).ready()
    assert lesson.host.asked.count("404.html") == 2
    expect(lesson.page.locator("#status")).to_contain_text("Live")


def test_a_worker_that_dies_gives_a_message_and_a_retry_keeps_the_readers_values(
    lesson: Lesson,
) -> None:
    lesson.watch.allowed = ("out of memory",)
    lesson.open(f"{FEW}&sensitivity.depth=8").ready()
    (worker,) = lesson.page.workers
    worker.evaluate("() => void setTimeout(() => { throw new RangeError('out of memory'); })")
    lesson.until(runtime="failed")
    expect(lesson.page.locator("#status")).to_contain_text("Python has broken off")
    sentence = lesson.part("sentence")
    assert "N = 8" in sentence
    lesson.page.get_by_role("button", name="Try again").click()
    lesson.ready()
    assert lesson.part("sentence") == sentence


def test_webassembly_that_is_whole_but_wrong_is_noticed(lesson: Lesson) -> None:
    """Byte count and packing are right: only compiling shows it, and Pyodide says nothing."""
    packed = gzip.compress(b"\0asm\1\0\0\0" + b"no such section" * 1000)
    lesson.host.faults["python.gz.bin"] = lambda _: packed
    lesson.host.faults["index.html"] = with_bytes("python.gz.bin", len(packed))
    lesson.watch.allowed = ("",)
    lesson.open().until(runtime="failed")
    expect(lesson.page.locator("#status")).to_contain_text("python.gz.bin")


def with_bytes(name: str, count: int) -> Callable[[bytes], bytes]:
    """The page, with another byte count in its list of runtime files."""

    def changed(page: bytes) -> bytes:
        start = page.index(b'id="normlab-page">') + len(b'id="normlab-page">')
        end = page.index(b"</script>", start)
        config = json.loads(page[start:end])
        for file in config["files"]:
            if file["name"] == name:
                file["bytes"] = count
        return page[:start] + json.dumps(config).encode() + page[end:]

    return changed
