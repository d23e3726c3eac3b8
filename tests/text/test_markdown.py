"""Lesson text: what it turns into, and what is refused with a sentence that names the place."""

from html.parser import HTMLParser
from pathlib import Path

import pytest

from app.text import Formula, Source, TextError, read, render
from app.ui.references import linked

HEAD = "---\ntitle: A title\nshort: Short\ndescription: What it is about\n---\n"
SOURCES = {
    key: Source(key, f"A. {key.title()}", 2020, f"On <{key}>", "arXiv", "https://example.org/")
    for key in ("liu2020", "xiong2020")
}


def text_of(folder: Path, body: str) -> Path:
    path = folder / "en.md"
    path.write_text(HEAD + body, encoding="utf-8")
    return path


def rendered(folder: Path, body: str) -> str:
    return render(
        read(text_of(folder, body)),
        formulas=lambda formula: f"<math>{formula.tex}</math>",
        directives={"experiment": lambda directive: f"<hr id={directive.arguments[0]}>"},
        sources=SOURCES,
    ).html


def refusal(folder: Path, body: str) -> str:
    with pytest.raises(TextError) as refused:
        rendered(folder, body)
    return str(refused.value)


def test_headings_keep_their_address_and_lose_its_notation(tmp_path: Path) -> None:
    assert rendered(tmp_path, "## The *ramp* now {#ramp}") == (
        '<h2 id="ramp">The <em>ramp</em> now</h2>\n'
    )


def test_raw_html_is_shown_as_text(tmp_path: Path) -> None:
    assert "<script" not in rendered(tmp_path, "<script>alert(1)</script>\n\na <b>b</b>")


def test_quotation_marks_are_set_and_the_letter_of_a_figure_is_left_alone(tmp_path: Path) -> None:
    assert rendered(tmp_path, 'Its "Figure 3(c)".') == "<p>Its “Figure 3(c)”.</p>\n"


def test_formulas_are_found_with_their_lines(tmp_path: Path) -> None:
    document = read(text_of(tmp_path, "One $a_1$,\nand $b$.\n\n$$\nc = d\n$$\n"))
    assert document.formulas == [
        Formula("a_1", False, document.path, 6),
        Formula("b", False, document.path, 7),
        Formula("c = d", True, document.path, 9),
    ]


def test_money_is_no_formula(tmp_path: Path) -> None:
    assert "<math>" not in rendered(tmp_path, "It cost $5 and then $ 6.")


def test_a_directive_alone_on_its_line_is_replaced(tmp_path: Path) -> None:
    html = rendered(tmp_path, "before\n::experiment sensitivity\nafter ::experiment x\n")
    assert html == "<p>before</p>\n<hr id=sensitivity><p>after ::experiment x</p>\n"


def test_a_directive_knows_the_level_of_a_heading_in_its_place(tmp_path: Path) -> None:
    body = (
        "::at x\n\n## A {#a}\n\n::at x\n\n### B {#b}\n\n::at x\n\n## C {#c}\n\n"
        ":::::steps\n::::step S\n::at x\n::::\n:::::\n"
    )
    levels = []
    render(
        read(text_of(tmp_path, body)),
        formulas=str,
        directives={"at": lambda directive: levels.append(directive.level) or ""},
        sources={},
    )
    assert levels == [2, 3, 4, 4]


def test_citations_are_numbered_by_first_mention_and_lead_there_and_back(tmp_path: Path) -> None:
    path = text_of(tmp_path, "A [@xiong2020, Theorem 1], b [@liu2020], c [@xiong2020，图 2].")
    page = render(read(path), formulas=str, directives={}, sources=SOURCES)
    assert [(c.number, c.source.key) for c in page.citations] == [(1, "xiong2020"), (2, "liu2020")]
    assert page.citations[0].anchors == ["cite-1-1", "cite-1-2"]
    assert '<a class="cite" id="cite-1-1" href="#source-1"' in page.html
    assert ">[1, Theorem 1]</a>" in page.html
    assert ">[1, 图 2]</a>" in page.html
    assert "On &lt;liu2020&gt;" in page.html


