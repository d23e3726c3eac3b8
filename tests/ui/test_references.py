"""Papers that experiments name: the lessons' own sources, as links and as plain words."""

import re

import pytest

from app.experiments import EXPERIMENTS, export
from app.experiments.block import Block
from app.site.boards import board
from app.site.pages import _templates
from app.text import read_sources
from app.ui import markup
from app.ui.references import PAPERS, linked, plain
from app.ui.strings import LANGUAGES, strings
from tests.text.texts import LESSONS

SOURCES = read_sources(LESSONS / "sources.toml")


@pytest.mark.parametrize("key", PAPERS)
def test_a_paper_is_a_source_of_the_lessons(key: str) -> None:
    name, address = PAPERS[key]
    source = SOURCES[key]
    assert address == source.url
    year = re.search(r"\d{4}$", name)
    if year:
        assert int(year[0]) == source.year
        last_name = name.split(" et al.")[0].split(" and ")[0].removesuffix(f" {source.year}")
        assert last_name in source.authors + source.title


def test_a_reference_is_a_link_to_the_paper_and_plain_words_in_a_file() -> None:
    words = "As in [@xiong2020, Theorem 1] & [@liu2022]"
    assert plain(words) == "As in Xiong et al. 2020, Theorem 1 & admin-torch"
    html = markup.text(words)
    assert re.sub(r"<[^>]+>", "", html) == "As in Xiong et al. 2020, Theorem 1 &amp; admin-torch"
    assert 'href="https://arxiv.org/abs/2002.04745" data-source="xiong2020"' in html
    with pytest.raises(KeyError):
        linked("[@nobody1999]")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_reference_in_the_strings_is_a_paper(language: str) -> None:
    say = strings(language)
    texts = [str(say.raw(name)) for name in say.names()]
    keys = {key for text in texts for key in re.findall(r"\[@(\w+)", text)}
    assert keys
    assert keys <= set(PAPERS)
    unlinked = [re.sub(r"\[@[^]]+\]", "", text) for text in texts]
    assert not [text for text in unlinked if re.search(r"arXiv|et al\. \d|等人? ?\d{4}", text)]


def test_a_file_of_numbers_holds_no_marks() -> None:
    experiment = Block("en")
    while experiment.step():
        pass
    texts = [file["text"] for file in export.files(experiment)]
    assert any("Vaswani et al. 2017, Table 3" in text for text in texts)
    assert not any("[@" in text for text in texts)


def test_a_board_links_what_it_names() -> None:
    name = "wirings"
    experiment = EXPERIMENTS[name]("en")
    drawn = [{"name": it.wiring, "when": "x"} for it in experiment.drawings if it.when]
    html = board(
        _templates(),
        name,
        strings("en"),
        state=experiment.state(),
        parts={},
        typeset=lambda formulas: formulas,
        values={"wirings": drawn},
    )
    assert 'data-source="wang2022"' in html
    assert "$" not in html
    assert "[@" not in html
