"""The front page's figures, and the way through the course."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from app.probes import norms
from app.site import fronts, pages
from app.site.thumbnails import thumbnail
from app.text import TextError
from app.ui.strings import LANGUAGES, strings

LESSONS = pages.read_lessons(pages.LESSONS)
SLUGS = [lesson.slug for lesson in LESSONS]


def drawn(slug: str, language: str = "en") -> ElementTree.Element:
    return ElementTree.fromstring(thumbnail(slug, strings(language)))


def dots(figure: ElementTree.Element, wiring: str) -> list[tuple[float, float]]:
    """Where a wiring's dots are, whichever their shape."""
    found = []
    for mark in figure.findall(f"g[@data-wiring='{wiring}']/*[@class='dot']"):
        if mark.tag == "circle":
            found.append((float(mark.get("cx", "")), float(mark.get("cy", ""))))
        else:
            x, y = re.match(r"M([\d.]+) ([\d.]+)", mark.get("d", "")).groups()  # type: ignore[union-attr]
            found.append((float(x), float(y) + 4))
    return found


def test_the_lessons_come_in_their_order() -> None:
    assert SLUGS == ["warmup", "signal", "attenuation", "depth"]


@pytest.mark.parametrize("slug", SLUGS)
def test_every_lesson_has_a_figure_that_is_told_in_words(slug: str) -> None:
    told = {drawn(slug, language).get("aria-label") for language in LANGUAGES}
    assert len(told) == len(LANGUAGES)
    assert drawn(slug).findall("g/polyline")


def test_a_lesson_without_a_figure_of_its_own_has_none() -> None:
    assert thumbnail("another", strings("en")) == ""


@pytest.mark.parametrize("slug", SLUGS)
def test_no_two_curves_share_a_dash(slug: str) -> None:
    dashes = [line.get("stroke-dasharray") for line in drawn(slug).findall("g/polyline")]
    assert len(dashes) == len(set(dashes)) == 2


@pytest.mark.parametrize("slug", SLUGS)
def test_nothing_is_drawn_beside_the_figure(slug: str) -> None:
    figure = drawn(slug)
    _, _, width, height = map(float, figure.get("viewBox", "").split())
    for line in figure.findall("g/polyline"):
        for point in line.get("points", "").split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= width
            assert 0 <= y <= height


def test_the_dots_are_what_the_probe_measures() -> None:
    *_, last = norms.measure({"width": 256, "seeds": 12})
    assert last is not None
    figure = drawn("signal")
    ticks = {
        float(text.text or ""): float(text.get("y", "")) - 4
        for text in figure.findall("text[@class='end']")
        if (text.text or "").isdecimal()
    }
    per_unit = (ticks[0.0] - ticks[10.0]) / 10
    for wiring in ("post_ln", "pre_ln"):
        values = [(ticks[0.0] - y) / per_unit for _, y in dots(figure, wiring)]
        assert values == pytest.approx(last.columns[wiring], abs=0.03)


def test_a_claim_has_no_dots() -> None:
    claim = drawn("attenuation").findall("g")[1]
    assert claim.get("data-wiring") is None
    assert claim.findall("*[@class='dot']") == []
    points = [point.split(",") for point in claim.findall("polyline")[0].get("points", "").split()]
    assert len({x for x, _ in points}) == len({y for _, y in points}) == len(points)


def test_each_lesson_knows_the_one_before_and_the_one_after() -> None:
    for place, lesson in enumerate(LESSONS):
        way = fronts.way(LESSONS, lesson, "en")
        assert [link["href"] for link in way["all"]] == [f"../{s}/index.html" for s in SLUGS]
        assert [link["here"] for link in way["all"]] == [s == lesson.slug for s in SLUGS]
        before, after = way["before"], way["after"]
        assert before == (way["all"][place - 1] if place else None)
        assert after == (way["all"][place + 1] if place + 1 < len(SLUGS) else None)


def test_a_text_about_the_course_is_translated_or_refused(tmp_path: Path) -> None:
    assert fronts.read_about(tmp_path) == {}
    text = (pages.LESSONS / "pages" / "notation" / "en.md").read_text(encoding="utf-8")
    (tmp_path / "notation").mkdir()
    (tmp_path / "notation" / "en.md").write_text(text, encoding="utf-8")
    with pytest.raises(TextError, match=r"has no text in zh-Hans"):
        fronts.read_about(tmp_path)
