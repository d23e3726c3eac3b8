"""The pages around the experiments: colours, languages, reading without help, and no jumps."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from app.site.environment import ROOT
from app.site.fronts import ABOUT
from app.site.pages import LESSONS as LESSONS_FOLDER
from app.site.pages import read_lessons
from app.ui.strings import LANGUAGES, strings
from tests.browser.driver import PATIENCE, Host, Lesson

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
LESSONS = [lesson.slug for lesson in read_lessons(LESSONS_FOLDER)]
AROUND = ["", *(f"{name}/" for name in ABOUT)]
EVERY = [*AROUND, *(f"{slug}/" for slug in LESSONS)]
# Every page in English in both schemes. In another language the words differ and the marks are
# the same: there each page once, and of the converted language those that are words alone.
PAGES = (
    ("404.html", "light"),
    *((f"en/{page}index.html", scheme) for page in EVERY for scheme in ("light", "dark")),
    *((f"zh-Hans/{page}index.html", "dark") for page in EVERY),
    *((f"zh-Hant/{page}index.html", "light") for page in AROUND),
)
NewContext = Callable[..., BrowserContext]


def paint(page: Page) -> None:
    """See every experiment's figures."""
    for section in page.locator("section[data-experiment]").all():
        section.scroll_into_view_if_needed()
        expect(section).to_have_attribute("data-painted", "done", timeout=PATIENCE)


@pytest.mark.parametrize(("address", "scheme"), PAGES)
def test_axe_finds_nothing_on_any_page(
    new_context: NewContext, host: Host, address: str, scheme: str
) -> None:
    page = new_context(host.address, color_scheme=scheme, bypass_csp=True).new_page()
    page.goto(host.address + address)
    paint(page)
    for details in page.locator("details").all():
        details.evaluate("it => { it.open = true; }")
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run()")
    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found["violations"]] == []


def test_a_chosen_scheme_goes_along_but_stays_out_of_the_address(lesson: Lesson) -> None:
    page = lesson.open().page
    root = page.locator("html")
    page.locator("button[data-scheme=dark]").click()
    expect(root).to_have_attribute("data-theme", "dark")
    expect(page.locator("[data-scheme][aria-pressed=true]")).to_have_attribute(
        "data-scheme", "dark"
    )
    page.locator("a[hreflang=zh-Hans]").click()
    page.wait_for_selector("html[lang=zh-Hans]")
    expect(root).to_have_attribute("data-theme", "dark")
    assert "theme" not in page.url
    page.locator("button[data-scheme=auto]").click()
    assert page.evaluate("document.documentElement.dataset.theme") is None


@pytest.mark.parametrize(
    ("locale", "language"),
    [("en-GB", "en"), ("zh-CN", "zh-Hans"), ("zh-TW", "zh-Hant"), ("zh-HK", "zh-Hant")],
)
def test_the_front_door_leads_to_the_readers_language(
    new_context: NewContext, host: Host, locale: str, language: str
) -> None:
    page = new_context(host.address, locale=locale).new_page()
    page.goto(host.address)
    page.wait_for_url(f"**/{language}/index.html")
    assert page.locator("html").get_attribute("lang") == language


def test_the_front_door_stays_open_for_other_languages(new_context: NewContext, host: Host) -> None:
    page = new_context(host.address, locale="fr-FR").new_page()
    page.goto(host.address)
    page.wait_for_load_state("networkidle")
    assert page.url == host.address
    page.locator("main a[hreflang=en]").click()
    page.wait_for_url("**/en/index.html")


@pytest.mark.parametrize("width", [360, 1100, 1400])
def test_painting_moves_nothing(new_context: NewContext, host: Host, width: int) -> None:
    scripts = host.hold("paint.js")
    page = new_context(host.address, viewport={"width": width, "height": 800}).new_page()
    page.goto(f"{host.address}en/warmup/index.html", wait_until="commit")
    below = page.locator("#limits")
    below.wait_for()
    # Not `wait_for_function`: it evaluates its string again and again, which the policy forbids.
    page.evaluate(
        """async () => {
          const arrived = () => document.fonts.status === "loaded"
            && [...document.fonts].some((it) => it.status === "loaded");
          while (!arrived()) await new Promise(requestAnimationFrame);
        }"""
    )
    before = below.evaluate("it => it.getBoundingClientRect().top + scrollY")
    scripts.set()
    paint(page)
    after = below.evaluate("it => it.getBoundingClientRect().top + scrollY")
    assert abs(after - before) <= 2


