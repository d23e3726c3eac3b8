"""Nothing overlaps and nothing is cut off: on every lesson, at three widths.

Boxes are compared, not pixels: of elements, and of every word that a figure writes (ticks, axis
labels, names at curves), as BokehJS lays them out.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.driver import Host
from tests.browser.test_experiments import LESSONS

NewContext = Callable[..., BrowserContext]

LOOK = Path(__file__).with_name("layout.js").read_text(encoding="utf-8")
PAINT_ALL = """async (names) => {
  for (const details of document.querySelectorAll("details")) details.open = true;
  for (const name of names) await window.normlab.paint(name);
  for (let frames = 0; frames < 4; frames++) await new Promise(requestAnimationFrame);
}"""


@pytest.mark.parametrize(
    ("width", "language"), [(360, "en"), (768, "en"), (1280, "en"), (360, "zh-Hans")]
)
@pytest.mark.parametrize("slug", LESSONS)
def test_nothing_overlaps_and_nothing_is_cut_off(
    new_context: NewContext, host: Host, slug: str, width: int, language: str
) -> None:
    host.hold("worker.js")  # what is prerendered is what is looked at
    context = new_context(host.address, viewport={"width": width, "height": 900})
    context.add_init_script(LOOK)
    page = context.new_page()
    page.goto(f"{host.address}{language}/{slug}/index.html")
    page.evaluate(PAINT_ALL, LESSONS[slug])
    assert page.evaluate("window.layout.words()") >= 5 * len(LESSONS[slug])
    assert "\n".join(page.evaluate("window.layout.faults()")) == ""
