"""Painting and the controls by themselves, without Python: by mouse, keyboard, finger and ear."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, CDPSession, Locator, Page, expect

from app.site.node import ROOT
from app.ui import theme
from tests.browser import controls_page
from tests.browser.driver import Host

AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
NARROW: dict[str, Any] = {"viewport": {"width": 360, "height": 640}}
PHONE: dict[str, Any] = {**NARROW, "has_touch": True, "is_mobile": True}
OPTIONS = ("depth", "change", "width", "attention", "seed")
DEFAULTS = {"depth": "12", "change": "0.01", "width": "128", "attention": "uniform", "seed": "0"}

NewContext = Callable[..., BrowserContext]


class ControlsPage:
    """The page of `controls_page.py` in a browser; where no section is named, "one" is meant."""

    def __init__(self, page: Page, address: str) -> None:
        self.page = page
        page.goto(address)
        for name in ("one", "two"):
            expect(
                page.locator(f"section[data-experiment={name}][data-painted=done]")
            ).to_be_attached()
        page.evaluate("(stored) => { window.stored = stored; }", controls_page.build()[1])
        self.run(
            """window.heard = [];
            for (const name of ["one", "two"]) {
              const painted = await normlab.paint(name);
              painted.onOption((option, value) => heard.push([name, option, value]));
              painted.onPress((action) => heard.push([name, action]));
            }"""
        )

    def run(self, statements: str) -> Any:
        """Run JS with the section's `painted` at hand; returns what it returns."""
        return self.page.evaluate(
            f'(async () => {{ const painted = await normlab.paint("one"); {statements} }})()'
        )

    def slot(self, name: str, section: str = "one") -> Locator:
        return self.page.locator(f'section[data-experiment={section}] [data-slot="{name}"]')

    def handle(self, option: str, section: str = "one") -> Locator:
        return self.slot(f"control:{option}", section).get_by_role("slider")

    def said(self, option: str, section: str = "one") -> str:
        box = self.page.locator(f'section[data-experiment={section}] [data-control="{option}"]')
        return box.locator("output").inner_text()

    def notice(self, part: str) -> str:
        return self.page.locator(f'section[data-experiment=one] [data-part="{part}"]').inner_text()

    def until(self, expression: str) -> None:
        """Wait until it holds (Playwright's own way needs `eval`, which the policy forbids)."""
        while not self.page.evaluate(expression):
            self.page.evaluate("new Promise(requestAnimationFrame)")

    @property
    def state(self) -> dict[str, str]:
        return dict(self.run("return painted.state();"))

    @property
    def heard(self) -> list[list[str]]:
        """What the handlers have been told since last asked."""
        return list(self.page.evaluate("heard.splice(0)"))

    def middle(self, locator: Locator) -> tuple[float, float]:
        locator.scroll_into_view_if_needed()
        box = locator.bounding_box()
        assert box is not None
        return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("controls")
    controls_page.write(folder)
    return folder


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    host = Host(folder)
    threading.Thread(target=host.serve_forever, daemon=True).start()
    yield host.address
    host.shutdown()
    host.server_close()


@pytest.fixture
def page(new_context: NewContext, address: str) -> ControlsPage:
    return ControlsPage(new_context(address).new_page(), address)


# ---------------------------------------------------------------------------- painting


def test_a_file_is_painted_and_its_controls_work(new_context: NewContext, folder: Path) -> None:
    address = (folder / "index.html").as_uri()
    page = ControlsPage(new_context("file:").new_page(), address)
    page.handle("depth").press("ArrowRight")
    assert page.said("depth") == "N = 13 layers"
    assert page.notice("stale") == "Shown here: N = 12 layers."
    page.handle("depth").press("ArrowLeft")
    assert page.notice("stale") == ""


def test_a_section_out_of_sight_is_painted_when_it_comes_near(page: ControlsPage) -> None:
    far = page.page.locator(f"section[data-experiment={controls_page.FAR}]")
    assert far.get_attribute("data-painted") is None
    far.scroll_into_view_if_needed()
    expect(far).to_have_attribute("data-painted", "done")


