"""The warm-up lesson's own figures follow from its formulas, and its sources are in order."""

import re
from pathlib import Path

import pytest

from app.text import read, read_sources
from app.ui.strings import WRITTEN, strings

LESSONS = Path(__file__).parents[2] / "lessons"
WIDTH, WARMUP = 512, 4000  # Vaswani et al. 2017, sections 3.2 and 5.3


def learning_rate(step: int) -> float:
    """Vaswani et al. 2017, equation 3."""
    return WIDTH**-0.5 * min(step**-0.5, step * WARMUP**-1.5)


def text(language: str) -> str:
    return (LESSONS / "warmup" / f"{language}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("language", WRITTEN)
def test_the_rates_in_the_text_are_those_of_the_rule(language: str) -> None:
    named = re.findall(r"([\d.]+) \\times 10\^\{(-?\d+)\}", text(language))
    assert max(learning_rate(t) for t in range(1, 10 * WARMUP)) == learning_rate(WARMUP)
    assert [f"{float(m):.2f}e{int(power):+03d}" for m, power in named] == [
        f"{learning_rate(WARMUP):.2e}",
        f"{learning_rate(1):.2e}",
    ]


@pytest.mark.parametrize("language", WRITTEN)
def test_the_size_of_a_step_against_the_weights_is_the_text_s(language: str) -> None:
    deviation = (2 / (WIDTH + WIDTH)) ** 0.5  # Glorot and Bengio 2010, equation 12
    percentages = [float(n) for n in re.findall(r"([\d.]+) %", text(language))]
    assert 100 * learning_rate(WARMUP) / deviation == pytest.approx(1.6, abs=0.05)
    assert 100 * learning_rate(1) / deviation == pytest.approx(0.0004, abs=5e-6)
    assert set(percentages) == {1.6, 0.0004}


@pytest.mark.parametrize("language", WRITTEN)
def test_the_button_that_the_text_names_is_called_so(language: str) -> None:
    assert f"“{strings(language)('action.perturb.label')}”" in text(language)


def test_every_cited_source_is_listed() -> None:
    sources = read_sources(LESSONS / "sources.toml")
    for language in WRITTEN:
        assert read(LESSONS / "warmup" / f"{language}.md").cited <= set(sources)
