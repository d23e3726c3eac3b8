"""Papers that experiments name: `[@xiong2020, Theorem 1]` in their words, as in a lesson's text.

There it becomes "Xiong et al. 2020, Theorem 1", a link to the paper: it works in a frame, where
there is no list of sources, and in what Python writes anew. The lesson that shows the experiment
lists the paper as well (`text/rendering.py` finds it by `data-source`). The browser has nothing of
`lessons/`, so names and addresses stand here; a test holds them to `lessons/sources.toml`.
"""

from __future__ import annotations

import re

_ARXIV = "https://arxiv.org/abs/"
PAPERS: dict[str, tuple[str, str]] = {
    "allenai2024": (
        "OLMo-2-1124-7B, config.json",
        "https://huggingface.co/allenai/OLMo-2-1124-7B/blob/main/config.json",
    ),
    "brown2020": ("Brown et al. 2020", f"{_ARXIV}2005.14165"),
    "devlin2019": ("Devlin et al. 2019", f"{_ARXIV}1810.04805"),
    "ding2021": ("Ding et al. 2021", f"{_ARXIV}2105.13290"),
    "gemma2024": ("Gemma Team 2024", f"{_ARXIV}2408.00118"),
    "liu2020": ("Liu et al. 2020", f"{_ARXIV}2004.08249"),
    "liu2022": ("admin-torch", "https://github.com/microsoft/admin-torch"),
    "llama2024": ("Grattafiori et al. 2024", f"{_ARXIV}2407.21783"),
    "olmo2025": ("OLMo 2 2025", f"{_ARXIV}2501.00656"),
    "openai2019": ("gpt-2, README", "https://github.com/openai/gpt-2"),
    "radford2019": (
        "Radford et al. 2019",
        "https://cdn.openai.com/better-language-models/"
        "language_models_are_unsupervised_multitask_learners.pdf",
    ),
    "shleifer2021": ("Shleifer et al. 2021", f"{_ARXIV}2110.09456"),
    "vaswani2017": ("Vaswani et al. 2017", f"{_ARXIV}1706.03762"),
    "wang2022": ("Wang et al. 2022", f"{_ARXIV}2203.00555"),
    "xie2025": ("Xie et al. 2025", f"{_ARXIV}2512.24880"),
    "xiong2020": ("Xiong et al. 2020", f"{_ARXIV}2002.04745"),
    "zhang2019": ("Zhang and Sennrich 2019", f"{_ARXIV}1910.07467"),
    "zhu2024": ("Zhu et al. 2024", f"{_ARXIV}2409.19606"),
}
"""By key: how it is named in a sentence, and where it is."""

_REFERENCE = re.compile(r"\[@([a-z]+\d{4})([,，][^\]]+)?\]")


def plain(words: str) -> str:
    """As a file of numbers says it. Raises KeyError for a paper that is not listed."""
    return _REFERENCE.sub(_named, words)


def linked(html: str) -> str:
    """The same as links, in HTML whose text is escaped already. They open beside the page: in a
    frame most papers would refuse to show, and a page that computes is not to be left by a slip."""

    def link(found: re.Match[str]) -> str:
        key = found[1]
        return (
            f'<a href="{PAPERS[key][1]}" data-source="{key}" target="_blank" rel="noopener">'
            f"{_named(found)}</a>"
        )

    return _REFERENCE.sub(link, html)


def _named(found: re.Match[str]) -> str:
    return PAPERS[found[1]][0] + (found[2] or "")