def test_a_section_can_be_painted_before_it_comes_near(page: ControlsPage) -> None:
    state = page.page.evaluate(
        f'normlab.paint("{controls_page.FAR}").then((painted) => painted.state())'
    )
    assert state == DEFAULTS


def test_a_section_that_is_not_there_is_refused_in_a_sentence(page: ControlsPage) -> None:
    reason = page.page.evaluate('normlab.paint("none").catch((error) => error.message)')
    assert reason == 'The page has no experiment "none".'


def test_documents_with_equal_ids_do_not_touch_each_other(page: ControlsPage) -> None:
    ids = page.run(
        """const other = await normlab.paint("two");
        return [painted, other].map((it) => it.document.roots().map((root) => root.id));"""
    )
    assert ids[0] == ids[1]
    page.handle("depth", "two").press("End")
    page.run(
        """const other = await normlab.paint("two");
        const model = {id: other.roots["control:change"]};
        other.patch({events: [{kind: "ModelChanged", model, attr: "disabled", new: true}]});"""
    )
    assert page.state == DEFAULTS
    assert page.said("depth", "two") == "N = 48 layers"
    assert page.said("depth") == "N = 12 layers"
    expect(page.handle("change", "two")).to_have_attribute("aria-disabled", "true")
    expect(page.handle("change")).to_have_attribute("aria-disabled", "false")
    assert page.heard == [["two", "depth", "48"]]


# ---------------------------------------------------------------------------- the reader's changes


def test_a_slider_obeys_the_keys(page: ControlsPage) -> None:
    keys = {
        "ArrowRight": 13, "ArrowUp": 14, "ArrowLeft": 13, "ArrowDown": 12,
        "PageUp": 17, "PageDown": 12, "Home": 1, "End": 48,
    }  # fmt: skip
    for key, value in keys.items():
        page.handle("depth").press(key)
        words = f"N = {value} layer{'' if value == 1 else 's'}"
        assert page.heard == [["one", "depth", str(value)]]
        assert page.said("depth") == words
        expect(page.handle("depth")).to_have_attribute("aria-valuetext", words)
        expect(page.handle("depth")).to_have_attribute("aria-valuenow", f"{value}.0")


def test_a_slider_over_given_values_says_those_values(page: ControlsPage) -> None:
    page.handle("change").press("ArrowRight")
    assert page.heard == [["one", "change", "0.1"]]
    assert page.said("change") == "δ = 10.0%"


def test_a_drag_is_told_while_it_lasts(page: ControlsPage) -> None:
    x, y = page.middle(page.handle("depth"))
    page.page.mouse.move(x + 18, y + 18)  # not on the handle one sees, but within a finger's width
    page.page.mouse.down()
    page.page.mouse.move(x + 100, y, steps=5)
    told = page.heard
    assert len(told) > 1
    assert page.said("depth") == f"N = {told[-1][2]} layers"
    page.page.mouse.up()
    assert page.state["depth"] == told[-1][2]


def test_a_handle_in_hand_is_not_moved(page: ControlsPage) -> None:
    x, y = page.middle(page.handle("depth"))
    page.page.mouse.move(x, y)
    page.page.mouse.down()
    page.page.mouse.move(x + 60, y, steps=3)
    held = page.state["depth"]
    page.run('painted.apply({depth: "2", attention: "softmax"});')
    assert page.state == {**DEFAULTS, "depth": held, "attention": "softmax"}
    page.page.mouse.up()
    page.run('painted.apply({depth: "2"});')
    assert page.state["depth"] == "2"


def test_a_number_that_is_being_typed_is_not_overwritten(page: ControlsPage) -> None:
    field = page.slot("control:seed").get_by_role("spinbutton")
    field.press_sequentially("4")
    page.run('painted.apply({seed: "9"});')
    assert field.input_value() in ("04", "40")
    field.press("Enter")
    assert page.heard in ([["one", "seed", "4"]], [["one", "seed", "40"]])


