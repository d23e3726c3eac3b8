"""The published results: drawn as the table holds them, each with its place in the paper."""

import pytest

from app.experiments.published import Published
from app.experiments.published_values import BERT_LOSS, REPORTS
from app.nn.wirings import BASE
from app.ui.strings import LANGUAGES
from tests.experiments.helpers import words
from tests.experiments.layered import rested


@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.key)
def test_every_number_is_drawn_once_full_only_where_the_paper_states_it(report):
    experiment = rested(Published, {"result": report.key})
    chart = experiment.charts["published"]
    drawn = {}
    for wiring in BASE:
        for source in ("text", "about"):
            bars = chart.data(f"{wiring}_{source}")
            assert bars["low"] == [0] * len(bars["x"])
            for place, height in zip(bars["x"], bars["high"], strict=True):
                drawn[place] = (wiring, height, source == "text")
    assert drawn == {
        place: (value.wiring, value.height, value.source == "text")
        for place, value in enumerate(report.values, 1)
    }
    assert chart.plot.y_range.end > max(report.heights.values())
    labels = chart.plot.xaxis[0].major_label_overrides
    assert sorted(labels) == sorted(drawn)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("report", REPORTS, ids=lambda report: report.key)
def test_the_sentence_reads_every_number_and_names_figure_and_page(report, language):
    experiment = rested(Published, {"result": report.key}, language)
    sentence, table = words(experiment, "sentence"), words(experiment, "table")
    for height in report.heights.values():
        assert f"{height:g}" in sentence
        assert f"{height:g}" in table
    assert report.figure in sentence
    assert str(report.page) in sentence
    assert (str(BERT_LOSS) in sentence) == (report.key == "bert")
    for part in ("sentence", "details"):
        assert "arxiv.org/abs/2002.04745" in experiment.parts()[part]


def test_numbers_that_are_about_so_are_called_that():
    for report in REPORTS:
        experiment = rested(Published, {"result": report.key})
        sentence = words(experiment, "sentence")
        if any(value.source != "text" for value in report.values):
            assert "about" in sentence or "nearly" in sentence


def test_it_computes_nothing_and_has_no_wiring():
    experiment = rested(Published, {})
    assert experiment.results() == {}
    assert list(experiment.wirings) == []
    assert experiment.progress is None
