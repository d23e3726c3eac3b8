"""A link says what a page shows, and no page shows another state's numbers as the link's."""

from __future__ import annotations

from playwright.sync_api import expect

from tests.browser.driver import FEW, Lesson

ASKED = "?sensitivity.depth=7&sensitivity.width=64&sensitivity.seeds=4&sensitivity.seed=5&v=1"


def test_a_links_values_stand_in_the_controls_at_once_and_the_figures_are_marked(
    lesson: Lesson,
) -> None:
    held = lesson.host.hold("python.gz.bin")
    lesson.open(ASKED).painted()
    stale = lesson.section.locator('[data-part="stale"]')
    expect(stale).to_contain_text("N = 12 layers")
    expect(stale).to_contain_text("seed 0")
    assert lesson.data("stale") is not None
    assert lesson.words("depth") == "N = 7 layers"
    assert {**lesson.state(), "depth": "7", "width": "64", "seed": "5"} == lesson.state()
    assert lesson.query == ASKED
    held.set()
    lesson.ready()
    assert lesson.data("stale") is None
    expect(stale).to_be_empty()
    assert "N = 7" in lesson.part("sentence")
    assert "N = 12" not in lesson.part("sentence")
    assert lesson.query == ASKED


def test_the_mark_stays_when_python_never_comes(lesson: Lesson) -> None:
    lesson.host.faults["python.gz.bin"] = lambda _: None
    lesson.watch.allowed = ("python.gz.bin",)
    lesson.open(ASKED).painted().until(runtime="failed")
    assert lesson.data("stale") is not None
    expect(lesson.section.locator('[data-part="stale"]')).to_contain_text("were not computed")
    assert lesson.words("depth") == "N = 7 layers"


def test_the_same_link_gives_the_same_digits(lesson: Lesson) -> None:
    def numbers() -> list[object]:
        lesson.open(ASKED).ready()
        lesson.press("perturb").settled()
        return [*map(lesson.part, ("sentence", "table")), lesson.columns("sensitivity")]

    first = numbers()
    assert "seed" in str(first[0])
    assert numbers() == first


def test_reloading_after_moves_shows_what_was_shown(lesson: Lesson) -> None:
    lesson.open(FEW).ready()
    lesson.keys("depth", "ArrowLeft", "ArrowLeft", "ArrowLeft")
    lesson.settled()
    lesson.until_query("?sensitivity.depth=9&sensitivity.seeds=4&v=1")
    sentence, table = lesson.part("sentence"), lesson.part("table")
    lesson.page.reload()
    lesson.ready()
    assert lesson.words("depth") == "N = 9 layers"
    assert (lesson.part("sentence"), lesson.part("table")) == (sentence, table)


def test_a_move_just_before_leaving_is_in_the_address(lesson: Lesson) -> None:
    lesson.open(FEW).ready()
    lesson.keys("depth", "ArrowLeft")
    lesson.page.goto("about:blank")
    lesson.page.go_back()
    assert lesson.query == "?sensitivity.depth=11&sensitivity.seeds=4&v=1"


def test_what_a_link_gets_wrong_is_said_and_put_right(lesson: Lesson) -> None:
    held = lesson.host.hold("python.gz.bin")
    lesson.open("?depth=500&dpeth=3&sensitivity.attention=linear&seeds=4&v=0#sensitivity").painted()
    note = lesson.section.locator("[data-note]")
    expect(note).to_contain_text("Depth N: 500 is outside 1 … 48, so 48 is used")
    expect(note).to_contain_text("“linear” is no value")
    expect(note).to_contain_text("“dpeth”")
    expect(note).to_contain_text("version 0")
    assert lesson.state()["depth"] == "48"
    assert lesson.state()["attention"] == "uniform"
    lesson.button("perturb").click()  # what waits for Python is said as well, not instead
    expect(note).to_contain_text("as soon as Python has started")
    held.set()
    lesson.ready()
    expect(note).not_to_contain_text("as soon as Python has started")
    expect(note).to_contain_text("Depth N: 500 is outside 1 … 48, so 48 is used")
    lesson.keys("depth", "Home")
    expect(note).to_be_empty()


def test_an_unprefixed_key_is_understood(lesson: Lesson) -> None:
    lesson.host.hold("python.gz.bin")
    lesson.open("?depth=20").painted()
    assert lesson.words("depth") == "N = 20 layers"


def test_another_language_keeps_the_state(lesson: Lesson) -> None:
    lesson.open(ASKED).ready()
    lesson.page.locator("nav a[hreflang=zh-Hans]").click()
    expect(lesson.page.locator("html")).to_have_attribute("lang", "zh-Hans")
    lesson.ready()
    assert lesson.query == ASKED
    assert lesson.data("hydration") == "linked"
    assert "7" in lesson.words("depth")
    assert "N = 7" in lesson.part("sentence").replace("N=7", "N = 7")


def test_a_link_in_the_text_changes_its_experiment_alone_and_python_goes_on(lesson: Lesson) -> None:
    lesson.name = "merging"
    page = lesson.open("?depth.seed=1", slug="depth").ready().page
    page.locator("button[data-scheme=dark]").click()  # goes along with links to other pages
    page.evaluate("() => { window.mark = true; }")
    for answer in page.locator("details:has(a[href^='?'])").all():
        answer.evaluate("it => { it.open = true; }")
    before = [lesson.part("sentence"), lesson.columns("errors")]

    page.locator("main a", has_text="Leave a late layer out").click()
    lesson.ready()
    lesson.until_query("?depth.seed=1&merging.quantity=drop&merging.layer=20&v=1")
    assert lesson.state()["layer"] == "20"
    dropped = [lesson.part("sentence"), lesson.columns("errors")]
    assert dropped != before
    expect(lesson.section).to_be_focused()
    expect(lesson.section).to_be_in_viewport()

    page.locator("main a", has_text="merge it with the next").click()
    lesson.until_query("?depth.seed=1&merging.layer=20&v=1")
    lesson.settled()
    page.go_back()
    lesson.until_query("?depth.seed=1&merging.quantity=drop&merging.layer=20&v=1")
    lesson.settled()
    assert [lesson.part("sentence"), lesson.columns("errors")] == dropped
    page.go_back()
    lesson.until_query("?depth.seed=1&v=1")
    lesson.settled()
    assert [lesson.part("sentence"), lesson.columns("errors")] == before
    page.evaluate(
        """() => {
          document.querySelector("main a[href^='?']").search = "?merging.depth=500&v=0";
        }"""
    )
    page.locator("main a[href*='depth=500']").click()
    note = lesson.section.locator("[data-note]")
    expect(note).to_contain_text("500 is outside")
    expect(note).to_contain_text("version 0")
    assert page.evaluate("window.mark")
