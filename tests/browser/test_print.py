"""On paper: all figures, painted or not, and nothing that takes away what lies below it."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.driver import Lesson, missing

NOTE = """() => addEventListener("beforeprint", () => { // after the page has heard of it
  const slots = [...document.querySelectorAll('[data-slot^="figure:"]')];
  const within = (it) =>
    [it, ...[...(it.shadowRoot?.children ?? []), ...it.children].flatMap(within)];
  const wide = (slot) =>
    within(slot).filter(({ tagName }) => tagName === "CANVAS").map((it) => it.clientWidth);
  window.fits = () => slots.every((slot) => Math.max(...wide(slot)) === slot.clientWidth);
  window.printed = slots.map((slot) => ({
    words: slot.innerText, // none of what BokehJS draws
    wide: Math.max(0, ...[...slot.children].map(({ clientWidth }) => clientWidth)),
  }));
})"""
PAPER = 16 / 2.54 * 96
"""The width of a figure on it, in CSS' pixels."""


def test_figures_that_were_never_near_are_on_paper_or_said_to_be_missing(lesson: Lesson) -> None:
    (far,) = (lesson.host.site / "documents" / "en").glob("merging.*.js")
    lesson.host.faults["worker.js"] = missing  # so that nothing is waited for but the figures
    lesson.watch.allowed = ("404", "worker")
    lesson.name = "depth"
    page = lesson.open(slug="depth").painted().until(runtime="failed").page
    page.evaluate(NOTE)
    merging = page.locator('section[data-experiment="merging"]')
    page.wait_for_function(  # there is time to fetch it
        """name => performance.getEntriesByType("resource").some((it) => it.name.endsWith(name))
          && !document.querySelector(`script[src$="${name}"]`)""",
        arg=far.name,
    )
    assert merging.get_attribute("data-painted") is None

    on_paper = page.pdf()
    printed = page.evaluate("printed")
    assert len(printed) == 4
    assert all(abs(each["wide"] - PAPER) < 1 for each in printed), printed
    expect(merging).to_have_attribute("data-painted", "done")
    # Skia writes what a canvas clears as an inverted mask of all that was drawn before.
    assert not re.search(rb"/TR \d+ 0 R", on_paper)
    page.wait_for_function("() => fits()")  # back on the screen

    held = lesson.host.hold(far.name)
    page.reload()
    lesson.painted()
    page.evaluate(NOTE)
    page.pdf()
    near, away = page.evaluate("[printed.slice(0, 2), printed.slice(2)]")
    assert all(abs(each["wide"] - PAPER) < 1 for each in near), near
    assert all("had not been drawn yet" in each["words"] for each in away), away
    note = merging.get_by_text("had not been drawn yet")
    expect(note).to_have_count(0)
    held.set()
    expect(merging).to_have_attribute("data-painted", "done")
