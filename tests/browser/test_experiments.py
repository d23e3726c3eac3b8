"""Every experiment of every lesson, in every language: becomes live, and answers each control.

What the page shows after each move is compared with what the same experiment shows natively at
that state, digit for digit; the experiments' own tests tie those words to figures and probes.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from app import live
from app.experiments.experiment import Experiment
from app.site import pages
from app.ui.controls import Pick
from app.ui.strings import LANGUAGES
from tests.browser.driver import Host, Lesson, Watch

NewContext = Callable[..., BrowserContext]

LESSONS = {
    lesson.slug: [
        directive.arguments[0]
        for directive in lesson.texts[LANGUAGES[0]].directives
        if directive.name == "experiment"
    ]
    for lesson in pages.read_lessons(pages.LESSONS)
}
SMALL = "?seeds=2&width=64"
"""Computed in a fraction of a second; for every experiment that has such options."""
WRONG = re.compile(r"NaN|undefined|None|null|\{\w*\}|\[object")
EXACT = {"rtol": 1e-9, "atol": 1e-12}
"""Last digits differ between processors; no digit that is shown does."""


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("slug", LESSONS)
def test_every_experiment_answers_every_control_as_it_does_natively(
    new_context: NewContext, host: Host, watch: Watch, slug: str, language: str
) -> None:
    page = new_context(host.address).new_page()
    for name in LESSONS[slug]:
        lesson = Lesson(page, host, watch, name)
        if name == LESSONS[slug][0]:
            lesson.open(SMALL, language, slug)
        lesson.ready()
        assert lesson.data("hydration") == "linked", name
        native = Native(name, language)
        agree(lesson, native, "as opened")
        for control in native.experiment.controls.values():
            if control.name in native.experiment.needs:
                allow(lesson, native.experiment, control.name)
            before = said(lesson)
            move(lesson, control.name, isinstance(control, Pick))
            lesson.settled()
            if said(lesson) == before:  # what a choice leaves out may be left out already
                move(lesson, control.name, isinstance(control, Pick), last=True)
                lesson.settled()
            where = f"{name} after {control.name} in {language}"
            agree(lesson, native, where)
            assert said(lesson) != before, f"{where}: nothing changed"


class Native:
    """The same experiment in this process."""

    def __init__(self, name: str, language: str) -> None:
        self.experiment: Experiment
        self.experiment, _ = live.fresh(name, language)

    def show(self, state: dict[str, str]) -> Experiment:
        self.experiment.set(state)
        while self.experiment.step():
            pass
        return self.experiment


def agree(lesson: Lesson, native: Native, where: str) -> None:
    """Words and figures of the page are those of the native experiment at the same state."""
    state = dict(lesson.state())
    experiment = native.show(state)
    assert experiment.state() == state, where
    assert lesson.data("stale") is None, where
    parts = experiment.parts()
    for name in parts:
        if name == "notice":
            continue
        ours = lesson.part(name)
        assert plain(ours) == plain(parts[name]), f"{where}: {name}"
        assert not WRONG.search(plain(ours)), f"{where}: {name}: {plain(ours)}"
    assert len(plain(lesson.part("sentence"))) > 20, where
    for slot, figure in experiment.figures.items():
        natively = [dict(renderer.data_source.data) for renderer in figure.renderers]
        for glyph, (ours, theirs) in enumerate(zip(lesson.columns(slot), natively, strict=True)):
            assert ours.keys() == theirs.keys()
            for column, values in theirs.items():
                same(ours[column], values, f"{where}: {slot}, glyph {glyph}, {column}")


def same(ours: list[Any], theirs: Any, where: str) -> None:
    values = list(theirs)
    assert len(ours) == len(values), where
    if any(isinstance(value, str) for value in values):
        assert ours == values, where
        return
    mine = np.array([np.nan if value is None else value for value in ours], dtype=float)
    np.testing.assert_allclose(mine, np.array(values, dtype=float), **EXACT, err_msg=where)


def said(lesson: Lesson) -> str:
    """All that the experiment shows, but for the values of the controls themselves."""
    words = [lesson.part(part) for part in ("sentence", "table", "details")]
    board = lesson.section.locator("[data-when]:visible").all_inner_texts()
    figures = lesson.section.locator("[data-slot^='figure:']")
    slots = [str(slot.get_attribute("data-slot")).removeprefix("figure:") for slot in each(figures)]
    axes = lesson.page.evaluate(
        """async (name) => {
          const { document } = await window.normlab.paint(name);
          const figures = document.roots().filter(({ type }) => type === "Figure");
          return JSON.stringify(figures.map(({ renderers, center }) => [
            ...renderers.map(({ visible, glyph }) =>
              [visible, glyph.line_width?.value, glyph.line_alpha?.value]),
            ...center.map(({ type, attributes }) => [type, attributes.location ?? 0]),
          ]));
        }""",
        lesson.name,
    )
    return "\n".join([*words, *board, axes, *(repr(lesson.columns(slot)) for slot in slots)])


def each(locator: Locator) -> Iterator[Locator]:
    for place in range(locator.count()):
        yield locator.nth(place)


def allow(lesson: Lesson, experiment: Experiment, option: str) -> None:
    """Choose what a control needs in order to be shown."""
    other, _, values = experiment.needs[option].partition("=")
    box = lesson.section.locator(f'[data-control="{option}"]')
    expect(box).to_be_hidden()
    choices = lesson.section.locator(f'[data-slot="control:{other}"] select')
    choices.select_option(label=experiment.controls[other].named(values.split("|")[0]))
    lesson.settled()
    expect(box).to_be_visible()


def move(lesson: Lesson, option: str, picked: bool, last: bool = False) -> None:
    """Change one option by hand, whatever its control is; `last`: to the last of a list."""
    if picked:
        lesson.section.locator(f'[data-sets^="{option}="][aria-pressed=false]').first.click()
        return
    slot = lesson.section.locator(f'[data-slot="control:{option}"]')
    if slot.locator("[role=slider]").count():
        handle = slot.locator("[role=slider]")
        now, low = (handle.get_attribute(f"aria-value{bound}") for bound in ("now", "min"))
        lesson.keys(option, "ArrowRight" if now == low else "ArrowLeft")
    elif slot.locator("select").count():
        choices = slot.locator("select option").evaluate_all("all => all.map((it) => it.value)")
        now = slot.locator("select").input_value()
        others = [choice for choice in choices if choice != now]
        slot.locator("select").select_option(others[-1 if last else 0])
    elif slot.locator("input[type=radio]").count():
        slot.locator("label:has(input[type=radio]:not(:checked))").first.click()
    else:
        field = slot.locator("input")
        field.focus()
        lesson.page.keyboard.press("ArrowUp")
        field.blur()


def plain(html: str) -> str:
    """The words of a part, as they read."""
    text = unescape(re.sub(r"<p data-timing>.*?</p>|<[^>]+>", " ", html))
    return re.sub(r"\s+", " ", text.replace("\N{NO-BREAK SPACE}", " ")).strip()
