"""What a page shows before, and without, any Python."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.driver import FEW, PATIENCE, Host, Lesson, Watch

NewContext = Callable[..., BrowserContext]
TINY: dict[str, Any] = {"viewport": {"width": 320, "height": 256}}

RESTORED = {
    *("pyodide.js", "pyodide.asm.js", "lock.json", "python.gz.bin"),
    *("snapshot.json", "snapshot.gz.bin", "native.gz.bin", "data.gz.bin"),
}
"""What a page downloads where nothing goes wrong."""


def test_figures_words_and_controls_are_there_before_python(lesson: Lesson) -> None:
    lesson.host.hold("python.gz.bin")
    lesson.open().painted()
    assert lesson.page.locator("html").get_attribute("data-runtime") == "loading"
    assert lesson.data("state") == "prerendered"
    assert any(len(column["x"]) > 0 for column in lesson.columns("sensitivity"))
    assert any(len(column["x"]) > 0 for column in lesson.columns("beta"))
    assert "N = 12" in lesson.part("sentence")
    assert lesson.words("depth") == "N = 12 layers"
    expect(lesson.handle("depth")).to_have_attribute("aria-valuetext", "N = 12 layers")


def test_every_figure_is_painted_once(lesson: Lesson) -> None:
    lesson.host.hold("python.gz.bin")
    lesson.open().painted()
    lesson.page.evaluate("""() => {
      window.paintings = [];
      const { PlotView } = Bokeh.require("models/plots/plot_canvas");
      const { _actual_paint } = PlotView.prototype;
      PlotView.prototype._actual_paint = function () {
        window.paintings.push(this.model.id);
        _actual_paint.call(this);
      };
    }""")
    lesson.name = "gradients"
    lesson.painted()
    for _ in range(3):
        lesson.page.evaluate("() => new Promise(requestAnimationFrame)")
    figures = lesson.section.locator('[data-slot^="figure:"]').count()
    assert figures > 0
    assert len(lesson.page.evaluate("paintings")) == figures


def test_the_keyboard_stays_where_it_is_when_python_writes_its_words(lesson: Lesson) -> None:
    held = lesson.host.hold("python.gz.bin")
    lesson.name = "block"
    lesson.open().painted()
    link = lesson.section.locator("table a:visible").nth(2)
    link.focus()
    held.set()
    lesson.ready()
    expect(link).to_be_focused()


def test_the_status_line_names_stage_and_bytes(lesson: Lesson) -> None:
    held = lesson.host.hold("snapshot.gz.bin")
    lesson.open()
    status = lesson.page.locator("#status")
    total = (
        sum(file["bytes"] for file in lesson.config["files"] if Path(file["name"]).name in RESTORED)
        / 1e6
    )
    expect(status.locator("[data-bytes]")).to_contain_text(f"of {total:.1f} MB", timeout=PATIENCE)
    held.set()
    lesson.until(runtime="live")
    expect(status).to_have_text("Live: NumPy 2.2.5 is computing in your browser.")


def test_a_move_before_python_shows_in_words_and_address_and_marks_the_figures(
    lesson: Lesson,
) -> None:
    lesson.host.hold("python.gz.bin")
    lesson.open().painted()
    assert lesson.data("stale") is None
    lesson.keys("depth", "ArrowRight", "ArrowRight")
    assert lesson.words("depth") == "N = 14 layers"
    expect(lesson.section.locator('[data-part="stale"]')).to_contain_text("N = 12 layers")
    assert lesson.data("stale") is not None
    lesson.until_query("?sensitivity.depth=14&v=1")
    lesson.keys("depth", "ArrowLeft", "ArrowLeft")
    assert lesson.data("stale") is None
    lesson.until_query("")


def test_text_numbers_and_tables_are_there_without_javascript(
    new_context: NewContext, host: Host, watch: Watch
) -> None:
    context = new_context(host.address, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{host.address}en/warmup/")
    section = page.locator("section[data-experiment=sensitivity]")
    expect(section.locator('[data-part="sentence"]')).to_contain_text("N = 12")
    assert section.locator('[data-part="table"] td').count() > 20
    expect(section.locator('[data-part="table"]')).to_be_visible()
    expect(page.locator("noscript p")).to_be_visible()
    expect(page.locator("noscript svg.thumbnail")).to_be_visible()
    code = section.locator("details.code")
    expect(code.locator("pre").first).to_be_hidden()
    code.locator("summary").first.click()
    expect(code.locator("p.help")).to_be_visible()


def test_a_page_opened_as_a_file_is_painted_and_says_why_it_does_not_compute(
    new_context: NewContext, site: Path, host: Host, watch: Watch
) -> None:
    # Browsers refuse modules from files, and say so.
    watch.allowed = ("python.js", "page.js")
    context = new_context("file:")
    lesson = Lesson(context.new_page(), host, watch)
    lesson.page.goto((site / "en" / "warmup" / "index.html").as_uri())
    lesson.painted()
    assert any(len(column["x"]) > 0 for column in lesson.columns("sensitivity"))
    expect(lesson.page.locator("#status")).to_contain_text("opened as a file")
    assert lesson.page.locator("html").get_attribute("data-runtime") == "static"


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_a_tiny_window_shows_all_and_scrolls_one_way_only(
    new_context: NewContext, host: Host, watch: Watch, language: str
) -> None:
    lesson = Lesson(new_context(host.address, **TINY).new_page(), host, watch)
    lesson.open(FEW, language=language).ready()
    width = lesson.page.evaluate("document.scrollingElement.scrollWidth")
    assert width <= TINY["viewport"]["width"]
    for slot in ("figure:sensitivity", "figure:beta"):
        box = lesson.section.locator(f'[data-slot="{slot}"]').bounding_box()
        assert box is not None
        assert 200 < box["width"] <= TINY["viewport"]["width"]
    lesson.keys("depth", "ArrowLeft")
    lesson.settled()
    assert lesson.words("depth").find("11") >= 0
    assert "11" in lesson.part("sentence")


def test_a_site_below_another_path_becomes_live(
    new_context: NewContext, site: Path, watch: Watch, serve: Callable[..., Host]
) -> None:
    host = serve(site, "/courses/norm/")
    lesson = Lesson(new_context(host.address).new_page(), host, watch)
    lesson.open(FEW).ready()
    assert lesson.data("hydration") == "linked"


def test_a_keyboard_that_is_quicker_than_the_painting_finds_the_controls(lesson: Lesson) -> None:
    (file,) = (lesson.host.site / "documents" / "en").glob("merging.*.js")
    held = lesson.host.hold(file.name)
    lesson.name = "merging"
    page = lesson.open(slug="depth").page
    place = lesson.section.locator("[data-slot]").first
    lesson.section.locator(".asks").evaluate("it => { it.tabIndex = -1; it.focus(); }")
    page.keyboard.press("Tab")
    expect(place).to_be_focused()
    assert lesson.data("painted") is None
    expect(place).to_have_accessible_name("What to do")
    held.set()
    lesson.until(painted="done")
    assert place.evaluate(
        "(it) => it !== document.activeElement && it.contains(document.activeElement)"
    )
    assert lesson.section.locator("[data-slot][tabindex]").count() == 0


def test_the_keyboard_at_the_place_of_a_button_that_is_off_goes_to_one_that_is_on(
    lesson: Lesson,
) -> None:
    (file,) = (lesson.host.site / "documents" / "en").glob("sensitivity.*.js")
    held = lesson.host.hold(file.name)
    lesson.open()
    lesson.section.locator('[data-slot="button:stop"]').focus()
    held.set()
    lesson.until(painted="done")
    expect(lesson.button("perturb")).to_be_focused()
