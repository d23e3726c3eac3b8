"""The two ways to a live Python: a restored snapshot, and the plain boot whenever that fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from app.site import browser as chromium
from tests.browser.driver import FEW, Fault, Host, Lesson, Watch, damaged, missing, truncated

SLOW = 1e6  # bytes per second, that is 8 Mbit/s
PLAIN = ["stdlib.gz.bin", "numpy.gz.bin", "app.gz.bin", "bokeh.gz.bin", "panel.gz.bin"]
CORE = ["pyodide.js", "pyodide.asm.js", "lock.json", "python.gz.bin"]
NOTE_TOTALS = """
totals = new Set();
const look = () => {
  const shown = document.querySelector("#status [data-bytes]")?.textContent;
  if (shown) totals.add(shown.match(/of ([\\d.]+) MB/)[1]);
};
const all = { childList: true, subtree: true, characterData: true };
new MutationObserver(look).observe(document, all);
"""
"""The status line's numbers of bytes in all, as they change."""
UNITERABLE = b"""
delete ReadableStream.prototype.values;
delete ReadableStream.prototype[Symbol.asyncIterator];
"""
"""Chrome before 124."""
PATIENT = """
const later = setTimeout.bind(window);
setTimeout = (work, delay, ...more) => (delay >= 100 ? 0 : later(work, delay, ...more));
"""
"""Nothing on the page is given up because it is long in coming."""


def digit_of(key: bytes) -> Fault:
    """The plan with another first digit in one of its values."""

    def fault(content: bytes) -> bytes:
        start = content.index(key) + len(key)
        other = b"1" if content[start : start + 1] != b"1" else b"2"
        return content[:start] + other + content[start + 1 :]

    return fault


SPOILED = {
    "the plan is missing": ("snapshot.json", missing),
    "the plan is cut off": ("snapshot.json", truncated),
    "the memory is missing": ("snapshot.gz.bin", missing),
    "the memory is cut off": ("snapshot.gz.bin", truncated),
    "the memory has wrong bytes": ("snapshot.gz.bin", damaged),
    "the libraries are missing": ("native.gz.bin", missing),
    "the libraries have wrong bytes": ("native.gz.bin", damaged),
    "the data are cut off": ("data.gz.bin", truncated),
    "the memory is of another build": ("snapshot.json", digit_of(b'"build": "')),
    "the memory is of another length": ("snapshot.json", digit_of(b'"length": ')),
    "the memory to begin with is another one": ("snapshot.json", digit_of(b'"sum": ')),
    "the list of objects begins elsewhere": ("snapshot.json", digit_of(b'"frozen": ')),
    "NumPy's first digits are wrong": ("snapshot.json", digit_of(b'"digits": "0x1.')),
    "the loader has not the option": (
        "pyodide.js",
        lambda content: content.replace(b"_loadSnapshot", b"_otherOption_"),
    ),
}


@pytest.fixture
def on_disk(tmp_path: Path, browser: Browser, host: Host, watch: Watch) -> Iterator[Lesson]:
    """A lesson in a profile on disk: one in memory has no room for a snapshot."""
    with browser.browser_type.launch_persistent_context(
        tmp_path,
        executable_path=chromium.ensure(),
        args=["--no-sandbox"],
        service_workers="block",
    ) as context:
        watch.on(context, host.address)
        yield Lesson(context.new_page(), host, watch)


def test_a_page_restores_the_snapshot_and_asks_for_nothing_that_only_a_plain_boot_needs(
    lesson: Lesson,
) -> None:
    lesson.open(FEW).ready()
    assert lesson.page.locator("html").get_attribute("data-boot") == "snapshot"
    assert lesson.data("hydration") == "linked"
    assert not set(PLAIN) & set(lesson.host.asked)


def test_a_browser_that_cannot_iterate_streams_restores_the_snapshot(lesson: Lesson) -> None:
    lesson.host.faults["worker.js"] = lambda script: UNITERABLE + script
    lesson.open(FEW).ready()
    assert lesson.page.locator("html").get_attribute("data-boot") == "snapshot"