@pytest.mark.parametrize(
    "lack", ["delete window.DecompressionStream", "CSS.supports = () => false"]
)
def test_an_old_browser_is_told_so_and_keeps_the_page(
    new_context: NewContext, host: Host, lack: str
) -> None:
    context = new_context(host.address)
    context.add_init_script(lack)
    page = context.new_page()
    page.goto(f"{host.address}en/warmup/index.html")
    expect(page.locator("#status")).to_have_text(strings("en")("site.too_old"))
    paint(page)
    expect(page.locator("html")).to_have_attribute("data-runtime", "failed")
    assert "worker.js" not in host.asked


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_scripts_nothing_is_offered_that_would_not_work(
    new_context: NewContext, host: Host, language: str
) -> None:
    page = new_context(host.address, java_script_enabled=False).new_page()
    page.goto(f"{host.address}{language}/warmup/index.html")
    expect(page.locator(".noscript")).to_be_visible()
    expect(page.locator("[data-scheme]").first).to_be_hidden()
    expect(page.locator("[data-slot]").first).to_be_hidden()
    for sentence in page.locator("[data-part=sentence]").all():
        expect(sentence).to_be_visible()
    expect(page.locator("table").first).to_be_visible()
    told = page.locator(":is(p, figure)[data-when]").all()
    assert [each.get_attribute("data-when") for each in told if not each.is_visible()] == []
    expect(page.locator("[data-experiment=theorem] [data-sets]").first).to_be_visible()
    for button in page.locator("[data-sets]:visible").all():  # the theorem's signs are its text
        expect(button).to_have_css("pointer-events", "none")
    page.goto(f"{host.address}{language}/depth/index.html")
    expect(page.locator("[data-sets]:visible")).to_have_count(0)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("width", [320, 820])
def test_no_page_is_wider_than_its_window(
    new_context: NewContext, host: Host, language: str, width: int
) -> None:
    page = new_context(host.address, viewport={"width": width, "height": 700}).new_page()
    for address in EVERY if language == "en" else AROUND:
        page.goto(f"{host.address}{language}/{address}index.html")
        paint(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = page.evaluate(
            """[...document.querySelectorAll(".formula")]
              .filter((it) => it.scrollWidth > it.clientWidth).map((it) => it.textContent)"""
        )
        assert wide == [], "a formula has to be scrolled sideways"


@pytest.mark.parametrize("scripted", [True, False])
def test_the_front_page_starts_the_course(
    new_context: NewContext, host: Host, scripted: bool
) -> None:
    page = new_context(host.address, java_script_enabled=scripted).new_page()
    page.goto(f"{host.address}en/index.html")
    assert "Post-LN" in page.locator(".lesson-card .whole").all_inner_texts()  # in one piece
    figures = page.locator(".lesson-card svg.thumbnail")
    expect(figures).to_have_count(len(LESSONS))
    expect(page.locator(".lesson-card .curve")).to_have_count(2 * len(LESSONS))
    for slug, box in zip(LESSONS, (figure.bounding_box() for figure in figures.all()), strict=True):
        assert box is not None
        assert box["y"] + box["height"] <= 800, f"the figure of {slug} is not on the first screen"
    page.locator("a.start").click()
    page.wait_for_url(f"**/en/{LESSONS[0]}/index.html")


def test_one_lesson_leads_to_the_next_and_the_colours_go_along(
    new_context: NewContext, host: Host
) -> None:
    page = new_context(host.address).new_page()
    page.goto(f"{host.address}zh-Hant/index.html")
    page.locator("button[data-scheme=dark]").click()
    page.locator(".lesson-card").first.click(position={"x": 20, "y": 30})  # on the figure
    for slug, following in zip(LESSONS, [*LESSONS[1:], None], strict=True):
        page.wait_for_url(f"**/zh-Hant/{slug}/index.html")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        expect(page.locator(".course [aria-current=page]")).to_have_attribute(
            "href", f"../{slug}/index.html"
        )
        page.locator(f".turn a[rel={'next' if following else 'up'}]").click()
    page.wait_for_url("**/zh-Hant/index.html")
    expect(page.locator("html")).to_have_attribute("lang", "zh-Hant")


def test_an_exercise_opens_its_experiment_at_its_settings(
    new_context: NewContext, host: Host
) -> None:
    page = new_context(host.address).new_page()
    page.goto(f"{host.address}en/index.html")
    page.locator("button[data-scheme=dark]").click()
    page.locator(".page-foot a", has_text="teachers").click()
    page.locator("main a[href*='sensitivity.depth=24']").click()
    page.wait_for_url("**/en/warmup/index.html?sensitivity.depth=24#sensitivity")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.locator("#sensitivity")).to_be_in_viewport()
    expect(page.locator("#sensitivity [data-control=depth] output")).to_have_text("N = 24 layers")
