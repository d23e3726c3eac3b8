"""Links from text to text lead somewhere, and those with settings to settings that there are."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from app.experiments import EXPERIMENTS
from app.text import Document, read
from app.ui.strings import WRITTEN
from tests.text.texts import FOLDERS


@cache
def document(slug: str, language: str) -> Document:
    folder = next(folder for folder in FOLDERS if folder.name == slug)
    return read(folder / f"{language}.md")


def shown(slug: str) -> list[str]:
    return [d.arguments[0] for d in document(slug, "en").directives if d.name == "experiment"]


def addresses(slug: str) -> set[str]:
    return {heading.id for heading in document(slug, "en").headings} | set(shown(slug))


def problem(slug: str, link: str) -> str | None:
    """What is wrong with a link in a text: with its page, place, option or value."""
    parts = urlsplit(link)
    if parts.netloc:
        return None if parts.scheme == "https" else "is not https"
    page = re.fullmatch(r"(?:\.\./([a-z]+)/index\.html)?", parts.path)
    if not page or (page[1] or slug) not in {folder.name for folder in FOLDERS}:
        return "leads to no text"
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


@pytest.mark.parametrize("language", WRITTEN)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_links_lead_to_a_place_and_set_what_can_be_set(folder: Path, language: str) -> None:
    links = document(folder.name, language).links
    wrong = {f"{link} in line {line}": problem(folder.name, link) for link, line in links}
    assert {link: what for link, what in wrong.items() if what} == {}


@pytest.mark.parametrize(
    ("link", "words"),
    [
        ("?sensitivity.depth=1000#sensitivity", "cannot show"),
        ("?sensitivity.dept=3#sensitivity", "cannot show"),
        ("?sensitvity.depth=3#sensitivity", "no experiment"),
        ("#nowhere", "no place"),
        ("../nowhere/index.html", "no text"),
        ("http://example.org/", "not https"),
    ],
)
def test_a_wrong_link_would_be_found(link: str, words: str) -> None:
    assert words in str(problem("warmup", link))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_all_languages_link_to_the_same_places(folder: Path) -> None:
    first, *others = (
        [address for address, _ in document(folder.name, language).links] for language in WRITTEN
    )
    assert all(other == first for other in others)
