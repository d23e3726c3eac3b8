"""A lesson under `panel serve`, in the browser: an author moves a slider and reads the sentence."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import BrowserContext, expect

from tests.browser.driver import PATIENCE
from tests.experiments.serving import Serving


def test_an_author_reads_the_lesson_and_moves_a_slider(
    new_context: Callable[..., BrowserContext], tmp_path: Path
) -> None:
    serving = Serving("warmup", tmp_path)
    try:
        address = serving.address
        page = new_context(address.removesuffix("lesson"), address.replace("http", "ws")).new_page()
        page.goto(f"{address}?lang=zh-Hans&sensitivity.depth=9&sensitivity.seeds=2")
        expect(page.locator("h1")).to_contain_text("Transformer", timeout=PATIENCE)
        expect(page.locator("mjx-container, svg[data-mml-node]").first).to_be_attached(
            timeout=PATIENCE
        )
        sentence = page.get_by_text(re.compile(r"N\s=\s9\s时的估计"))
        expect(sentence).to_be_visible(timeout=PATIENCE)
        handle = page.locator(".experiment-sensitivity [role=slider]").first
        handle.focus()
        page.keyboard.press("ArrowLeft")
        sentence = page.get_by_text(re.compile(r"N\s=\s8\s时的估计"))
        expect(sentence).to_be_visible(timeout=PATIENCE)
    finally:
        log = serving.end()
    assert "Error" not in log, log
