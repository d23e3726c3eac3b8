"""From page to page: the next one stands in the place of the one before, and Python goes on."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.driver import FEW, PATIENCE, Host, Lesson, Watch, missing
from tests.browser.test_pages import AXE, paint

COUNTING = """
  window.sessions = [];
  window.ahead = []; // what Python is told to have ready
  window.workers = 0;
  window.holds = []; // how long Python is to wait for the page
  window.pinches = 0; // listeners that would keep BokehJS' figures for ever
  const add = visualViewport.addEventListener;
  visualViewport.addEventListener = (...given) => {
    window.pinches += 1;
    add.apply(visualViewport, given);
  };
  window.Worker = class extends Worker {
    constructor(...given) {
      super(...given);
      window.workers += 1;
      window.python = this;
    }
    postMessage(message, ...rest) {
      if (message.type === "open") window.sessions.push(message.session);
      if (message.type === "hold") window.holds.push(message.milliseconds);
      if (message.type === "ahead") window.ahead.push(`${message.experiment} ${message.language}`);
      if (message.type === "close") window.sessions.splice(sessions.indexOf(message.session), 1);
      super.postMessage(message, ...rest);
    }
  };
"""


HOLDING = """
  window.held = []; // what goes on in tasks of their own
  window.release = () => {
    delete scheduler.yield;
    for (const go of held.splice(0)) go();
  };
  scheduler.yield = () => new Promise((resolve) => held.push(resolve));
