"""Diagram and formula are readings of the very step that the stack runs."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from app.nn.stack import Course, StackConfig, draw_layer
from app.nn.wirings import WIRINGS, Wiring
from app.ui.diagram import DRAWN, Stage, diagram, formula, stages, trace
from app.ui.steps import connections, norm_name
from app.ui.strings import LANGUAGES, strings

STREAMS = [name for name, row in WIRINGS.items() if row.streams > 1]
ONE_STREAM = [name for name in WIRINGS if name not in STREAMS]
BOTH = ("attention", "ffn")


def wiring(step: object) -> Wiring:
    return Wiring("made_up", step, True, False, "this test")  # type: ignore[arg-type]


def drawn(name: str, language: str = "en") -> ElementTree.Element:
    return ElementTree.fromstring(diagram(WIRINGS[name], strings(language), "d"))


def described(name: str, language: str = "en") -> str:
    svg = drawn(name, language)
    told = {element.get("id"): element.text for element in svg if element.get("id")}
    return told[svg.get("aria-describedby")] or ""


def test_the_formulas_are_those_of_the_papers() -> None:
    assert {name: formula(row) for name, row in WIRINGS.items()} == {
        "post_ln": r"x \leftarrow \mathrm{LN}\bigl(x + F(x)\bigr)",
        "pre_ln": r"x \leftarrow x + F\bigl(\mathrm{LN}(x)\bigr)",
        "deepnorm": r"x \leftarrow \mathrm{LN}\bigl(\alpha\,x + F(x)\bigr)",
        "admin": r"x \leftarrow \mathrm{LN}\bigl(\omega_i\,x + F(x)\bigr)",
        "admin_constant": r"x \leftarrow \mathrm{LN}\bigl(\omega\,x + F(x)\bigr)",
        "sandwich": r"x \leftarrow x + \mathrm{LN}\Bigl(F\bigl(\mathrm{LN}(x)\bigr)\Bigr)",
        "olmo2": r"\begin{aligned} x &\leftarrow x + \mathrm{RMS}\bigl("
        r"\mathrm{Attn}_{\mathrm{RMS}(q),\,\mathrm{RMS}(k)}(x)\bigr) \\ "
        r"x &\leftarrow x + \mathrm{RMS}\bigl(\mathrm{FFN}(x)\bigr) \end{aligned}",
        "pre_rms": r"x \leftarrow x + F\bigl(\mathrm{RMS}_{1+w}(x)\bigr)",
        "normformer": r"\begin{aligned} x &\leftarrow x + \mathrm{LN}\Bigl("
        r"\mathrm{Attn}\bigl(\mathrm{LN}(x)\bigr)\Bigr) \\ x &\leftarrow x + W_2\,\mathrm{LN}"
        r"\Bigl(\mathrm{relu}\bigl(W_1\,\mathrm{LN}(x)\bigr)\Bigr) \end{aligned}",
        "hyper_connections": r"\begin{aligned} h &= \textstyle\sum_j a_j x_j \\ x_i &\leftarrow "
        r"\textstyle\sum_j A_{ij}\,x_j + b_i\,F\bigl(\mathrm{LN}(h)\bigr) \end{aligned}",
        "mhc": r"\begin{aligned} h &= \textstyle\sum_j a_j x_j \\ x_i &\leftarrow "
        r"\textstyle\sum_j A_{ij}\,x_j + b_i\,F\bigl(\mathrm{LN}(h)\bigr) \end{aligned}",
    }


def test_the_main_path_is_found_whatever_the_step() -> None:
    assert stages(trace(WIRINGS["post_ln"])) == (Stage("sum", ("branch",)), Stage("norm"))
    assert stages(trace(WIRINGS["pre_ln"])) == (Stage("sum", ("norm", "branch")),)
    assert stages(trace(WIRINGS["deepnorm"])) == (
        Stage("sum", ("branch",), "alpha"),
        Stage("norm"),
    )
    ffn = stages(trace(WIRINGS["normformer"], "ffn"))
    assert ffn == (Stage("sum", ("norm", "branch")),)
    sandwich = wiring(lambda x, branch, norm: norm(branch(norm(x))) + x)
    assert stages(trace(sandwich)) == (Stage("sum", ("norm", "branch", "norm")),)
    both = wiring(lambda x, branch, norm: norm(norm(x) + branch(norm(x))))
    assert stages(trace(both)) == (Stage("norm"), Stage("sum", ("branch",)), Stage("norm"))


@pytest.mark.parametrize(
    "step",
    [lambda x, branch, norm: branch(x), lambda x, branch, norm: branch(x) + branch(x)],
    ids=["no main path", "two branches"],
)
def test_a_step_that_has_no_main_path_is_not_drawn(step: object) -> None:
    with pytest.raises(ValueError, match="main path"):
        stages(trace(wiring(step)))


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("index", [0, 1, 6])
def test_the_connections_read_off_a_step_are_those_it_runs_with(name: str, index: int) -> None:
    """At the start that the stack has: the drawing and the description are made from them."""
    config = StackConfig(4, width=16)
    course = Course(WIRINGS[name], config, np.ones((1, 5, 16)))
    matrices = draw_layer(config, 0, range(1), 0)
    step = [course.next(matrices[i % 2]) for i in range(index + 1)][-1]
    found = connections(WIRINGS[name], index)
    for part in ("read", "mix", "write"):
        np.testing.assert_array_equal(getattr(found, part), step.numbers[part])
    assert found.branch == ("norm", "branch")


def calls(name: str) -> int:
    """How often the boxes of norms must stand: as often as a layer calls one, and at the end."""
    row = WIRINGS[name]
    if row.streams > 1:
        each = sum(connections(row, index).branch.count("norm") for index in (0, 1))
    else:
        paths = [stage for kind in BOTH for stage in stages(trace(row, kind))]
        each = sum((stage.kind == "norm") + stage.branch.count("norm") for stage in paths)
    return each + row.final_norm


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", DRAWN)
def test_the_drawing_has_a_box_for_every_call(name: str, language: str) -> None:
    say, svg = strings(language), drawn(name, language)
    texts = [element.text for element in svg.iter("text")]
    norm = say(f"diagram.norms.{norm_name(WIRINGS[name].norm)}")
    assert texts.count(norm) == calls(name)
    assert texts.count(say("diagram.attention")) == 1
    assert texts.count(say("diagram.ffn")) == 1
    inside = [say(f"diagram.inside_{kind}", norm="") for kind in BOTH]
    notes = sum(any(words.strip() in (text or "") for words in inside) for text in texts)
    assert notes == sum(kind in WIRINGS[name].inside for kind in BOTH)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", ["post_ln", "pre_ln"])
def test_a_decoders_layer_has_cross_attention_between_the_two(name: str, language: str) -> None:
    say = strings(language)
    svg = ElementTree.fromstring(diagram(WIRINGS[name], say, "d", decoder=True))
    shown = [element.get("data-stage") for element in svg.iter() if element.get("data-stage")]
    branches = [stage for stage in shown if stage in ("attention", "cross", "ffn")]
    assert branches == ["attention", "cross", "ffn"]
    assert shown.count("norm") == 3
    assert shown.count("sum") == 3
    texts = [element.text for element in svg.iter("text")]
    assert say("diagram.cross") in texts
    assert say("diagram.memory") in texts
    assert svg[1].get("id") == svg.get("aria-describedby")
    assert say("diagram.told.start_decoder") in (svg[1].text or "")


@pytest.mark.parametrize("name", DRAWN)
def test_a_scaled_stream_shows_its_factor(name: str) -> None:
    factors = [e.text for e in drawn(name).iter("text") if (e.text or "").startswith("× ")]
    expected = {"deepnorm": ["× α"], "admin": ["× ωᵢ"], "admin_constant": ["× ω"]}
    assert [text for text in factors if text != "× N"] == 2 * expected.get(name, [])


@pytest.mark.parametrize("name", STREAMS)
def test_streams_show_which_of_them_are_read_written_and_mixed_at_the_start(name: str) -> None:
    svg, row = drawn(name), WIRINGS[name]
    found = [connections(row, index) for index in (0, 1)]
    rings = [e.get("class") or "" for e in svg.iter() if (e.get("class") or "").startswith("read")]
    assert ["idle" not in ring for ring in rings] == [w != 0 for each in found for w in each.read]
    sums = [e for e in svg.iter() if (e.get("class") or "").startswith("sum")]
    assert len(sums) == 2 * row.streams + 1  # and that of all streams at the end
    mixes = [e.get("class") or "" for e in svg.iter() if "mix" in (e.get("class") or "")]
    mixed = [not np.array_equal(each.mix, np.eye(row.streams)) for each in found]
    assert ["idle" not in mix for mix in mixes] == mixed


@pytest.mark.parametrize("name", DRAWN)
def test_a_reader_who_cannot_see_it_is_told(name: str) -> None:
    row, told = WIRINGS[name], described(name)
    svg = drawn(name)
    assert svg.get("role") == "img"
    title = next(e.text for e in svg if e.get("id") == svg.get("aria-labelledby"))
    assert strings("en")(f"wiring.{name}") in (title or "")
    norm = strings("en")(f"diagram.norms.{norm_name(row.norm)}")
    assert (f"one last {norm}" in told) == row.final_norm
    assert ("applied to the stream itself" in told) == (not row.final_norm)
    assert ("multiplied by" in told) == (name in ("deepnorm", "admin", "admin_constant"))
    assert ("queries and keys" in told) == (name == "olmo2")
    assert ("between its ReLU and W₂" in told) == (name == "normformer")
    assert ("4 residual streams" in told) == (name in STREAMS)


def test_what_is_told_of_connections_are_their_numbers() -> None:
    assert "with the weights 1, 0, 0, 0)" in described("hyper_connections")
    assert "with the weights 0, 1, 0, 0)" in described("hyper_connections")
    assert "with the weights 0.25)" in described("mhc")
    assert "keeps 0.95 of itself" in described("mhc")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", DRAWN)
def test_nothing_is_drawn_outside_the_picture(name: str, language: str) -> None:
    svg = diagram(WIRINGS[name], strings(language), "d")
    left, top, width, height = map(float, re.findall(r'viewBox="([^"]+)"', svg)[0].split())
    for x, y in re.findall(r' c?x="(-?[\d.]+)" c?y="(-?[\d.]+)"', svg):
        assert left <= float(x) <= left + width
        assert top <= float(y) <= top + height


@pytest.mark.parametrize("name", DRAWN)
def test_no_two_boxes_overlap(name: str) -> None:
    boxes = [
        tuple(float(rect.get(key) or 0) for key in ("x", "y", "width", "height"))
        for rect in drawn(name).iter("rect")
        if rect.get("class") != "layer"
    ]
    for i, (x, y, width, height) in enumerate(boxes):
        for other_x, other_y, other_width, other_height in boxes[i + 1 :]:
            aside = x + width < other_x or other_x + other_width < x
            assert aside or y + height < other_y or other_y + other_height < y