def test_choices_numbers_and_buttons_tell_what_was_done(page: ControlsPage) -> None:
    page.slot("control:width").get_by_role("combobox").select_option("256")
    page.slot("control:attention").get_by_role("radio", name="softmax").check()
    seed = page.slot("control:seed").get_by_role("spinbutton")
    seed.fill("12")
    seed.press("Enter")
    seed.press("ArrowUp")
    page.slot("button:perturb").get_by_role("button").click()
    page.slot("button:stop").get_by_role("button").press("Space")
    assert page.heard == [
        ["one", "width", "256"],
        ["one", "attention", "softmax"],
        ["one", "seed", "12"],
        ["one", "seed", "13"],
        ["one", "perturb"],
        ["one", "stop"],
    ]
    assert page.state == {**DEFAULTS, "width": "256", "attention": "softmax", "seed": "13"}


def test_a_number_out_of_bounds_is_clamped_with_a_sentence(page: ControlsPage) -> None:
    seed = page.slot("control:seed").get_by_role("spinbutton")
    seed.fill("99999999999")
    seed.press("Enter")
    assert page.heard == [["one", "seed", "4294967295"]]
    assert "99999999999 is outside 0 … 4294967295, so 4294967295 is used" in page.notice("notice")
    seed.fill("5")
    seed.press("Enter")
    assert page.notice("notice") == ""
    seed.fill("-1")
    seed.press("Enter")
    assert "so 0 is used" in page.notice("notice")
    page.slot("control:attention").get_by_role("radio", name="softmax").check()
    assert page.notice("notice") == "", "what was said of one control is no word about another"


def test_an_emptied_field_keeps_its_value(page: ControlsPage) -> None:
    seed = page.slot("control:seed").get_by_role("spinbutton")
    seed.fill("")
    seed.blur()
    assert seed.input_value() == "0"
    assert page.heard == []


def test_what_the_reader_did_before_anyone_listened_is_told(page: ControlsPage) -> None:
    far = controls_page.FAR
    page.page.evaluate(f'normlab.paint("{far}")')
    page.handle("depth", far).press("End")
    page.slot("button:perturb", far).get_by_role("button").click()
    heard = page.page.evaluate(
        f"""normlab.paint("{far}").then((painted) => {{
          const heard = [];
          painted.apply({{depth: "3"}});
          painted.onOption((option, value) => heard.push([option, value]));
          painted.onPress((action) => heard.push([action]));
          return [heard, painted.state().depth];
        }})"""
    )
    assert heard == [[["depth", "48"], ["perturb"]], "48"]


def test_a_label_leads_to_its_control(page: ControlsPage) -> None:
    page.page.locator("section[data-experiment=one] [data-control=depth] label").click()
    expect(page.handle("depth")).to_be_focused()


# ---------------------------------------------------------------------------- from the page's side


def test_applied_values_show_everywhere_and_no_handler_hears(page: ControlsPage) -> None:
    wanted = {"depth": "1", "change": "0.1", "width": "64", "attention": "softmax", "seed": "7"}
    page.run(f"painted.apply({wanted});")
    assert page.state == wanted
    assert page.said("depth") == "N = 1 layer"
    expect(page.slot("control:attention").get_by_role("radio", name="softmax")).to_be_checked()
    assert page.heard == []


def test_values_that_cannot_be_shown_become_the_nearest_or_nothing(page: ControlsPage) -> None:
    page.run('painted.apply({depth: "1000", change: "0.09", width: "100", attention: "hard"});')
    assert page.state == {**DEFAULTS, "depth": "48", "change": "0.1", "width": "128"}
    page.run('painted.apply({depth: "many", seed: "", nothing: "1"});')
    assert page.state["depth"] == "48"


def test_a_patch_is_shown_and_no_handler_hears(page: ControlsPage) -> None:
    page.run(
        """const slider = painted.document.get_model_by_id(painted.roots["control:depth"]);
        const model = {id: slider.id};
        const change = (attr, value) => ({kind: "ModelChanged", model, attr, new: value});
        painted.patch(JSON.stringify({events: [change("value", 30), change("disabled", true)]}));"""
    )
    assert page.said("depth") == "N = 30 layers"
    expect(page.handle("depth")).to_have_attribute("aria-disabled", "true")
    assert page.heard == []


