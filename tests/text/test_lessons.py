"""Every lesson's text: its addresses and sources hold, and it has the parts that all have."""

from functools import cache
from pathlib import Path

import pytest

from app.experiments import EXPERIMENTS
from app.text import Document, read, read_sources
from app.ui.references import PAPERS
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


@pytest.mark.parametrize("slug", SLUGS)
def test_no_heading_takes_an_experiment_s_address(slug: str) -> None:
    headings = {heading.id for heading in document(slug, "en").headings}
    assert headings & (set(EXPERIMENTS) | PAGE_S_OWN) == set()


def test_cited_sources_are_listed_and_listed_ones_are_cited() -> None:
    cited = {key for slug, language in EACH for key in document(slug, language).cited}
    assert cited | set(PAPERS) == set(read_sources(LESSONS / "sources.toml"))


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
