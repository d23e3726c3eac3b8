"""The written pages: complete without a script, at home below any address, asking nobody else."""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from app import live
from app.site import assets, bokehjs, fronts, pages
from app.site.bundle import File, Runtime
from app.site.environment import Failure
from app.site.prerender import prerender
from app.ui import control_css
from app.ui.strings import LANGUAGES, WRITTEN, strings
from tests.site import documents

LESSONS = pages.LESSONS
BASE = "/courses/norm/"
LESSON = 150_000  # bytes as they travel: a page and all that its experiments are painted from
SCRIPT_ATTRIBUTES = re.compile(r"^on[a-z]+$")


@pytest.fixture(scope="module")
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    """A runtime folder as pages see it: they copy it and name its files."""
    folder = tmp_path_factory.mktemp("cache") / "0123456789ab"
    folder.mkdir()
    (folder / "THIRD_PARTY.txt").write_text("Notices of the runtime\n", encoding="utf-8")
    packed = gzip.compress(b"12345")
    (folder / "app.zip.gz.bin").write_bytes(packed)
    files = (
        File("THIRD_PARTY.txt", 23, "0" * 64),
        File("app.zip.gz.bin", len(packed), "f" * 64),
    )
    return Runtime(folder, files)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, runtime: Runtime) -> Path:
    out = tmp_path_factory.mktemp("out") / "site"
    pages.build(out, runtime, BASE)
    return out


