"""What Xiong et al. 2020 report of whole training runs: each number, and where it stands.

R. Xiong et al., "On Layer Normalization in the Transformer Architecture", arXiv 2002.04745v2;
pages are those of its PDF. `source` is "text" where the number stands in the paper's words and
"about" where the words say "around" or "nearly", "figure" where it was read off the curves by eye.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

VERSION = 2  # of the paper, whose pages these are


@dataclass(frozen=True)
class Value:
    """One bar. Its words stand under `published.bar.<key>`."""

    key: str
    wiring: Literal["post_ln", "pre_ln"]
    height: float
    source: Literal["text", "about", "figure"]


@dataclass(frozen=True)
class Report:
    """One comparison: the paper's figure, its page, and the page of the words about it."""

    key: str
    figure: str
    page: int
    words_page: int
    values: tuple[Value, ...]

    @property
    def heights(self) -> dict[str, float]:
        return {value.key: value.height for value in self.values}


REPORTS = (
    Report(
        "warmup",  # IWSLT14 German–English, Adam, BLEU against warm-up and peak rate
        figure="2",
        page=4,
        words_page=4,
        values=(
            Value("none", "post_ln", 8.45, "text"),
            Value("short_high", "post_ln", 2.77, "text"),
            Value("short_low", "post_ln", 31.16, "text"),
            Value("full", "post_ln", 34, "about"),
        ),
    ),
    Report(
        "bleu",  # final BLEU, Post-LN with 4,000 steps of warm-up, Pre-LN without any
        figure="4",
        page=8,
        words_page=8,
        values=(
            Value("iwslt_post", "post_ln", 34, "about"),
            Value("iwslt_pre", "pre_ln", 34, "about"),
            Value("wmt_post", "post_ln", 26, "figure"),
            Value("wmt_pre", "pre_ln", 26, "figure"),
        ),
    ),
    Report(
        "epochs",  # IWSLT14: epochs until nearly the same validation loss and BLEU
        figure="4",
        page=8,
        words_page=8,
        values=(
            Value("epochs_post", "post_ln", 15, "about"),
            Value("epochs_pre", "pre_ln", 9, "about"),
        ),
    ),
    Report(
        "bert",  # BERT base: thousands of updates until a validation loss of 1.69
        figure="5",
        page=8,
        words_page=8,
        values=(
            Value("bert_post", "post_ln", 700, "text"),
            Value("bert_pre", "pre_ln", 500, "text"),
        ),
    ),
)
BERT_LOSS = 1.69