def test_both_ways_show_the_same_words_and_digits(lesson: Lesson) -> None:
    shown = []
    for boot in ("snapshot", "plain"):
        lesson.open(FEW).ready()
        assert lesson.page.locator("html").get_attribute("data-boot") == boot
        shown.append([lesson.part(part) for part in ("sentence", "table", "details")])
        lesson.host.faults["snapshot.json"] = missing
        lesson.watch.allowed = ("404",)
    assert shown[0] == shown[1]


def test_on_a_slow_line_python_boots_plainly_and_the_bytes_in_all_stay_what_they_were(
    lesson: Lesson,
) -> None:
    said: list[str] = []
    lesson.page.on("console", lambda message: said.append(message.text))
    lesson.page.add_init_script(NOTE_TOTALS)
    lesson.host.pace = SLOW
    lesson.open(FEW).until(runtime="live")
    assert lesson.page.locator("html").get_attribute("data-boot") == "plain"
    assert [text for text in said if "boots plainly" in text and "kB/s" in text]
    assert [name for name in lesson.host.asked if name in PLAIN] == PLAIN
    wanted = sum(f["bytes"] for f in lesson.config["files"] if f["name"] in [*CORE, *PLAIN])
    assert lesson.page.evaluate("[...totals]") == [f"{wanted / 1e6:.1f}"]


def test_on_a_slow_line_pythons_files_come_while_the_first_figure_is_painted_and_wait_for_it(
    lesson: Lesson,
) -> None:
    lesson.page.add_init_script(PATIENT)
    lesson.host.pace = SLOW
    (first,) = (lesson.host.site / "documents" / "en").glob("schedule.*.js")
    held = lesson.host.hold(first.name)
    core = "python.gz.bin"
    with lesson.page.expect_event("requestfinished", lambda it: it.url.endswith(core)):
        lesson.open()
    asked = lesson.host.asked
    of_figures = [at for at, name in enumerate(asked) if name.startswith("bokeh")]
    assert of_figures
    assert max(of_figures) < asked.index(core)
    assert "pyodide.asm.js" not in asked
    held.set()
    lesson.until(runtime="live")


def test_a_snapshot_that_the_browser_has_is_taken_on_a_slow_line_too(on_disk: Lesson) -> None:
    for on_disk.host.pace in (None, SLOW):
        on_disk.open(FEW).until(runtime="live")
        assert on_disk.page.locator("html").get_attribute("data-boot") == "snapshot"


def test_a_plain_visit_before_is_not_taken_for_a_snapshot(on_disk: Lesson) -> None:
    on_disk.host.pace = SLOW
    for _ in range(2):
        on_disk.open(FEW).until(runtime="live")
        assert on_disk.page.locator("html").get_attribute("data-boot") == "plain"
    assert "snapshot.gz.bin" not in on_disk.host.asked


def test_a_restore_that_failed_is_not_taken_for_one_that_did_not(on_disk: Lesson) -> None:
    on_disk.host.faults["snapshot.gz.bin"] = missing
    on_disk.watch.allowed = ("404",)
    on_disk.open(FEW).until(runtime="live")
    on_disk.host.faults.clear()
    on_disk.host.asked.clear()
    on_disk.open(FEW).until(runtime="live")
    assert on_disk.page.locator("html").get_attribute("data-boot") == "plain"
    assert "snapshot.gz.bin" not in on_disk.host.asked


@pytest.mark.parametrize("case", SPOILED)
def test_when_a_restore_fails_the_plain_boot_takes_over(lesson: Lesson, case: str) -> None:
    name, fault = SPOILED[case]
    lesson.host.faults[name] = fault
    # The browser reports a missing file; a Python that starts without its library says so.
    lesson.watch.allowed = ("",) if name == "pyodide.js" else ("404",)
    said: list[str] = []
    lesson.page.on("console", lambda message: said.append(f"{message.type}: {message.text}"))
    lesson.open(FEW).ready()
    assert lesson.page.locator("html").get_attribute("data-boot") == "plain"
    assert lesson.data("hydration") == "linked"
    (line,) = [text for text in said if "boots plainly" in text]
    assert line.startswith("info: ")
    if fault in (missing, truncated, damaged):
        assert f"{name}: " in line
