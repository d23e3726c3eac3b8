"""Traditional Chinese: words are converted, and nothing but words; no Simplified sign is left."""

import re
import tomllib
from pathlib import Path

import pytest
from opencc import OpenCC

from app.text import read, read_lesson, render
from app.text.traditional import EXCEPTIONS, convert, convert_document
from app.ui.strings import WRITTEN, converted, strings
from tests.text.texts import FOLDERS, LESSONS

HEAD = "---\ntitle: 层与网络\nshort: 层\ndescription: 权重与梯度\n---\n"
WORDS = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))["words"]
HAN = re.compile("[\u4e00-\u9fff]")
# Signs that Traditional Chinese has too, in these words.
BOTH = set("台干")  # 主控台, 若干


def html_of(folder: Path, body: str) -> str:
    path = folder / "zh-Hans.md"
    path.write_text(HEAD + body, encoding="utf-8")
    return render(
        convert_document(read(path)),
        formulas=lambda formula: f"<math>{formula.tex}</math>",
        directives={"experiment": lambda directive: f"<hr id={directive.arguments[0]}>"},
        sources={},
    ).html


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("## 层 {#layers}", '<h2 id="layers">層</h2>'),
        ("设 $\\text{层}_1$ 为层", "設 <math>\\text{层}_1</math> 為層"),
        ("$$\n\\text{层}\n$$", '<div class="formula"><math>\\text{层}</math></div>'),
        ("`层` 与层", "<code>层</code> 與層"),
        ("```\n层\n```", "<pre><code>层\n</code></pre>"),
        ("[这层](../层/index.html?a=层#层)", ">這層</a>"),
        ("::experiment 层", "<hr id=层>"),
        (":::note 这层\n网络\n:::", '<p class="box-title">這層</p>\n<p>網路</p>'),
        ("| 层 |\n|---|\n| 网络 |", "<td>網路</td>"),
        ("**层**由子层组成", "<strong>層</strong>由子層組成"),
        ("他说“层”", "他說「層」"),
    ],
)
def test_words_are_converted_and_nothing_else(tmp_path: Path, written: str, expected: str) -> None:
    assert expected in html_of(tmp_path, written)


def test_an_address_stays_as_it_is(tmp_path: Path) -> None:
    address = "../warmup/index.html?a=1#b"
    assert f'href="{address}"' in html_of(tmp_path, f"[这层]({address})")


def test_title_and_citations_are_words_too(tmp_path: Path) -> None:
    path = tmp_path / "zh-Hans.md"
    path.write_text(HEAD + "见 [@liu2020，图 2、引理 3]", encoding="utf-8")
    document = convert_document(read(path))
    assert document.meta == {"title": "層與網路", "short": "層", "description": "權重與梯度"}
    assert ("圖 2、引理 3", 6) in document.words
    assert document.path == path  # where a mistake is to be mended


@pytest.mark.parametrize(
    ("simplified", "traditional"),
    [
        ("有些模型在线性映射里有偏置", "有些模型在線性映射裡有偏置"),
        ("百分位都在线上下", "百分位都在線上下"),
        ("函数的参数在支路里", "函數的參數在支路裡"),
    ],
)
def test_where_two_words_meet_neither_is_lost(simplified: str, traditional: str) -> None:
    assert convert(simplified) == traditional


@pytest.mark.parametrize(("simplified", "traditional"), WORDS.items())
def test_every_exception_is_taken_and_is_needed_somewhere(
    simplified: str, traditional: str
) -> None:
    needed = 0
    for before, after in (("的", "的"), ("支路", "的支路"), ("一格", "都"), ("文", "的文")):
        made = convert(f"{before}{simplified}{after}")
        assert made == f"{convert(before)}{traditional}{convert(after)}"
        needed += made != OpenCC("s2twp").convert(f"{before}{simplified}{after}")
    assert needed


def test_a_formula_in_a_string_is_left_alone_and_places_stay_open() -> None:
    assert convert("在 $\\text{层}$ 这层，{layers}") == "在 $\\text{层}$ 這層，{layers}"


def test_the_strings_are_the_simplified_ones_key_by_key() -> None:
    simplified, traditional = strings("zh-Hans"), strings("zh-Hant")
    assert traditional.names() == simplified.names()
    assert traditional("site.language") == "繁體中文"
    assert traditional("option.depth.label") == "深度 N"


def left_over(text: str) -> set[str]:
    """Signs that a conversion sign by sign would still change: OpenCC took them for a part of
    another word. An exception in traditional.toml puts it right.
    """
    plain = OpenCC("s2tw")
    return {sign for sign in set(HAN.findall(text)) if plain.convert(sign) != sign} - BOTH


def test_no_simplified_sign_is_left_in_the_strings() -> None:
    text = "".join(re.sub(r"(?m)^#.*$", "", content) for content in converted().values())
    assert len(HAN.findall(text)) > 1000
    assert left_over(text) == set()


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_no_simplified_sign_is_left_in_a_text(folder: Path) -> None:
    document = read_lesson(folder, (*WRITTEN, "zh-Hant"))["zh-Hant"]
    assert left_over("".join(words for words, _ in document.words)) == set()


def test_the_texts_are_all_of_them() -> None:
    assert {path.parent for path in LESSONS.rglob("en.md")} == set(FOLDERS)
