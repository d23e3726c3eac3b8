"""The site's pages: lesson text, prerendered experiments and templates → plain HTML files.

    index.html, 404.html, <language>/index.html, <language>/offline.html,
    <language>/notation/index.html …      (fronts.py)
    <language>/<slug>/index.html          a lesson
    <language>/<slug>/embed/index.html    the lesson's experiments alone, for frames in other pages
    documents/<language>/<name>.<hash>.js what an experiment's figures and controls are painted from

Links are relative and name `index.html`, so that a page works below any address and from `file://`.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from app import text
from app.experiments import EXPERIMENTS, code
from app.nn.wirings import WIRINGS
from app.probes import NUMBERS_VERSION
from app.site import assets as asset_files
from app.site import documents, fronts, offline
from app.site.boards import board, shown_when
from app.site.bokehjs import names_in
from app.site.bundle import Runtime
from app.site.environment import ROOT, Failure
from app.site.kept import digest
from app.site.node import MODULES, node
from app.site.prerender import PrerenderError, prerender
from app.site.scripts import WEB
from app.site.thumbnails import thumbnail
from app.text import Directive, Document, Formula, Source, TextError, Typesetter
from app.ui import diagram, markup
from app.ui.strings import LANGUAGES, strings

LESSONS = ROOT / "lessons"
RUNTIME_NOTICES = "THIRD_PARTY.txt"
DOCUMENTS = "documents/"


@dataclass(frozen=True)
class Lesson:
    """A folder of `lessons/`: what its lesson.py declares, and its text in every language."""

    slug: str
    order: int
    texts: Mapping[str, Document]


def build(out: Path, runtime: Runtime, base: str = "/", *, lessons: Path = LESSONS) -> None:
    """Write the whole site into the folder `out`, which need not exist.

    `base` is the address at which the site will stand; only the page for missing addresses, which
    is served at any of them, has to know it. Raises Failure, with one sentence, for whatever is
    wrong with a text, an experiment or the parts that pages are made of.
    """
    try:
        Site(out, runtime, base, lessons).write()
    except (TextError, PrerenderError, FileNotFoundError) as error:
        raise Failure(str(error)) from error


def read_lessons(folder: Path) -> list[Lesson]:
    """All lessons in their order. Raises TextError if a text is missing or not all translated."""
    found = []
    for path in sorted(folder.glob("*/lesson.py")):
        declared = _declared(path)
        if declared.slug != path.parent.name:
            raise TextError(path, None, f"the slug must be the folder's name, {path.parent.name}.")
        texts = text.read_lesson(path.parent, LANGUAGES)
        _check_experiments(texts[LANGUAGES[0]])
        found.append(Lesson(path.parent.name, declared.order, texts))
    return sorted(found, key=lambda lesson: lesson.order)


class Site:
    """One build: what its pages share, and the writing of them."""

    def __init__(self, out: Path, runtime: Runtime, base: str, lessons: Path) -> None:
        self.out = out
        self.runtime = runtime
        self.base = base
        self.lessons = read_lessons(lessons)
        self.about = fronts.read_about(lessons / "pages")
        self.sources: Mapping[str, Source] = text.read_sources(lessons / "sources.toml")
        self.typeset = Typesetter(node(), MODULES / "katex")
        self.templates = _templates()
        self.prerender = cache(prerender)

    def write(self) -> None:
        self.typeset.prepare(
            formula
            for texts in (*(lesson.texts for lesson in self.lessons), *self.about.values())
            for document in texts.values()
            for formula in document.formulas
        )
        notices = (self.runtime.folder / RUNTIME_NOTICES).read_text(encoding="utf-8")
        self.assets = asset_files.write(self.out, self.typeset.katex, notices, self._models())
        self.runtime_folder = f"runtime/{self.runtime.folder.name}/"
        shutil.copytree(self.runtime.folder, self.out / self.runtime_folder, dirs_exist_ok=True)
        fronts.write(self)
        for language in LANGUAGES:
            for lesson in self.lessons:
                self._lesson(lesson, language)
                self._embed(lesson, language)
        offline.write(self.out, self.assets.folder, self.runtime_folder, DOCUMENTS)

    def _models(self) -> set[str]:
        """Names of Bokeh's models in all documents; they are the same in every language."""
        first = LANGUAGES[0]
        shown = [_shown(lesson.texts[first]) for lesson in self.lessons]
        held = [
            self.prerender(_only_argument(each, EXPERIMENTS), first).stored["document"]
            for each in chain.from_iterable(shown)
        ]
        return set().union(*map(names_in, held))

    # ------------------------------------------------------------------ pages

    def _lesson(self, lesson: Lesson, language: str) -> None:
        document = lesson.texts[language]
        root = "../../"
        listed: dict[str, str] = {}
        rendered = text.render(
            document,
            formulas=self.typeset,
            sources=self.sources,
            directives={
                "experiment": lambda it: self._experiment(it, language, root, listed=listed),
                "formula": lambda directive: self._wiring_formula(directive, language),
            },
        )
        self.page(
            f"{language}/{lesson.slug}/index.html",
            "lesson.html",
            language,
            root,
            {
                **document.meta,
                "languages": self.languages(f"{lesson.slug}/index.html", root),
                "lesson": lesson.slug,
                "way": fronts.way(self.lessons, lesson, language),
                "still": Markup(thumbnail(lesson.slug, strings(language))),
                "text": Markup(rendered.html),
                "citations": rendered.citations,
                "config": _json(self._config(lesson, language, root)),
            },
        )

    def _embed(self, lesson: Lesson, language: str) -> None:
        document = lesson.texts[language]
        shown = _shown(document)
        if not shown:
            return
        root = "../../../"
        self.page(
            f"{language}/{lesson.slug}/embed/index.html",
            "embed.html",
            language,
            root,
            {
                **document.meta,
                "lesson": lesson.slug,
                "experiments": {
                    _only_argument(each, EXPERIMENTS): Markup(
                        self._experiment(each, language, root, embedded=True)
                    )
                    for each in shown
                },
                "config": _json(self._config(lesson, language, root)),
            },
        )

    def page(
        self, path: str, template: str, language: str, root: str, values: Mapping[str, Any]
    ) -> None:
        """Write one page; `root` leads from it to the top of the site."""
        html = self.templates.get_template(template).render(
            say=strings(language),
            language=language,
            root=root,
            assets=root + self.assets.folder,
            about=fronts.about_links(self.about, language, root),
            **values,
        )
        file = self.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(html, encoding="utf-8", newline="\n")

    def languages(self, path: str, root: str) -> list[dict[str, str]]:
        """Where the same page is in every language."""
        return [
            {"code": code, "name": strings(code)("site.language"), "href": f"{root}{code}/{path}"}
            for code in LANGUAGES
        ]

    def _config(self, lesson: Lesson, language: str, root: str) -> dict[str, Any]:
        """What `web/page.js` is told."""
        return {
            "version": NUMBERS_VERSION,
            "language": language,
            "lesson": lesson.slug,
            "runtime": root + self.runtime_folder,
            "files": [
                {"name": file.name, "bytes": file.bytes}
                | ({} if file.loose is None else {"loose": file.loose})
                for file in self.runtime.files
                if file.name != RUNTIME_NOTICES
                and file.name.partition("/")[0] in (file.name, language)  # not others' snapshots
            ],
            "worker": f"{root}{self.assets.folder}worker.js",
            "offline": root + offline.NAME,
            "strings": strings(language).table("page"),
            "notices": strings(language).table("experiment.notice"),
            "toolbar": strings(language).table("toolbar"),
        }

    # ------------------------------------------------------------------ directives

    def _experiment(
        self,
        directive: Directive,
        language: str,
        root: str,
        *,
        embedded: bool = False,
        listed: dict[str, str] | None = None,
    ) -> str:
        """The experiment; its question is a heading below the one above it in the text.

        `listed`: files whose source stands on the page above, by path the place; what this one
        shows of its own is added.
        """
        heading = 2 if embedded else directive.level
        name = _only_argument(directive, EXPERIMENTS)
        shown = self.prerender(name, language)
        say = strings(language)
        listings = code.listings(
            EXPERIMENTS[name], list(dict.fromkeys(it.wiring for it in shown.drawings))
        )
        above = dict(listed or {})
        if listed is not None:
            for place, each in enumerate(listings, start=1):
                if each.whole:
                    listed.setdefault(each.path, f"code-{name}-{place}")
        drawn = [
            {
                "name": it.wiring,
                "title": say(f"wiring.{it.wiring}"),
                "when": shown_when(it.when, shown.stored["state"]) if it.when else "",
                "svg": Markup(
                    diagram.diagram(WIRINGS[it.wiring], say, f"{name}-{place}", decoder=it.decoder)
                ),
                "formula": Markup(self._formula_of(it.wiring, directive)),
            }
            for place, it in enumerate(shown.drawings, start=1)
        ]

        def board_of(file: str) -> Markup:
            return board(
                self.templates,
                file,
                say,
                state=shown.stored["state"],
                parts=shown.parts,
                typeset=lambda formulas: self._typeset(formulas, directive),
                values={"it": shown, "wirings": drawn, "embedded": embedded, "heading": heading},
            )

        return self.templates.get_template("experiment.html").render(
            say=say,
            it=shown,
            heading=heading,
            needs={
                control.name: shown_when(shown.needs[control.name], shown.stored["state"])
                if control.name in shown.needs
                else ""
                for control in (*shown.first, *shown.more)
            },
            board=board_of(name),
            below=board_of(f"{name}.below"),
            wirings=drawn,
            code=listings,
            above=above,
            document=root + self._document(name, language),
            stored=_json({key: it for key, it in shown.stored.items() if key != "document"}),
            part={part: Markup(html) for part, html in shown.parts.items()},
        )

    def _document(self, name: str, language: str) -> str:
        """Write what the experiment is painted from; its path."""
        script = documents.script(self.prerender(name, language).stored["document"])
        path = f"{DOCUMENTS}{language}/{name}.{digest(script)[:12]}.js"
        file = self.out / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(script, encoding="utf-8", newline="\n")
        return path

    def _wiring_formula(self, directive: Directive, language: str) -> str:
        wiring = _only_argument(directive, diagram.DRAWN)
        return self.templates.get_template("formula.html").render(
            name=wiring,
            title=strings(language)(f"wiring.{wiring}"),
            formula=Markup(self._formula_of(wiring, directive)),
        )

    def _formula_of(self, wiring: str, directive: Directive) -> str:
        return self._typeset([diagram.formula(WIRINGS[wiring])], directive)[0]

    def _typeset(self, formulas: Sequence[str], directive: Directive) -> list[str]:
        wanted = [Formula(tex, False, directive.path, directive.line) for tex in formulas]
        self.typeset.prepare(wanted)
        return [self.typeset(formula) for formula in wanted]


def _shown(document: Document) -> list[Directive]:
    return [directive for directive in document.directives if directive.name == "experiment"]


def _check_experiments(document: Document) -> None:
    """An experiment's name is its address on the page, so it can stand there only once."""
    seen: set[str] = set()
    for directive in _shown(document):
        name = _only_argument(directive, EXPERIMENTS)
        if name in seen:
            raise TextError(
                directive.path, directive.line, f"the experiment {name} is shown a second time."
            )
        seen.add(name)


def _only_argument(directive: Directive, known: Collection[str]) -> str:
    if len(directive.arguments) != 1 or directive.arguments[0] not in known:
        raise TextError(
            directive.path,
            directive.line,
            f'"::{directive.name}" takes one of {", ".join(known)}.',
        )
    return directive.arguments[0]


def _declared(path: Path) -> Any:
    """The LESSON of a lesson.py."""
    spec = importlib.util.spec_from_file_location(f"lessons.{path.parent.name}.lesson", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.LESSON


def _json(value: object) -> Markup:
    """JSON that may stand inside a script element: no text in it can end the element."""
    plain = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return Markup(plain.replace("<", "\\u003c"))


@cache
def _templates() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(WEB / "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = lambda words: Markup(markup.text(words))
    return environment