def test_a_source_that_an_experiment_names_is_listed_and_leads_back_to_it(tmp_path: Path) -> None:
    path = text_of(tmp_path, "A [@xiong2020].\n\n::experiment block\n\nB [@xiong2020].")
    shown = linked("[@liu2020] [@xiong2020] [@liu2020]")
    page = render(
        read(path), formulas=str, directives={"experiment": lambda _: shown}, sources=SOURCES
    )
    anchors = {citation.source.key: citation.anchors for citation in page.citations}
    assert anchors == {"xiong2020": ["cite-1-1", "block", "cite-1-3"], "liu2020": ["block"]}


@pytest.mark.parametrize(
    ("link", "carries"),
    [
        ("?sensitivity.depth=3#sensitivity", True),
        ("../depth/index.html", True),
        ("#ramp", False),
        ("https://example.org/", False),
    ],
)
def test_links_to_lessons_and_settings_take_the_colours_along(
    tmp_path: Path, link: str, carries: bool
) -> None:
    html = rendered(tmp_path, f"[there]({link})")
    assert f'<a href="{link}"' in html
    assert ('data-carries="itself"' in html) == carries


def test_boxes_nest_and_steps_are_a_list(tmp_path: Path) -> None:
    html = rendered(
        tmp_path, ":::::steps\n::::step One & all\n:::note Mind\ntext\n:::\n::::\n:::::\n"
    )
    balance = _Balance()
    balance.feed(html)
    assert balance.open == []
    assert '<li class="step flow wide"><h3 id="step-1">One &amp; all</h3>' in html
    assert '<p class="box-title">Mind</p>' in html


def test_an_answer_opens_when_its_title_is_pressed(tmp_path: Path) -> None:
    html = rendered(tmp_path, ":::answer Why & how?\nSo.\n:::\n\nafter")
    balance = _Balance()
    balance.feed(html)
    assert balance.open == []
    assert '<details class="box answer"><summary>Why &amp; how?</summary>\n<p>So.</p>' in html
    assert html.index("</details>") < html.index("after")


def test_a_table_scrolls_in_a_region_named_by_the_heading_above(tmp_path: Path) -> None:
    html = rendered(tmp_path, "## A {#a}\n\n## B {#b}\n\n|x|y|\n|---|---|\n|1|2|\n")
    balance = _Balance()
    balance.feed(html)
    assert balance.open == []
    assert '<div class="text-table" role="region" tabindex="0" aria-labelledby="b">' in html
    assert html.endswith("</table>\n</div>\n")


@pytest.mark.parametrize(
    ("body", "line", "words"),
    [
        ("fine\n\n::experimnt x", 8, '"::experimnt"'),
        (":::nota\nx\n:::", 6, '":::nota"'),
        (":::note\nnever closed\n", 6, "never closed"),
        (":::answer\nx\n:::", 6, "needs a title"),
        ("::::steps\n:::step a\nx\n:::\n", 6, "never closed"),
        ("## No address", 6, "no address"),
        ("## A {#a}\n\n## B {#a}", 8, "{#a}"),
        ("x\n\ny [@nobody2020]", 8, "@nobody2020"),
        ("**重点。**后文", 6, "stars"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(
    tmp_path: Path, body: str, line: int, words: str
) -> None:
    sentence = refusal(tmp_path, body)
    assert f"en.md:{line}: " in sentence
    assert words in sentence


@pytest.mark.parametrize(
    ("head", "words"),
    [
        ("no front matter", "must begin with ---"),
        ("---\ntitle: T\nshort: S\n---\n", "no description"),
        ("---\ntitle: T\nshort: S\ndescription: D\nautor: me\n---\n", "expected one of"),
    ],
)
def test_front_matter_is_complete_and_holds_nothing_unknown(
    tmp_path: Path, head: str, words: str
) -> None:
    path = tmp_path / "en.md"
    path.write_text(head, encoding="utf-8")
    with pytest.raises(TextError, match=words):
        read(path)


class _Balance(HTMLParser):
    """Remembers which elements are still open; fails at a wrong end."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in ("hr", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag
