"""What the stored documents may not hold, read from the built pages."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.site.documents import read

# They evaluate strings, or bring scripts of their own.
FORBIDDEN = re.compile(
    r"CustomJS|CustomJSFilter|ReactiveHTML|JSComponent|ESMComponent|ReactComponent|AnyWidget"
    r"|EditableSlider|HTMLTemplate|BkTemplate|JSLink|Div$|Markup"
)


@pytest.fixture(scope="module")
def documents(site: Path) -> dict[str, Any]:
    """What the pages store of every experiment, with the document out of the file they name."""
    found = {}
    for page in sorted(site.glob("*/*/index.html")):
        text = page.read_text(encoding="utf-8")
        files = re.findall(r'<section[^>]* data-document="([^"]*)"', text)
        stored = re.findall(r"<script[^>]* data-stored>(.*?)</script>", text)
        for file, rest in zip(files, stored, strict=True):
            found[f"{page.relative_to(site)} {Path(file).name.partition('.')[0]}"] = {
                **json.loads(html.unescape(rest)),
                "document": read(page.parent / file),
            }
    assert found, "the site has no stored document"
    return found


def nodes(value: Any) -> Iterator[Any]:
    yield value
    for child in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from nodes(child)


def test_no_document_holds_a_model_that_evaluates_strings(documents: dict[str, Any]) -> None:
    names = {
        node["name"]
        for stored in documents.values()
        for node in nodes(stored["document"])
        if isinstance(node, dict) and node.get("type") == "object"
    }
    assert "Figure" in names
    assert [name for name in sorted(names) if FORBIDDEN.search(name)] == []
    assert [name for name in sorted(names) if "." in name] == [], "a model that is not Bokeh's own"


def test_no_document_names_another_host_or_asks_for_mathjax(documents: dict[str, Any]) -> None:
    texts = [
        node for stored in documents.values() for node in nodes(stored) if isinstance(node, str)
    ]
    assert len(texts) > 100
    assert [text for text in texts if re.search(r"https?://|(^|[^:])//\w", text)] == []
    assert [text for text in texts if re.search(r"\$.*\$|\\\(", text)] == []


def test_every_language_stores_the_same_models(documents: dict[str, Any]) -> None:
    digests: dict[str, set[str]] = {}
    for place, stored in documents.items():
        digests.setdefault(place.split("/", 1)[1], set()).add(stored["digest"])
    assert all(len(found) == 1 for found in digests.values())