def test_a_widget_that_bokeh_renders_anew_is_named_again(page: ControlsPage) -> None:
    for option in OPTIONS:
        label = page.run(f'return painted.controls.get("{option}").tag.label;')
        page.run(f'painted.controls.get("{option}").view.rerender();')
        expect(page.slot(f"control:{option}").locator(f'[aria-label="{label}"]')).to_be_visible()
    page.run('painted.apply({depth: "24"});')
    expect(page.handle("depth")).to_have_attribute("aria-valuetext", "N = 24 layers")


def test_another_document_takes_the_place_without_a_jump_and_without_a_trace(
    page: ControlsPage,
) -> None:
    page.run('painted.apply({depth: "24"}); scrollTo(0, 600);')
    counts = """[Bokeh.documents.length, Bokeh.index.roots.length,
                 document.querySelectorAll("*").length, scrollY]"""
    before, after, changed = page.run(
        f"""const before = {counts};
        const old = painted.document;
        for (let i = 0; i < 3; i++) await painted.replace(stored);
        return [before, {counts}, old !== painted.document];"""
    )
    assert changed
    assert before == after
    assert page.state == {**DEFAULTS, "depth": "24"}
    assert page.heard == []
    page.handle("depth").press("End")
    assert page.heard == [["one", "depth", "48"]]


def test_sections_that_left_the_page_are_let_go(page: ControlsPage) -> None:
    documents = page.page.evaluate("Bokeh.documents.length")
    left = page.run(
        """painted.section.remove();
        normlab.scan();
        await null;
        return Bokeh.documents.length;"""
    )
    assert left == documents - 1


# ---------------------------------------------------------------------------- for eye, ear and hand


@pytest.mark.parametrize(
    "options",
    [{}, {"color_scheme": "dark"}, PHONE, {**PHONE, "color_scheme": "dark"}],
    ids=["light", "dark", "phone", "dark phone"],
)
def test_axe_finds_nothing(new_context: NewContext, address: str, options: dict[str, Any]) -> None:
    context = new_context(address, **options)
    page = ControlsPage(context.new_page(), address)
    # The policy forbids scripts of other origins; the debugger's console is outside of it.
    debugger = context.new_cdp_session(page.page)
    debugger.send("Runtime.evaluate", {"expression": AXE.read_text(encoding="utf-8")})
    found = page.page.evaluate("axe.run()")
    assert [
        (rule["id"], [node["html"] for node in rule["nodes"]]) for rule in found["violations"]
    ] == []
    assert found["passes"] != []


def test_every_control_can_be_reached_by_tab_and_figures_are_no_stop(page: ControlsPage) -> None:
    page.page.locator("section[data-experiment=one] h2").click()
    stops = []
    for _ in range(8):
        page.page.keyboard.press("Tab")
        stops.append(
            page.page.evaluate(
                """() => {
                  const [section, slot] = ["section", "[data-slot]"].map(
                    (part) => document.activeElement.closest(part));
                  return section.dataset.experiment + " " + slot.dataset.slot;
                }"""
            )
        )
    slots = [f"control:{name}" for name in OPTIONS] + ["button:perturb", "button:stop"]
    assert stops == [f"one {slot}" for slot in slots] + ["two control:depth"]


def test_the_keyboard_is_kept_when_one_button_takes_over_from_another(page: ControlsPage) -> None:
    perturb, stop = (
        page.slot(f"button:{name}").get_by_role("button") for name in ("perturb", "stop")
    )

    def switch(on: str, off: str) -> None:
        page.run(
            f"""const change = (name, disabled) => ({{
              kind: "ModelChanged", model: {{id: painted.buttons.get(name).model.id}},
              attr: "disabled", new: disabled,
            }});
            painted.patch({{events: [change("{off}", true)]}});
            painted.patch({{events: [change("{on}", false)]}});"""
        )

    perturb.press("Enter")
    switch(on="stop", off="perturb")
    expect(stop).to_be_focused()
    switch(on="perturb", off="stop")
    expect(perturb).to_be_focused()
    page.handle("depth").focus()
    switch(on="stop", off="perturb")
    expect(page.handle("depth")).to_be_focused()
    page.run("await painted.replace(stored);")
    expect(page.handle("depth")).to_be_focused()