class Page(HTMLParser):
    """What the tests ask of a page: its elements, its addresses, its text."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self._inside: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self._inside.append(tag)
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._inside.pop()

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.scripts[-1] += data
        else:
            self.text += data

    def all(self, tag: str, **wanted: str) -> list[dict[str, str | None]]:
        return [
            attrs
            for name, attrs in self.elements
            if name == tag and all(attrs.get(k.replace("_", "-")) == v for k, v in wanted.items())
        ]

    @property
    def addresses(self) -> Iterator[tuple[str, str]]:
        for tag, attrs in self.elements:
            for name in ("href", "src"):
                if attrs.get(name):
                    yield tag, str(attrs[name])


def every_page(site: Path) -> list[Page]:
    return [Page(path) for path in sorted(site.rglob("*.html"))]


def lesson(site: Path, language: str) -> Page:
    return Page(site / language / "warmup" / "index.html")


def stored(page: Page) -> dict[str, dict[str, Any]]:
    """What a page stores of its experiments, each with its document."""
    tags = [attrs for tag, attrs in page.elements if tag in ("script", "style")]
    rest = [
        json.loads(text)
        for attrs, text in zip(tags, page.scripts, strict=True)
        if "data-stored" in attrs
    ]
    sections = [section for section in page.all("section") if "data-experiment" in section]
    return {
        str(section["data-experiment"]): {
            **each,
            "document": documents.read(page.path.parent / str(section["data-document"])),
        }
        for section, each in zip(sections, rest, strict=True)
    }


def everything(site: Path) -> Iterator[dict[str, Any]]:
    """What the pages of one language store."""
    for path in sorted((site / "en").glob("*/index.html")):
        yield from stored(Page(path)).values()


def test_every_page_of_the_contract_is_there(site: Path) -> None:
    names = {page.path.relative_to(site).as_posix() for page in every_page(site)}
    expected = {"index.html", "404.html"}
    for language in LANGUAGES:
        expected |= {f"{language}/index.html", f"{language}/offline.html"}
        for path in LESSONS.glob("*/lesson.py"):
            expected.add(f"{language}/{path.parent.name}/index.html")
            if "::experiment" in (path.parent / "en.md").read_text(encoding="utf-8"):
                expected.add(f"{language}/{path.parent.name}/embed/index.html")
        expected |= {f"{language}/{name}/index.html" for name in fronts.ABOUT}
    assert names == expected


def test_links_lead_to_files_that_are_there(site: Path) -> None:
    for page in every_page(site):
        for _, address in page.addresses:
            parts = urlsplit(address)
            if parts.scheme or not parts.path:
                continue
            if page.path.name == "404.html":
                assert parts.path.startswith(BASE) or parts.path == "index.html"
                target = site / parts.path.removeprefix(BASE)
            else:
                assert not parts.path.startswith("/"), f"{address} would leave a sub-path"
                target = page.path.parent / parts.path
            assert target.resolve().is_file(), f"{page.path}: {address}"


def test_anchors_lead_to_elements_that_are_there(site: Path) -> None:
    for page in every_page(site):
        ids = [attrs["id"] for _, attrs in page.elements if attrs.get("id")]
        assert len(ids) == len(set(ids)), f"{page.path} uses an id twice"
        for _, address in page.addresses:
            if address.startswith("#"):
                assert address[1:] in ids, f"{page.path}: {address}"


def test_nothing_but_a_link_names_another_host(site: Path) -> None:
    for page in every_page(site):
        for tag, address in page.addresses:
            if urlsplit(address).scheme or address.startswith("//"):
                assert tag == "a", f"{page.path} loads {address}"
    for sheet in site.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert "@import" not in text
        assert not re.search(r"url\(['\"]?(https?:)?//", text)


def test_no_page_holds_a_script_or_a_handler_of_its_own(site: Path) -> None:
    for page in every_page(site):
        for attrs in page.all("script"):
            assert attrs.get("src") or attrs.get("type") == "application/json"
        for tag, attrs in page.elements:
            handlers = [name for name in attrs if SCRIPT_ATTRIBUTES.match(name)]
            assert not handlers, f"{page.path}: <{tag} {handlers}>"


def test_no_page_shows_markup_as_words(site: Path) -> None:
    for page in every_page(site):
        shown = re.search(r".{0,40}</?(?:span|sub|em|strong|code|a)\b.{0,40}", page.text)
        assert shown is None, f"{page.path}: {shown}"


def test_figures_need_classic_scripts_only(site: Path) -> None:
    scripts = [attrs for attrs in lesson(site, "en").all("script") if attrs.get("src")]
    names: dict[bool, list[str]] = {False: [], True: []}
    for attrs in scripts:
        names[attrs.get("type") == "module"].append(str(attrs["src"]).rsplit("/", 1)[-1])
    assert names[False] == ["shell.js", "bokeh.min.js", "paint.js"]
    assert names[True] == ["python.js", "page.js"]
    late = [attrs for attrs in lesson(site, "en").all("link") if "data-late" in attrs]
    assert [Path(str(attrs["href"])).name for attrs in late] == [
        "bokeh-widgets.min.js", "controls.js",
    ]  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_says_its_language_and_where_the_others_are(site: Path, language: str) -> None:
    page = lesson(site, language)
    assert page.all("html")[0]["lang"] == language
    assert page.all("html")[0]["data-runtime"] == "static"
    alternates = {a["hreflang"]: str(a["href"]) for a in page.all("link", rel="alternate")}
    assert set(alternates) == set(LANGUAGES)
    for code, address in alternates.items():
        assert (page.path.parent / address).resolve() == lesson(site, str(code)).path.resolve()
    assert page.all("meta", name="description")[0]["content"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_embed_holds_the_lessons_experiments_and_nothing_else_of_it(
    site: Path, language: str
) -> None:
    whole = lesson(site, language)
    page = Page(whole.path.parent / "embed" / "index.html")
    assert page.all("html")[0]["lang"] == language
    assert page.all("meta", name="robots")[0]["content"] == "noindex"
    address = str(page.all("link", rel="canonical")[0]["href"])
    assert (page.path.parent / address).resolve() == whole.path.resolve()
    sections = [[s.get("data-experiment") for s in p.all("section")] for p in (whole, page)]
    assert [name for name in sections[0] if name] == sections[1]
    assert not [tag for tag, _ in page.elements if tag in ("header", "nav")]
    assert stored(whole) == stored(page) != {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_without_a_script_a_reader_has_sentence_tables_and_details(
    site: Path, language: str
) -> None:
    page = lesson(site, language)
    experiment, _ = live.fresh("sensitivity", language)
    while experiment.step():
        pass
    html = page.path.read_text(encoding="utf-8")
    for part in ("sentence", "table", "details"):
        assert experiment.parts()[part]
        assert experiment.parts()[part] in html
    assert strings(language)("site.noscript") in page.text
    for control in experiment.controls.values():
        assert control.label in page.text
        assert control.help in page.text
        assert control.said in page.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_stored_documents_are_those_that_python_will_make(site: Path, language: str) -> None:
    for path in sorted((site / language).glob("*/index.html")):
        page = Page(path)
        slots = [attrs["data-slot"] for _, attrs in page.elements if "data-slot" in attrs]
        for name, found in stored(page).items():
            experiment, built = live.fresh(name, language)
            assert found["digest"] == built.digest == live.digest(found["document"]), name
            assert found["roots"] == built.roots
            assert found["state"] == experiment.state()
            assert [option["name"] for option in found["options"]] == list(experiment.controls)
            assert set(slots) >= set(built.roots)


@pytest.mark.parametrize("name", ["schedule", "attenuation"])
def test_a_documents_file_is_small_and_shows_what_python_holds(site: Path, name: str) -> None:
    def same(ours: Any, theirs: Any) -> None:
        if isinstance(theirs, float):
            assert ours == pytest.approx(theirs, rel=1e-5, abs=0)
        elif isinstance(theirs, dict | list | tuple):
            assert len(ours) == len(theirs)
            places = theirs if isinstance(theirs, dict) else range(len(theirs))
            for place in places:
                same(ours[place], theirs[place])
        else:
            assert ours == theirs

    (file,) = (site / "documents" / "en").glob(f"{name}.*.js")
    held = prerender(name, "en").stored["document"]
    same(documents.read(file), held)
    written = file.read_text(encoding="utf-8")
    assert control_css.COMMON not in documents.literal(file)
    assert len(written) < 0.8 * len(json.dumps(held, separators=(",", ":")))


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_lesson_read_to_its_end_is_few_bytes_more_where_python_is_here(
    site: Path, language: str
) -> None:
    for path in sorted((site / language).glob("*/index.html")):
        page = Page(path)
        files = [page.path.parent / str(it["data-document"]) for it in page.all("section")
                 if "data-document" in it]  # fmt: skip
        sent = sum(len(gzip.compress(file.read_bytes(), 9)) for file in (path, *files))
        assert sent <= LESSON, f"{path}: {sent}"


def test_a_source_that_stands_above_is_led_to(site: Path) -> None:
    _, *shown = (site / "en" / "warmup" / "index.html").read_text("utf-8").split("<pre")
    sources = [text.split("</pre>")[0].partition("<code>")[2] for text in shown]
    long = [source for source in sources if source.count("\n") > 30]
    assert len(long) == len(set(long)) > 5
    page = lesson(site, "en")
    led = [str(a["href"])[1:] for a in page.all("a") if str(a["href"]).startswith("#code-")]
    assert led
    assert all(page.all("pre", id=place) for place in led)


def test_stored_data_cannot_end_its_script_element(site: Path) -> None:
    assert "<" not in pages._json({"a": "</script><!--"})
    assert json.loads(pages._json({"a": "</script>"})) == {"a": "</script>"}


def test_the_page_knows_its_runtime_and_worker(site: Path, runtime: Runtime) -> None:
    page = lesson(site, "en")
    scripts = [t for t in page.scripts if t.startswith('{"version"')]
    config = json.loads(scripts[0])
    for script in ("worker", "offline"):
        assert (page.path.parent / config[script]).resolve().is_file()
    assert (site / "offline.js").is_file()
    folder = (page.path.parent / config["runtime"]).resolve()
    assert {f["name"] for f in config["files"]} == {"app.zip.gz.bin"}
    for file in config["files"]:
        assert (folder / file["name"]).stat().st_size == file["bytes"]


def test_assets_are_named_by_their_content(site: Path, runtime: Runtime, tmp_path: Path) -> None:
    katex = pages.ROOT / "node_modules" / "katex"
    notices = (runtime.folder / "THIRD_PARTY.txt").read_text(encoding="utf-8")
    documents = [each["document"] for each in everything(site)]
    models = set().union(*map(bokehjs.names_in, documents))
    again = assets.write(tmp_path, katex, notices, models)
    assert (site / again.folder).is_dir()
    other = assets.write(tmp_path, katex, notices + "more", models)
    assert other.folder != again.folder
    assert all((tmp_path / again.folder / name).is_file() for name in again.names)


def test_every_font_that_the_style_names_is_shipped_and_no_other_kind(site: Path) -> None:
    (sheet,) = site.glob("assets/*/katex.css")
    named = set(re.findall(r"url\(([^)]+)\)", sheet.read_text(encoding="utf-8")))
    shipped = {path.relative_to(sheet.parent).as_posix() for path in sheet.parent.glob("fonts/*")}
    assert named == shipped
    assert all(name.endswith(".woff2") for name in named)


def test_every_formula_is_spoken_as_well(site: Path) -> None:
    html = lesson(site, "en").path.read_text(encoding="utf-8")
    assert html.count('class="katex-mathml"') == html.count('class="katex-html"') > 40
    assert "katex-error" not in html


def test_what_is_wrong_with_a_text_ends_the_build_with_its_place(
    tmp_path: Path, runtime: Runtime
) -> None:
    lessons = tmp_path / "lessons"
    shutil.copytree(LESSONS, lessons)
    chinese = lessons / "warmup" / "zh-Hans.md"
    whole = chinese.read_text(encoding="utf-8")

    def refusal(text: str | None) -> str:
        if text is None:
            chinese.unlink()
        else:
            chinese.write_text(text, encoding="utf-8")
        with pytest.raises(Failure) as refused:
            pages.build(tmp_path / "site", runtime, lessons=lessons)
        return str(refused.value)

    assert "zh-Hans.md: the lesson has no text in zh-Hans" in refusal(None)
    assert re.search(
        r"zh-Hans\.md:\d+: here is the", refusal(whole.replace("::formula", "::graph"))
    )
    assert re.search(r"zh-Hans\.md:\d+: KaTeX", refusal(whole.replace("$N$", "$N^{$")))


def test_only_a_wiring_has_a_formula(tmp_path: Path, runtime: Runtime) -> None:
    lessons = tmp_path / "lessons"
    shutil.copytree(LESSONS, lessons)
    for language in WRITTEN:
        path = lessons / "warmup" / f"{language}.md"
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("::formula pre_ln", "::formula magic"), encoding="utf-8")
    with pytest.raises(Failure, match=r'en\.md:\d+: "::formula" takes one of post_ln, pre_ln,'):
        pages.build(tmp_path / "site", runtime, lessons=lessons)


def test_a_lesson_is_called_by_its_folder(tmp_path: Path, runtime: Runtime) -> None:
    lessons = tmp_path / "lessons"
    shutil.copytree(LESSONS / "warmup", lessons / "another")
    with pytest.raises(Failure, match=r"lesson\.py: the slug must be the folder's name, another"):
        pages.build(tmp_path / "site", runtime, lessons=lessons)


def test_a_lesson_shows_an_experiment_only_once(tmp_path: Path, runtime: Runtime) -> None:
    lessons = tmp_path / "lessons"
    shutil.copytree(LESSONS, lessons)
    for language in WRITTEN:
        path = lessons / "warmup" / f"{language}.md"
        line = "::experiment sensitivity\n"
        text = path.read_text(encoding="utf-8").replace(line, f"{line}\n{line}")
        path.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match=r"en\.md:\d+: the experiment sensitivity is shown a second"):
        pages.build(tmp_path / "site", runtime, lessons=lessons)
