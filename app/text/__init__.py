"""Lesson text: Markdown with directives, formulas and citations → HTML.

    document = read(Path("lessons/warmup/en.md"))
    rendered = render(document, formulas=Typesetter(node, katex), …)

Nothing here evaluates a string: a text holds words, formulas and the names of directives.
Whatever is wrong with a text stops the build with one sentence that names file and line.
"""

from app.text.errors import TextError
from app.text.formulas import Formula, Typesetter
from app.text.markdown import Directive, Document, Heading, read
from app.text.rendering import Rendered, render
from app.text.sources import Citation, Source, read_sources
from app.text.translations import check_translation, read_lesson

__all__ = [
    "Citation",
    "Directive",
    "Document",
    "Formula",
    "Heading",
    "Rendered",
    "Source",
    "TextError",
    "Typesetter",
    "check_translation",
    "read",
    "read_lesson",
    "read_sources",
    "render",
]