"""


def on(page: Page, lesson: str, language: str = "en") -> None:
    expect(page.locator(f"html[lang={language}][data-lesson={lesson}]")).to_be_attached(
        timeout=PATIENCE
    )


def test_one_python_serves_lesson_after_lesson_in_every_language_and_on_the_way_back(
    lesson: Lesson,
) -> None:
    page = lesson.page
    page.add_init_script(COUNTING)
    lesson.open(FEW).ready()
    sentence = lesson.part("sentence")
    lesson.button("perturb").click()  # is left while it runs
    page.locator("a[rel=next]").click()

    on(page, "signal")
    expect(page).to_have_title("How big is the signal, and what does LayerNorm do to its gradient?"
                               " · NormLab")  # fmt: skip
    expect(page.locator("h1")).to_be_focused()
    assert page.evaluate("scrollY") == 0
    assert (
        page.locator("link[hreflang=zh-Hant]").get_attribute("href").endswith("signal/index.html")
    )
    lesson.name = "norms"
    lesson.ready()
    assert lesson.data("hydration") == "linked"
    lesson.keys("depth", "ArrowLeft")
    lesson.settled()
    shown = lesson.state()["depth"]
    assert f"N = {shown}" in lesson.part("sentence")
    lesson.until_query(f"?norms.depth={shown}&v=1")

    page.locator("nav a[hreflang=zh-Hans]").hover()
    page.wait_for_function(
        "() => ahead.includes('norms zh-Hans') && ahead.includes('jacobian zh-Hans')"
    )
    page.locator("nav a[hreflang=zh-Hans]").click()
    on(page, "signal", "zh-Hans")
    lesson.ready()
    assert lesson.data("hydration") == "linked"
    assert sum(name.startswith("norms.") for name in lesson.host.asked) == 2
    assert page.evaluate("ahead.filter((it) => it === 'norms zh-Hans').length") == 1
    assert lesson.query == f"?norms.depth={shown}&v=1"
    assert lesson.state()["depth"] == shown
    assert "层" in lesson.words("depth")

    page.go_back()
    on(page, "signal")
    lesson.ready()
    assert "layers" in lesson.words("depth")
    page.go_back()
    on(page, "warmup")
    expect(page.locator("a[rel=next]")).to_be_in_viewport()  # as the page was left
    lesson.name = "sensitivity"
    lesson.ready()
    assert lesson.part("sentence") == sentence

    assert page.evaluate("workers") == 1
    assert page.evaluate("pinches") == 1
    assert lesson.host.asked.count("worker.js") == 1
    open_now = page.locator("section[data-hydration]").count()
    assert page.evaluate("sessions.length") == open_now
    painted = page.locator("section[data-painted=done]").count()
    assert page.evaluate("Bokeh.documents.length") == painted


def test_while_a_page_that_was_entered_paints_python_computes_nothing(lesson: Lesson) -> None:
    page = lesson.page
    page.add_init_script(COUNTING)
    lesson.open(FEW).ready()
    page.evaluate("python.postMessage({ type: 'hold', milliseconds: 1e6 })")
    page.evaluate("""() => {
      window.done = [];
      python.addEventListener("message", ({ data }) => {
        if (data.type === "state") window.done.push(data.done);
      });
    }""")
    lesson.button("perturb").click()
    lesson.until(state="computing")
    (python,) = page.workers
    python.evaluate(  # many turns, in each of which it would compute
        "async () => { for (let i = 0; i < 300; i++) await new Promise((on) => setTimeout(on)); }"
    )
    assert set(page.evaluate("done")) == {0}
    page.evaluate("python.postMessage({ type: 'hold', milliseconds: 0 })")
    lesson.until(state="ready")
    assert max(page.evaluate("done")) > 0

    page.evaluate("holds.length = 0")
    page.locator("a[rel=next]").click()
    on(page, "signal")
    lesson.name = "norms"
    lesson.ready()
    page.wait_for_function("() => holds.length === 2")
    held, free = page.evaluate("holds")
    assert held > free == 0


def test_pages_around_the_lessons_keep_python_and_lead_back_to_a_setting(lesson: Lesson) -> None:
    page = lesson.open(FEW).until(runtime="live").page
    page.locator("button[data-scheme=dark]").click()
    page.evaluate("() => { window.mark = true; }")
    page.locator("a.brand").click()
    expect(page.locator(".lesson-card").first).to_be_visible()
    expect(page.locator("html[data-lesson]")).to_have_count(0)
    expect(page.locator("[data-scheme=dark]")).to_have_attribute("aria-pressed", "true")
    page.locator(".page-foot a", has_text="teachers").press("Enter")
    expect(page.locator("h1")).to_be_focused()
    with page.context.expect_page() as other:
        page.locator("main a[href*='sensitivity.depth=24']").click(modifiers=["ControlOrMeta"])
    other.value.close()
    page.locator("main a[href*='sensitivity.depth=24']").click()
    on(page, "warmup")
    lesson.ready()
    expect(lesson.section).to_be_focused()
    expect(lesson.section).to_be_in_viewport()
    assert page.url.endswith("en/warmup/index.html?sensitivity.depth=24#sensitivity")
    assert lesson.words("depth") == "N = 24 layers"
    assert "N = 24" in lesson.part("sentence")
    assert page.evaluate("window.mark")


def test_a_page_of_another_build_is_loaded_by_the_browser(lesson: Lesson) -> None:
    page = lesson.open(FEW).until(runtime="live").page
    lesson.watch.allowed = ("404",)
    page.evaluate("() => { window.mark = true; }")
    lesson.host.faults["index.html"] = lambda page: page.replace(b"shell.js", b"shell.js?other")
    page.locator("a[rel=next]").click()
    on(page, "signal")
    lesson.until(runtime="live")
    assert page.evaluate("window.mark") is None
    assert page.url.endswith("/en/signal/index.html")


def test_an_answer_that_is_none_of_our_pages_is_loaded_by_the_browser(lesson: Lesson) -> None:
    page = lesson.open(FEW).until(runtime="live").page
    lesson.watch.allowed = ("404",)
    lesson.host.faults["index.html"] = lambda _: b"<!doctype html><title>Log in</title>"
    page.locator("a[rel=next]").click()
    expect(page).to_have_title("Log in")


def test_one_missed_answer_does_not_cost_a_reader_python(lesson: Lesson) -> None:
    """It was only fetched ahead."""
    page = lesson.open(FEW).until(runtime="live").page
    lesson.watch.allowed = ("404",)
    page.evaluate("() => { window.mark = true; }")
    lesson.host.faults["index.html"] = missing
    with page.expect_response(lambda answer: answer.status == 404):
        page.locator("a[rel=next]").hover()
    del lesson.host.faults["index.html"]
    page.locator("a[rel=next]").click()
    on(page, "signal")
    assert page.evaluate("window.mark")


def test_a_page_has_two_names_and_is_one(lesson: Lesson) -> None:
    page = lesson.page
    page.goto(f"{lesson.host.address}en/warmup/{FEW}#sensitivity")
    lesson.ready()
    page.evaluate("() => { window.mark = true; }")
    page.locator("nav a[hreflang=en]").click()  # to index.html, at the same place
    assert "/index.html?" in page.url
    page.go_back()
    lesson.keys("depth", "ArrowLeft")
    lesson.until_query(f"?sensitivity.depth={lesson.state()['depth']}&sensitivity.seeds=4&v=1")
    assert page.evaluate("window.mark")


def test_until_a_step_back_is_done_no_link_leads_astray(lesson: Lesson) -> None:
    page = lesson.open(FEW).until(runtime="live").page
    page.evaluate("() => { window.mark = true; }")
    page.locator("a[rel=next]").click()
    on(page, "signal")
    held = lesson.host.hold("index.html")
    page.go_back(wait_until="commit")
    page.locator("a[rel=next]").click()  # the address is the first lesson's, the page the second's
    held.set()
    on(page, "warmup")
    assert page.evaluate("window.mark")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_on_a_page_that_was_reached_from_another(
    new_context: Callable[..., BrowserContext], host: Host, watch: Watch, scheme: str
) -> None:
    page = new_context(host.address, color_scheme=scheme, bypass_csp=True).new_page()
    lesson = Lesson(page, host, watch).open(FEW, slug="depth").until(runtime="live")
    page.locator("nav a[hreflang=zh-Hant]").click()
    on(page, "depth", "zh-Hant")
    lesson.name = "merging"
    lesson.ready()
    paint(page)
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run()")
    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found["violations"]] == []


def test_a_page_that_is_left_between_a_figures_building_and_its_drawing_keeps_nothing(
    lesson: Lesson,
) -> None:
    page = lesson.page
    page.add_init_script(HOLDING)
    lesson.open("")
    page.wait_for_function("() => held.length === 1")
    assert lesson.section.locator('[data-slot^="figure:"] > *').count() == 0  # built, not drawn
    page.locator("a[rel=next]").click()
    on(page, "signal")
    page.evaluate("release()")
    lesson.name = "norms"
    lesson.ready()
    painted = page.locator("section[data-painted=done]").count()
    assert page.evaluate("Bokeh.documents.length") == painted
