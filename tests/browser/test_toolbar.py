"""What a reader takes away from an experiment, and the way back to its beginning."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from playwright.sync_api import BrowserContext, Download, Locator, Page, expect

from app import live
from app.experiments import export
from app.probes import NUMBERS_VERSION
from app.probes.result import csv_of
from app.ui.strings import strings
from tests.browser.driver import FEW, PATIENCE, Host, Lesson, Watch, missing

NewContext = Callable[..., BrowserContext]
SVG = "{http://www.w3.org/2000/svg}"
say = strings("en")

# Sizes and ink of a picture: how much of it is paper, and how dark its darkest hundredth is.
LOOK_AT = """async (bytes) => {
  const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: "image/png" }));
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext("2d");
  context.drawImage(bitmap, 0, 0);
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height);
  const colours = {};
  for (let i = 0; i < data.length; i += 4) {
    const colour = data.slice(i, i + 4).join();
    colours[colour] = (colours[colour] ?? 0) + 1;
  }
  return { width: bitmap.width, height: bitmap.height, colours };
}"""


def tool(lesson: Lesson, name: str) -> Locator:
    return lesson.section.locator(f'[data-tool="{name}"]')


def said(lesson: Lesson, key: str, **values: str) -> None:
    """Wait until the toolbar has said it."""
    region = lesson.section.locator("[data-said]")
    expect(region).to_have_text(say(f"toolbar.said_{key}", **values), timeout=PATIENCE)


def picture(lesson: Lesson, slot: str, format: str) -> Download:
    with lesson.page.expect_download() as download:
        lesson.section.locator(f'[data-figure="{slot}"][data-format="{format}"]').click()
    return download.value


def content(download: Download) -> bytes:
    return Path(download.path()).read_bytes()


def read(svg: Download) -> tuple[ElementTree.Element, str]:
    """A saved picture, and all its words."""
    root = ElementTree.fromstring(content(svg))
    words = (text for each in root.iter(f"{SVG}text") for text in each.itertext())
    return root, plain(" ".join(words))


def plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pictures_hold_figure_legend_and_words_before_python_is_up(
    new_context: NewContext, host: Host, watch: Watch, scheme: str
) -> None:
    held = host.hold("worker.js")
    lesson = Lesson(new_context(host.address, color_scheme=scheme).new_page(), host, watch).open()
    lesson.painted()
    tool(lesson, "picture").click()
    expect(tool(lesson, "picture")).to_have_attribute("aria-expanded", "true")

    svg = picture(lesson, "sensitivity", "svg")
    assert svg.suggested_filename == "normlab-sensitivity-sensitivity.svg"
    said(lesson, "picture", file=svg.suggested_filename)
    root, words = read(svg)
    for needed in (
        say("sensitivity.caption.sensitivity"),
        say("sensitivity.figure.change"),
        say("sensitivity.figure.theory"),
        say("sensitivity.figure.estimate"),
        "Post-LN",
        "N = 12 layers",
        "24 seeds · seed 0",
        f"NormLab, version {NUMBERS_VERSION} of the numbers",
        f"v={NUMBERS_VERSION}#sensitivity",
    ):
        assert plain(needed) in words, needed
    ink = {each.get("stroke") for each in root.iter(f"{SVG}path")}
    assert {"#cc5500", "#2f7ec7"} <= ink, ink
    assert not list(root.iter(f"{SVG}image")), "nothing in it is pixels"

    png = lesson.page.evaluate(LOOK_AT, list(content(picture(lesson, "beta", "png"))))
    shown = lesson.section.locator('[data-slot="figure:beta"]').bounding_box()
    assert shown is not None
    assert png["width"] >= 2 * shown["width"]
    colours = png["colours"]
    pixels = png["width"] * png["height"]
    assert 0.5 * pixels < colours["255,255,255,255"] < 0.98 * pixels, "white paper, in any scheme"
    assert colours["204,85,0,255"] > 500
    assert colours["47,126,199,255"] > 500
    assert colours["28,31,36,255"] > 100, "words in dark ink"
    assert lesson.page.locator("html[data-printing]").count() == 0
    held.set()


@pytest.mark.parametrize(("language", "scheme"), [("en", "dark"), ("zh-Hans", "light")])
def test_pictures_of_drawings_hold_their_own_ink_and_words(
    new_context: NewContext, host: Host, watch: Watch, language: str, scheme: str
) -> None:
    told = strings(language)
    held = host.hold("worker.js")
    page = new_context(host.address, color_scheme=scheme).new_page()
    lesson = Lesson(page, host, watch, "block").open("?block.stage=norm", language).painted()
    tool(lesson, "picture").click()
    shown = lesson.section.locator('[data-part="drawings"]').bounding_box()
    assert shown is not None

    svg = picture(lesson, "drawings", "svg")
    assert svg.suggested_filename == "normlab-block-stage-norm-drawings.svg"
    root, words = read(svg)
    for needed in (
        told("block.caption.drawings"),
        told("wiring.post_ln"),
        told("wiring.pre_ln"),
        told("diagram.output"),
        told("diagram.attention"),
        told("block.option.stage.choices.norm"),
        f"v={NUMBERS_VERSION}#block",
    ):
        assert plain(needed).replace(" ", "") in words.replace(" ", ""), needed
    assert root.get("lang") == language
    assert float(root.get("width", 0)) >= 0.8 * shown["width"]
    assert float(root.get("height", 0)) > shown["height"]
    ink = {each.get(paint) for each in root.iter() for paint in ("fill", "stroke")}
    assert all(re.fullmatch("none|#[0-9a-f]{6}", it) for it in ink if it), ink
    assert "#1c1f24" in ink, "dark ink, in any scheme"
    lit = [each for each in root.iter(f"{SVG}rect") if each.get("stroke-width") == "4px"]
    assert len(lit) == 4, "the chosen stage is lit up in both drawings"

    png = page.evaluate(LOOK_AT, list(content(picture(lesson, "drawings", "png"))))
    size = (png["width"], png["height"])
    assert size == (2 * float(root.get("width", 0)), 2 * float(root.get("height", 0)))
    assert png["colours"]["255,255,255,255"] > 0.4 * png["width"] * png["height"]
    assert png["colours"]["28,31,36,255"] > 500, "words and lines in dark ink"
    assert page.locator("html[data-printing]").count() == 0
    held.set()


def test_numbers_wait_for_python_and_are_those_of_the_terminal(lesson: Lesson) -> None:
    held = lesson.host.hold("worker.js")
    lesson.open(FEW + "&sensitivity.depth=8").painted()
    tool(lesson, "data").click()
    said(lesson, "waiting")
    held.set()
    said(lesson, "data_many", n="2")
    links = lesson.section.locator('[data-panel="data"] a')
    assert links.count() == 2

    native, _ = live.fresh("sensitivity", "en")
    native.set({"seeds": "4", "depth": "8"})
    while native.step():
        pass
    for link, (name, result) in zip(links.all(), native.results().items(), strict=True):
        with lesson.page.expect_download() as download:
            link.click()
        file = f"normlab-sensitivity-depth-8-seeds-4-{name}.csv"
        assert download.value.suggested_filename == file
        text = content(download.value).decode()
        comments = [line for line in text.splitlines() if line.startswith("#")]
        assert f"# {export.command(result)} --csv" in comments
        assert "# seed: 0" in comments
        query = "?sensitivity.depth=8&sensitivity.seeds=4&v=1"
        assert comments[0] == f"# link: {lesson.host.address}en/warmup/{query}#sensitivity"
        rows = list(csv.reader(io.StringIO("".join(text.splitlines(True)[len(comments) :]))))
        wanted = list(csv.reader(io.StringIO(csv_of(result))))
        assert rows[0] == wanted[0]
        for row, want in zip(rows[1:], wanted[1:], strict=True):
            for one, other in zip(row, want, strict=True):
                # the last digits differ between processors
                assert one == other or float(one) == pytest.approx(float(other), rel=1e-9)
    terminal = lesson.section.locator('[data-part="terminal"]').text_content() or ""
    assert terminal == "".join(export.command(result) for result in native.results().values())


def test_without_python_the_numbers_are_said_to_be_in_the_table(
    lesson: Lesson, watch: Watch
) -> None:
    watch.allowed = ("worker", "404")
    lesson.host.faults["worker.js"] = missing
    lesson.open().painted().until(runtime="failed")
    tool(lesson, "data").click()
    said(lesson, "data_failed")


def test_the_link_and_the_embed_lead_to_what_is_asked_for(
    new_context: NewContext, host: Host, watch: Watch
) -> None:
    held = host.hold("worker.js")
    context = new_context(host.address, permissions=["clipboard-read", "clipboard-write"])
    lesson = Lesson(context.new_page(), host, watch).open().painted()
    tool(lesson, "embed").click()
    expect(tool(lesson, "embed")).to_have_attribute("aria-expanded", "true")
    lesson.keys("depth", "ArrowRight", "ArrowRight")
    snippet = lesson.section.locator('[data-field="embed"]').input_value()
    frame = parsed(lesson.page, snippet)
    assert frame["src"] == (
        f"{host.address}en/warmup/embed/index.html?show=sensitivity&depth=14&v={NUMBERS_VERSION}"
    )
    assert frame["title"] == say("sensitivity.question")
    assert int(frame["height"]) > 500
    lesson.section.locator('[data-copies="cite"]').click()
    said(lesson, "copied")
    cited = lesson.page.evaluate("navigator.clipboard.readText()")
    assert say("sensitivity.question") in cited
    assert re.search(r"\d{4}-\d{2}-\d{2}", cited)

    tool(lesson, "link").click()
    said(lesson, "link")
    link = lesson.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{host.address}en/warmup/?sensitivity.depth=14&v=1#sensitivity"
    assert link in cited
    expect(lesson.section.locator('[data-panel="embed"]')).to_be_hidden()
    held.set()

    other = Lesson(context.new_page(), host, watch)
    other.page.goto(link)
    other.painted()
    assert other.state()["depth"] == "14"
    other.page.goto(frame["src"])
    other.painted()
    assert other.state()["depth"] == "14"
    assert tool(other, "embed").count() == 0
    tool(other, "link").click()
    said(other, "link")
    assert other.page.evaluate("navigator.clipboard.readText()") == link.replace(
        "warmup/?", "warmup/index.html?"
    )


def parsed(page: Page, snippet: str) -> dict[str, str]:
    """The attributes that a browser reads from it."""
    return dict(
        json.loads(
            page.evaluate(
                """(html) => {
                  const [frame, ...rest] = new DOMParser()
                    .parseFromString(html, "text/html").body.children;
                  if (rest.length || frame.localName !== "iframe") throw new Error(html);
                  const attributes = [...frame.attributes].map(({ name, value }) => [name, value]);
                  return JSON.stringify(Object.fromEntries(attributes));
                }""",
                snippet,
            )
        )
    )


def test_where_copying_is_refused_the_link_stands_selected(lesson: Lesson) -> None:
    lesson.page.add_init_script(
        "Object.defineProperty(navigator, 'clipboard', { value: undefined })"  # as on plain http
    )
    lesson.open("?sensitivity.depth=3").painted()
    tool(lesson, "link").click()
    said(lesson, "copy_yourself")
    field = lesson.section.locator('[data-field="link"]')
    expect(field).to_be_focused()
    address = f"{lesson.host.address}en/warmup/?sensitivity.depth=3&v=1#sensitivity"
    assert lesson.page.evaluate("getSelection().toString()") == address


def test_reset_brings_back_where_the_page_began(lesson: Lesson) -> None:
    lesson.open().ready()
    before = lesson.state()
    lesson.button("perturb").click()
    lesson.part_with("sentence", "changes Post-LN's output")
    tool(lesson, "reset").click()  # though no setting differs
    lesson.part_with("sentence", "Estimate at N = 12")
    lesson.settled()
    assert lesson.part("notice") == ""

    lesson.keys("depth", "ArrowRight")
    lesson.until_query("?sensitivity.depth=13&v=1")
    tool(lesson, "reset").focus()
    lesson.page.keyboard.press("Enter")
    said(lesson, "reset")
    lesson.until_query("")
    lesson.part_with("sentence", "Estimate at N = 12")
    lesson.settled()
    assert lesson.state() == before
    expect(tool(lesson, "reset")).to_be_focused()
