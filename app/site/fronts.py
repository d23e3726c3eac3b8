"""The pages around the lessons: the door, the page for missing addresses, the front page, the texts
about the course (how things are written, the teacher's sheet), and the page for those offline.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from app import text
from app.site import offline
from app.site.thumbnails import thumbnail
from app.text import Document
from app.ui.strings import LANGUAGES, strings

if TYPE_CHECKING:
    from app.site.pages import Lesson, Site

ABOUT = ("notation", "teachers")


def read_about(folder: Path) -> dict[str, Mapping[str, Document]]:
    """The texts about the course, by name and language. Raises TextError as lessons do."""
    return {
        name: text.read_lesson(folder / name, LANGUAGES)
        for name in ABOUT
        if (folder / name).is_dir()
    }


def write(site: Site) -> None:
    """All of these pages in every language."""
    doors = _doors()
    site.page("index.html", "door.html", LANGUAGES[0], "", {"doors": doors})
    site.page("404.html", "missing.html", LANGUAGES[0], site.base, {"doors": doors})
    for language in LANGUAGES:
        _front(site, language)
        _offline(site, language)
        for name, texts in site.about.items():
            _about(site, name, texts[language], language)


def about_links(
    about: Mapping[str, Mapping[str, Document]], language: str, root: str
) -> list[dict[str, str]]:
    """Where the texts about the course are, for the foot of every page."""
    return [
        {"href": f"{root}{language}/{name}/index.html", **texts[language].meta}
        for name, texts in about.items()
    ]


def way(lessons: Sequence[Lesson], here: Lesson, language: str) -> dict[str, Any]:
    """The course as it is seen from one lesson: all of them, the one before, the one after."""
    links = [
        {
            "number": number,
            "href": f"../{lesson.slug}/index.html",
            "here": lesson is here,
            **lesson.texts[language].meta,
        }
        for number, lesson in enumerate(lessons, start=1)
    ]
    place = next(i for i, lesson in enumerate(lessons) if lesson is here)
    return {
        "all": links,
        "before": links[place - 1] if place else None,
        "after": links[place + 1] if place + 1 < len(links) else None,
    }


def _front(site: Site, language: str) -> None:
    say = strings(language)
    cards = [
        {
            "number": number,
            "href": f"{lesson.slug}/index.html",
            "figure": Markup(thumbnail(lesson.slug, say)),
            **lesson.texts[language].meta,
        }
        for number, lesson in enumerate(site.lessons, start=1)
    ]
    site.page(
        f"{language}/index.html",
        "front.html",
        language,
        "../",
        {
            "title": say("site.name"),
            "description": say("site.description"),
            "languages": site.languages("index.html", "../"),
            "cards": cards,
        },
    )


def _offline(site: Site, language: str) -> None:
    """It lists every page of the site; the service worker leaves those that are kept, and has the
    languages lead to the page that was wanted."""
    root = "../"
    first = [language, *(code for code in LANGUAGES if code != language)]
    site.page(
        offline.page(language),
        "offline.html",
        language,
        root,
        {
            "languages": site.languages("index.html", root),
            "pages": [
                {"code": code, "path": f"{code}/{path}", "title": title}
                for code in first
                for path, title in [
                    ("", strings(code)("site.lessons")),
                    *((f"{it.slug}/", it.texts[code].meta["title"]) for it in site.lessons),
                    *((f"{name}/", it[code].meta["title"]) for name, it in site.about.items()),
                ]
            ],
        },
    )


def _about(site: Site, name: str, document: Document, language: str) -> None:
    rendered = text.render(document, formulas=site.typeset, sources=site.sources, directives={})
    root = "../../"
    site.page(
        f"{language}/{name}/index.html",
        "text.html",
        language,
        root,
        {
            **document.meta,
            "languages": site.languages(f"{name}/index.html", root),
            "text": Markup(rendered.html),
            "citations": rendered.citations,
        },
    )


def _doors() -> list[dict[str, str]]:
    return [
        {
            "code": code,
            "name": strings(code)("site.language"),
            "question": strings(code)("site.question"),
            "href": f"{code}/index.html",
        }
        for code in LANGUAGES
    ]
