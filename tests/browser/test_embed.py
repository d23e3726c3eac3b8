"""Experiments in somebody else's page: plain frames on another origin, and what is said there."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Frame, Locator, Page, expect

from tests.browser.driver import PATIENCE, Host, Watch, missing
from tests.browser.test_pages import AXE

NewContext = Callable[..., BrowserContext]
Serve = Callable[..., Host]

LESSON = "warmup"
ONE, TWO = "sensitivity", "gradients"

# All that a page around needs: it keeps what it hears of a frame, and gives it its height.
LISTENER = """
window.heard = {};
addEventListener("message", ({ source, data }) => {
  for (const frame of document.querySelectorAll("iframe")) {
    if (frame.contentWindow !== source || data?.normlab !== 1) continue;
    (window.heard[frame.name] ??= []).push(data);
    if (data.type === "height") frame.style.height = `${data.height}px`;
  }
});
"""
NO_STORAGE = """
for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
  Object.defineProperty(window, name, {
    get() { throw new DOMException(`${name} is not for frames`, "SecurityError"); },
  });
}
for (const name of ["cookie", "referrer"]) Object.defineProperty(Document.prototype, name, {
  get() { throw new DOMException(`${name} is not for frames`, "SecurityError"); },
});
"""


class Around:
    """A page of somebody else's with frames of ours, by name."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def frame(self, name: str) -> Frame:
        frame = self.page.frame(name=name)
        assert frame is not None
        return frame

    def section(self, name: str, experiment: str) -> Locator:
        frame = self.page.frame_locator(f'iframe[name="{name}"]')
        return frame.locator(f'section[data-experiment="{experiment}"]')

    def ready(self, name: str, experiment: str) -> None:
        self.page.locator(f'iframe[name="{name}"]').scroll_into_view_if_needed()
        section = self.page.frame_locator(f'iframe[name="{name}"]').locator(
            f'html[data-runtime=live] section[data-experiment="{experiment}"][data-state=ready]'
        )
        expect(section).to_be_attached(timeout=PATIENCE)

    def heard(self, name: str, type: str) -> list[dict[str, Any]]:
        said = self.page.evaluate(f"window.heard[{json.dumps(name)}] ?? []")
        return [message for message in said if message["type"] == type]

    def state(self, name: str, experiment: str) -> dict[str, str]:
        """The newest state of an experiment that was told."""
        told = [m for m in self.heard(name, "state") if m["experiment"] == experiment]
        return dict(told[-1]["state"])

    def say(self, name: str, message: str) -> None:
        self.page.evaluate(f"document.querySelector('iframe[name={name}]').contentWindow{message}")

    def set(self, name: str, state: dict[str, Any]) -> None:
        message = {"normlab": 1, "type": "set", "state": state}
        self.say(name, f".postMessage({json.dumps(message)}, '*')")

    def until(self, condition: Callable[[], bool]) -> None:
        """Look once per painted frame; the policy lets Playwright not do so by itself."""
        for _ in range(PATIENCE // 16):
            if condition():
                return
            self.page.evaluate("() => new Promise(requestAnimationFrame)")
        raise AssertionError("what was waited for did not come")

    def fits(self, name: str) -> bool:
        """Whether the frame is just as high as what stands in it."""
        body, inner, scrolled = self.frame(name).evaluate(
            """() => [
              document.body.getBoundingClientRect().height,
              innerHeight,
              document.scrollingElement.scrollHeight,
            ]"""
        )
        return bool(scrolled <= inner and 0 <= inner - body < 1)


@pytest.fixture
def around(
    new_context: NewContext, host: Host, serve: Serve, tmp_path: Path
) -> Callable[..., Around]:
    """Opens a page on another origin with these frames: name → address below the site's."""

    def open(before: str = "", **frames: str) -> Around:
        (tmp_path / "listener.js").write_text(LISTENER, encoding="utf-8")
        inner = "".join(
            f'<p>Some words of the course.</p><iframe name="{name}" title="{name}" width="100%"'
            f' style="border: 0" src="{host.address}{path}"></iframe>'
            for name, path in frames.items()
        )
        (tmp_path / "index.html").write_text(
            '<!doctype html><html lang="en"><meta charset="utf-8"><title>A course</title>'
            '<link rel="icon" href="data:,">'
            f'<script src="listener.js"></script><h1>A course</h1>{inner}',
            encoding="utf-8",
        )
        theirs = serve(tmp_path)
        assert theirs.address != host.address
        context = new_context(host.address, theirs.address)
        if before:
            context.add_init_script(before)
        page = context.new_page()
        page.goto(theirs.address)
        return Around(page)

    return open


def embed(query: str, language: str = "en") -> str:
    return f"{language}/{LESSON}/embed/index.html{query}"


# ---------------------------------------------------------------------------- in another page


def test_two_embeds_live_in_a_plain_page_of_another_origin(around: Callable[..., Around]) -> None:
    page = around(
        NO_STORAGE,
        one=embed(f"?show={ONE}&depth=9&width=64&seeds=4&v=1"),
        two=embed(f"?show={TWO}&depth=6&seeds=2&v=1", "zh-Hans"),
    )
    page.ready("one", ONE)
    page.ready("two", TWO)
    expect(page.section("one", ONE).locator("[data-part=sentence]")).to_contain_text("N = 9")
    assert page.state("one", ONE)["depth"] == "9"
    assert page.state("one", ONE)["width"] == "64"
    assert page.state("two", TWO)["depth"] == "6"
    assert page.frame("two").evaluate("document.documentElement.lang") == "zh-Hans"
    for name in ("one", "two"):
        page.until(lambda name=name: page.fits(name))
        assert page.heard(name, "runtime")[-1]["runtime"] == "live"
        assert page.heard(name, "error") == []
        for chrome in ("header", "nav", ".schemes", ".formula.with-label", ".steps"):
            assert page.frame(name).locator(chrome).count() == 0, chrome

    heights = len(page.heard("one", "height"))
    before = page.frame("one").evaluate("innerHeight")
    page.section("one", ONE).locator("summary").last.click()
    page.until(lambda: page.frame("one").evaluate("innerHeight") > before and page.fits("one"))
    page.section("one", ONE).locator("summary").last.click()
    page.until(lambda: page.frame("one").evaluate("innerHeight") == before and page.fits("one"))
    assert len(page.heard("one", "height")) <= heights + 4, "height and frame went in circles"


def test_in_a_sandbox_text_and_figures_are_there(
    around: Callable[..., Around], host: Host, watch: Watch
) -> None:
    watch.allowed = ("",)  # no module comes to an origin of its own, and the browser says so
    page = around()
    page.page.evaluate(
        """(address) => {
          const frame = document.createElement("iframe");
          Object.assign(frame, { name: "boxed", sandbox: "allow-scripts", src: address });
          document.body.append(frame);
        }""",
        host.address + embed(f"?show={ONE}"),
    )
    section = page.section("boxed", ONE)
    expect(section).to_have_attribute("data-painted", "done", timeout=PATIENCE)
    expect(section.locator("[data-part=sentence]")).to_be_visible()


def test_values_that_come_as_soon_as_the_frame_is_loaded_are_taken(
    around: Callable[..., Around], host: Host
) -> None:
    page = around()
    page.page.evaluate(
        """(address) => {
          const frame = document.createElement("iframe");
          Object.assign(frame, { name: "early", src: address });
          const message = { normlab: 1, type: "set", state: { depth: 7, seeds: 4 } };
          frame.onload = () => frame.contentWindow.postMessage(message, "*");
          document.body.append(frame);
        }""",
        host.address + embed(f"?show={ONE}"),
    )
    page.ready("early", ONE)
    assert page.state("early", ONE)["depth"] == "7"


def test_the_page_around_reads_and_sets_the_state(
    around: Callable[..., Around], watch: Watch
) -> None:
    page = around(one=embed("?show=sensitivity&seeds=4"), two=embed("?show=sensitivity"))
    page.ready("one", "sensitivity")
    section = page.section("one", "sensitivity")
    section.locator('[data-slot="control:depth"] [role=slider]').focus()
    page.page.keyboard.press("ArrowLeft")
    page.until(lambda: page.state("one", "sensitivity")["depth"] == "11")

    page.set("one", {"depth": 7, "sensitivity.width": "64"})
    expect(section.locator("[data-part=sentence]")).to_contain_text("N = 7", timeout=PATIENCE)
    assert section.locator('[data-control="depth"] [data-value]').inner_text() == "N = 7 layers"
    page.until(lambda: page.state("one", "sensitivity")["width"] == "64")
    assert page.state("one", "sensitivity")["seeds"] == "4", "what is not named stays"

    page.set("one", {"depth": 500, "attention": "linear", "dpeth": 3})
    note = section.locator("[data-note]")
    expect(note).to_contain_text("500 is outside 1 … 48, so 48 is used")
    expect(note).to_contain_text("“linear” is no value")
    expect(note).to_contain_text("“dpeth”")
    page.until(lambda: page.state("one", "sensitivity")["depth"] == "48")
    assert page.state("one", "sensitivity")["attention"] == "uniform"

    # Not from the page around, of another shape, or too long: dropped, and the next one is taken.
    watch.allowed = ("too long to be a state",)
    stranger = 'postMessage({normlab: 1, type: "set", state: {depth: "3"}}, "*")'
    page.frame("two").evaluate(f'window.parent.frames["one"].{stranger}')
    page.frame("one").evaluate(f"window.{stranger}")
    page.set("one", {"depth": "3", "x": "y" * 9000})
    page.say("one", '.postMessage({type: "set", state: {depth: "3"}}, "*")')
    page.say("one", '.postMessage({normlab: 1, type: "set", state: ["3"]}, "*")')
    page.say("one", '.postMessage({normlab: 1, type: "set", state: {depth: 3n}, y: 1n}, "*")')
    page.say("one", '.postMessage("set", "*")')
    page.set("one", {"seed": "5"})
    page.until(lambda: page.state("one", "sensitivity")["seed"] == "5")
    told = [message["state"]["depth"] for message in page.heard("one", "state")]
    assert "3" not in told


def test_what_goes_wrong_in_a_frame_is_told(
    around: Callable[..., Around], host: Host, watch: Watch
) -> None:
    watch.allowed = ("python.gz.bin",)
    host.faults["python.gz.bin"] = missing
    page = around(one=embed("?show=sensitivity&depth=7"))
    page.until(lambda: page.heard("one", "error") != [])
    assert "python.gz.bin" in page.heard("one", "error")[0]["message"]
    assert page.heard("one", "runtime")[-1]["runtime"] == "failed"
    section = page.section("one", "sensitivity")
    expect(section.locator("[data-part=stale]")).to_contain_text("N = 12 layers")
    page.until(lambda: page.fits("one"))


# ---------------------------------------------------------------------------- the view itself


@pytest.fixture
def page(new_context: NewContext, host: Host) -> Page:
    return new_context(host.address).new_page()


def names(page: Page) -> list[str]:
    sections = page.locator("section[data-experiment]")
    return list(sections.evaluate_all("all => all.map((one) => one.dataset.experiment)"))


def test_only_what_is_named_is_there_and_nothing_else_was_ever_seen(page: Page, host: Host) -> None:
    page.goto(f"{host.address}{embed('')}")
    every = names(page)
    assert len(every) > 2
    expect(page.locator("#choice")).to_contain_text("names no experiment")
    page.add_init_script(
        """
        window.seen = new Set();
        (function look() {
          for (const section of document.querySelectorAll("section[data-experiment]")) {
            if (section.checkVisibility({ visibilityProperty: true })) seen.add(section.id);
          }
          requestAnimationFrame(look);
        })();
        """
    )
    page.goto(f"{host.address}{embed(f'?show={ONE}')}")
    assert names(page) == [ONE]
    expect(page.locator(f"#{ONE}")).to_be_visible()
    page.evaluate("() => new Promise(requestAnimationFrame)")
    assert page.evaluate("[...window.seen]") == [ONE]
    expect(page.locator("#choice")).to_be_hidden()

    page.goto(f"{host.address}{embed(f'?show={TWO},nothing,{ONE},%3Cb%3E,{TWO}')}")
    assert names(page) == [TWO, ONE], "in the order of the address"
    expect(page.locator("#choice")).to_contain_text("no experiment “nothing, <b>”")

    page.goto(f"{host.address}{embed('?show=nothing')}")
    assert names(page) == every
    expect(page.locator("#choice")).to_contain_text("all that it has are here")


@pytest.mark.parametrize("language", ["en", "zh-Hans"])
def test_axe_finds_nothing_in_an_embed(new_context: NewContext, host: Host, language: str) -> None:
    page = new_context(host.address, bypass_csp=True).new_page()
    page.goto(f"{host.address}{embed(f'?show={ONE},nothing', language)}")
    expect(page.locator("section[data-painted=done]")).to_be_attached(timeout=PATIENCE)
    for details in page.locator("details").all():
        details.evaluate("it => { it.open = true; }")
    page.add_script_tag(path=AXE)
    found = page.evaluate("axe.run()")
    assert [(fault["id"], fault["nodes"][0]["html"][:200]) for fault in found["violations"]] == []


def test_the_credit_leads_to_the_lesson_at_the_same_state(page: Page, host: Host) -> None:
    page.goto(f"{host.address}{embed('?show=sensitivity&seeds=4&theme=dark', 'zh-Hans')}")
    assert page.locator("html").get_attribute("data-theme") == "dark"
    page.locator("#sensitivity").scroll_into_view_if_needed()
    ready = "html[data-runtime=live] section[data-experiment=sensitivity][data-state=ready]"
    expect(page.locator(ready)).to_be_attached(timeout=PATIENCE)
    page.locator('[data-slot="control:depth"] [role=slider]').focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/embed/index.html?show=sensitivity&sensitivity.depth=11&**")
    link = page.locator("#lesson")
    assert link.get_attribute("rel") == "noopener"
    with page.context.expect_page() as opened:
        link.click()
    lesson = opened.value
    state = "sensitivity.depth=11&sensitivity.seeds=4&v=1"
    lesson.wait_for_url(f"**/zh-Hans/warmup/index.html?{state}#sensitivity")
    assert lesson.locator("html").get_attribute("data-theme") == "dark"


def test_without_scripts_an_embed_shows_all_that_is_written(
    new_context: NewContext, host: Host
) -> None:
    page = new_context(host.address, java_script_enabled=False).new_page()
    page.goto(f"{host.address}{embed('?show=sensitivity')}")
    sections = page.locator("section[data-experiment]").all()
    assert sections
    for section in sections:
        expect(section.locator("[data-part=sentence]")).to_be_visible()
        expect(section.locator("[data-part=table]")).to_be_visible()
    expect(page.locator("#lesson")).to_be_visible()