def test_focus_is_seen(page: ControlsPage) -> None:
    page.handle("depth").press("ArrowRight")
    ring = page.handle("depth").evaluate(
        "(it) => [getComputedStyle(it).outlineStyle, getComputedStyle(it).outlineWidth]"
    )
    assert ring == ["solid", "3px"]


@pytest.mark.parametrize("options", [{}, PHONE], ids=["desk", "phone"])
def test_pointer_targets_are_large_enough(
    new_context: NewContext, address: str, options: dict[str, Any]
) -> None:
    page = ControlsPage(new_context(address, **options).new_page(), address)

    def size(locator: Locator) -> tuple[float, float]:
        box = locator.bounding_box()
        assert box is not None
        return box["width"], box["height"]

    section = page.page.locator("section[data-experiment=one]")
    for target in section.locator("button:visible, select, input, [role=slider]").all():
        if target.get_attribute("aria-hidden") is None:
            assert min(size(target)) >= 24
    for area in section.locator(".noUi-touch-area").all():
        assert min(size(area)) >= 44


def test_nothing_is_wider_than_a_phone(new_context: NewContext, address: str) -> None:
    page = ControlsPage(new_context(address, **NARROW).new_page(), address)
    assert page.page.evaluate("document.documentElement.scrollWidth") == 360
    canvas = page.slot("figure:main").locator("canvas").first.bounding_box()
    assert canvas is not None
    assert 0 < canvas["width"] <= 360


def test_figures_follow_the_page_when_it_grows_narrower(page: ControlsPage) -> None:
    page.page.set_viewport_size({"width": 400, "height": 800})
    page.until(
        """normlab.paint("one").then((painted) =>
          painted.slot("figure:main").firstElementChild.getBoundingClientRect().width < 400)"""
    )
    page.until("document.documentElement.scrollWidth === 400")


INK = """normlab.paint("one").then((painted) => {
  const [canvas] = [...painted.manager.query((view) => view.model.type === "Canvas")];
  const painting = canvas.primary.canvas;
  const copy = new OffscreenCanvas(painting.width, painting.height);
  const read = copy.getContext("2d", {willReadFrequently: true});
  read.drawImage(painting, 0, 0);
  const {data} = read.getImageData(0, 0, copy.width, copy.height);
  const wanted = [1, 3, 5].map((i) => parseInt("COLOR".slice(i, i + 2), 16));
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] === 255 && wanted.every((channel, j) => data[i + j] === channel)) count += 1;
  }
  return count > 200;
})"""


def test_figures_take_the_ink_of_the_scheme_as_soon_as_it_changes(page: ControlsPage) -> None:
    light, dark = (INK.replace("COLOR", scheme.edge) for scheme in (theme.LIGHT, theme.DARK))
    page.until(light)
    page.page.emulate_media(color_scheme="dark")
    page.until(dark)
    page.page.evaluate('document.documentElement.dataset.theme = "light"')
    page.until(light)
    page.page.emulate_media(color_scheme="light")
    page.page.evaluate('document.documentElement.dataset.theme = "dark"')
    page.until(dark)
    page.page.evaluate('dispatchEvent(new Event("beforeprint"))')
    assert page.page.evaluate(light)  # paper is white
    page.page.evaluate('dispatchEvent(new Event("afterprint"))')
    page.until(dark)
    assert not page.page.evaluate(light)


