"""Links from text to text lead somewhere, and those with settings to settings that there are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

import pytest

from app import live
from app.experiments.experiment import Experiment
from app.text import Document, read
from app.ui.strings import WRITTEN
from tests.text.texts import FOLDERS


@cache
def document(slug: str, language: str) -> Document:
    folder = next(folder for folder in FOLDERS if folder.name == slug)
    return read(folder / f"{language}.md")


@cache
def experiment(name: str) -> Experiment:
    return live.fresh(name, "en")[0]


def shown(slug: str, language: str) -> list[str]:
    directives = document(slug, language).directives
    return [each.arguments[0] for each in directives if each.name == "experiment"]


def links(folder: Path, language: str) -> Iterator[tuple[str, str, str, str]]:
    """The links that stay within the site: (place, slug, query, anchor)."""
    for address, line in document(folder.name, language).links:
        parts = urlsplit(address)
        if parts.scheme:
            continue
        slug = Path(parts.path).parent.name if parts.path else folder.name
        yield f"{folder.name}/{language}.md:{line}: {address}", slug, parts.query, parts.fragment


@pytest.mark.parametrize("language", WRITTEN)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_link_leads_to_a_text_and_to_a_place_in_it(folder: Path, language: str) -> None:
    for place, slug, _, anchor in links(folder, language):
        assert slug in {each.name for each in FOLDERS}, place
        headings = {heading.id for heading in document(slug, language).headings}
        assert not anchor or anchor in headings | set(shown(slug, language)), place


@pytest.mark.parametrize("language", WRITTEN)
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_settings_in_a_link_are_taken_as_they_are(folder: Path, language: str) -> None:
    for place, slug, query, _ in links(folder, language):
        for key, text in parse_qsl(query, keep_blank_values=True):
            name, _, option = key.partition(".")
            assert name in shown(slug, language), place
            controls = experiment(name).controls
            assert option in controls, place
            declared = controls[option].option
            assert declared is not None, place
            value, problem = declared.parse(text)
            assert problem is None, f"{place}: {problem}"
            assert declared.format(value) == text, place


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_all_languages_link_to_the_same_places(folder: Path) -> None:
    first, *others = (
        sorted(address for address, _ in document(folder.name, language).links)
        for language in WRITTEN
    )
    assert all(other == first for other in others)
