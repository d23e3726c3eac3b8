"""Diagram and formula are readings of the very step that the stack runs."""

import re
from xml.etree import ElementTree

import pytest

from app.nn.wirings import WIRINGS, Wiring
from app.ui.diagram import DRAWN, Stage, diagram, formula, stages, trace
from app.ui.strings import LANGUAGES, strings


def wiring(step: object) -> Wiring:
    return Wiring("made_up", step, True, False, "this test")  # type: ignore[arg-type]


def test_the_formulas_are_those_of_the_papers() -> None:
    assert formula(WIRINGS["post_ln"]) == r"x \leftarrow \mathrm{LN}\bigl(x + F(x)\bigr)"
    assert formula(WIRINGS["pre_ln"]) == r"x \leftarrow x + F\bigl(\mathrm{LN}(x)\bigr)"


def test_the_main_path_is_found_whatever_the_step() -> None:
    assert stages(trace(WIRINGS["post_ln"])) == (Stage("sum", ("branch",)), Stage("norm"))
    assert stages(trace(WIRINGS["pre_ln"])) == (Stage("sum", ("norm", "branch")),)
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


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", DRAWN)
def test_the_drawing_has_a_box_for_every_call(name: str, language: str) -> None:
    say = strings(language)
    svg = ElementTree.fromstring(diagram(WIRINGS[name], say, "d"))
    texts = [element.text for element in svg.iter("text")]
    calls = 2 * formula(WIRINGS[name]).count("LN") + WIRINGS[name].final_norm
    assert texts.count(say("diagram.norm")) == calls
    assert texts.count(say("diagram.attention")) == 1
    assert texts.count(say("diagram.ffn")) == 1


@pytest.mark.parametrize("name", DRAWN)
def test_a_reader_who_cannot_see_it_is_told(name: str) -> None:
    svg = ElementTree.fromstring(diagram(WIRINGS[name], strings("en"), "d"))
    assert svg.get("role") == "img"
    told = {element.get("id"): element.text for element in svg if element.get("id")}
    assert WIRINGS[name].name.split("_")[0] in (told[svg.get("aria-labelledby")] or "").lower()
    assert (told[svg.get("aria-describedby")] or "").count("LayerNorm") == 1 + WIRINGS[
        name
    ].final_norm


def test_nothing_is_drawn_outside_the_picture() -> None:
    for name in DRAWN:
        svg = diagram(WIRINGS[name], strings("en"), "d")
        left, top, width, height = map(float, re.findall(r'viewBox="([^"]+)"', svg)[0].split())
        for x, y in re.findall(r' x="(-?[\d.]+)" y="(-?[\d.]+)"', svg):
            assert left <= float(x) <= left + width
            assert top <= float(y) <= top + height