def test_a_figure_painted_again_keeps_no_trace_of_what_it_showed(page: ControlsPage) -> None:
    inked = page.run(
        """const [canvas] = [...painted.manager.query((view) => view.model.type === "Canvas")];
        const {ctx} = canvas.primary;
        const {width, height} = ctx.canvas;
        ctx.fillRect(0, 0, width, height);
        ctx.beginPath();
        ctx.rect(2, 2, 8, 8);  // a path that nobody drew
        const [plot] = canvas.plot_views;
        plot.request_repaint();
        plot.repaint();
        const blank = new OffscreenCanvas(width, height);
        const copy = blank.getContext("2d", {willReadFrequently: true});
        copy.drawImage(ctx.canvas, 0, 0);
        const opaque = (x, y, w, h, least = 255) =>
          copy.getImageData(x, y, w, h).data.some((value, i) => i % 4 === 3 && value >= least);
        return [opaque(0, 0, width, 1), opaque(0, 0, 1, height), opaque(1, 1, 11, 11, 1),
                opaque(0, 0, width, height)];"""
    )
    assert inked == [False, False, False, True]  # upper edge, left edge, the path, the figure


def test_motion_is_left_out_for_those_who_ask_for_that(
    new_context: NewContext, address: str
) -> None:
    moving = "(it) => getComputedStyle(it.parentElement).transitionDuration"
    for preference, duration in {"reduce": "0s", "no-preference": "0.3s"}.items():
        context = new_context(address, reduced_motion=preference)
        page = ControlsPage(context.new_page(), address)
        page.slot("control:depth").locator(".noUi-target").evaluate(
            'it => it.classList.add("noUi-state-tap")'
        )
        assert page.handle("depth").evaluate(moving) == duration


# ---------------------------------------------------------------------------- fingers


class Finger:
    def __init__(self, session: CDPSession) -> None:
        self.session = session

    def swipe(self, x: float, y: float, dx: float = 0, dy: float = 0) -> None:
        """Lay it on, move it in ten steps, lift it."""
        self._send("touchStart", [{"x": x, "y": y}])
        for step in range(1, 11):
            self._send("touchMove", [{"x": x + dx * step / 10, "y": y + dy * step / 10}])
        self._send("touchEnd", [])

    def _send(self, type: str, points: list[dict[str, float]]) -> None:
        self.session.send("Input.dispatchTouchEvent", {"type": type, "touchPoints": points})


@pytest.fixture
def phone(new_context: NewContext, address: str) -> tuple[ControlsPage, Finger]:
    context = new_context(address, **PHONE)
    page = ControlsPage(context.new_page(), address)
    return page, Finger(context.new_cdp_session(page.page))


@pytest.mark.parametrize("slot", ["figure:main", "control:depth"])
def test_the_page_scrolls_under_a_finger_on_a_plot_or_on_a_slider_s_track(
    phone: tuple[ControlsPage, Finger], slot: str
) -> None:
    page, finger = phone
    place = page.slot(slot).locator(".noUi-base") if slot == "control:depth" else page.slot(slot)
    x, y = page.middle(place)
    before = page.page.evaluate("scrollY")
    finger.swipe(x, y, dy=-200)
    page.until(f"scrollY > {before} + 100")
    assert page.state == DEFAULTS


def test_a_finger_drags_a_handle_and_the_page_stays(phone: tuple[ControlsPage, Finger]) -> None:
    page, finger = phone
    x, y = page.middle(page.handle("depth"))
    before = page.page.evaluate("scrollY")
    finger.swipe(x + 15, y + 15, dx=100, dy=10)
    assert int(page.state["depth"]) > 20
    assert page.page.evaluate("scrollY") == before


def test_a_tap_on_the_track_moves_the_handle_there(phone: tuple[ControlsPage, Finger]) -> None:
    page, _ = phone
    x, y = page.middle(page.slot("control:depth").locator(".noUi-base"))
    page.page.touchscreen.tap(x, y)
    page.until("heard.length > 0")
    assert page.heard == [["one", "depth", page.state["depth"]]]
    assert 23 <= int(page.state["depth"]) <= 26


def test_the_wheel_over_a_plot_scrolls_the_page(page: ControlsPage) -> None:
    page.page.mouse.move(*page.middle(page.slot("figure:main")))
    before = page.page.evaluate("scrollY")
    page.page.mouse.wheel(0, 150)
    page.until(f"scrollY > {before}")
