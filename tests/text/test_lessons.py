"""Every lesson's text: its addresses, sources and links hold, alike in both languages."""

import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.experiments import EXPERIMENTS
from app.text import Document, read, read_sources
from app.ui.strings import WRITTEN

LESSONS = Path(__file__).parents[2] / "lessons"
SLUGS = sorted(path.parent.name for path in LESSONS.glob("*/lesson.py"))
PAGE_S_OWN = {"sources", "status"}
EACH = [(slug, language) for slug in SLUGS for language in WRITTEN]


@cache
def document(slug: str, language: str) -> Document:
    return read(LESSONS / slug / f"{language}.md")


def shown(slug: str) -> list[str]:
    return [d.arguments[0] for d in document(slug, "en").directives if d.name == "experiment"]


def links(slug: str, language: str) -> list[str]:
    return [
        str(child.attrs["href"])
        for token in document(slug, language).tokens
        for child in token.children or []
        if child.type == "link_open"
    ]


def addresses(slug: str) -> set[str]:
    return {heading.id for heading in document(slug, "en").headings} | set(shown(slug))


def problem(slug: str, link: str) -> str | None:
    """What is wrong with a link in a lesson's text: with its page, place, option or value."""
    parts = urlsplit(link)
    if parts.netloc:
        return None if parts.scheme == "https" else "is not https"
    page = re.fullmatch(r"(?:\.\./([a-z]+)/index\.html)?", parts.path)
    if not page or (page[1] or slug) not in SLUGS:
        return "leads to no lesson"
    there = page[1] or slug
    if parts.fragment and parts.fragment not in addresses(there):
        return f"names no place in {there}"
    states: dict[str, dict[str, str]] = {}
    for key, value in parse_qsl(parts.query, keep_blank_values=True):
        name, _, option = key.partition(".")
        if name not in shown(there):
            return f"names no experiment of {there}"
        states.setdefault(name, {})[option] = value
    for name, state in states.items():
        experiment = EXPERIMENTS[name]("en")
        notices = experiment.set(state)
        kept = {option: experiment.state().get(option) for option in state}
        if notices or kept != state:
            return f"sets {name} to what it cannot show: {notices or kept}"
    return None


@pytest.mark.parametrize(("slug", "language"), EACH)
def test_links_lead_to_a_place_and_set_what_can_be_set(slug: str, language: str) -> None:
    wrong = {link: problem(slug, link) for link in links(slug, language)}
    assert {link: what for link, what in wrong.items() if what} == {}


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("?sensitivity.depth=1000#sensitivity", "cannot show"),
        ("?sensitivity.dept=3#sensitivity", "cannot show"),
        ("?sensitvity.depth=3#sensitivity", "no experiment"),
        ("#nowhere", "no place"),
        ("../nowhere/index.html", "no lesson"),
        ("http://example.org/", "not https"),
    ],
)
def test_a_wrong_link_would_be_found(link: str, words: str) -> None:
    assert words in str(problem("warmup", link))


@pytest.mark.parametrize("slug", SLUGS)
def test_a_translation_links_to_the_same_places(slug: str) -> None:
    for language in WRITTEN:
        assert links(slug, language) == links(slug, "en")


@pytest.mark.parametrize("slug", SLUGS)
def test_no_heading_takes_an_experiment_s_address(slug: str) -> None:
    headings = {heading.id for heading in document(slug, "en").headings}
    assert headings & (set(EXPERIMENTS) | PAGE_S_OWN) == set()


def test_cited_sources_are_listed_and_listed_ones_are_cited() -> None:
    cited = {key for slug, language in EACH for key in document(slug, language).cited}
    assert cited == set(read_sources(LESSONS / "sources.toml"))


@pytest.mark.parametrize(("slug", "language"), EACH)
def test_every_lesson_has_questions_with_answers_and_says_what_it_does_not_show(
    slug: str, language: str
) -> None:
    skeleton = [what for what, _ in document(slug, language).skeleton]
    questions = skeleton.index("heading h2 {#questions}")
    limits = skeleton.index("heading h2 {#limits}")
    assert skeleton[questions + 1 : limits].count("box :::answer") >= 2


def test_every_experiment_is_shown_in_a_lesson() -> None:
    assert {name for slug in SLUGS for name in shown(slug)} == set(EXPERIMENTS)
