"""A lesson exists in every language, with the same pieces in the same order."""

from pathlib import Path

import pytest

from app.text import TextError, read_lesson

HEAD = "---\ntitle: T\nshort: S\ndescription: D\n---\n"
BODY = "## One {#one}\n\n$$\nx\n$$\n\n::experiment sensitivity\n\n:::note N\nSee [@liu2020].\n:::\n"


def lesson(folder: Path, **texts: str) -> Path:
    for language, body in texts.items():
        (folder / f"{language}.md").write_text(HEAD + body, encoding="utf-8")
    return folder


def test_a_faithful_translation_passes(tmp_path: Path) -> None:
    translated = BODY.replace("One", "一").replace("See", "参见").replace(":::note N", ":::note 注")
    texts = read_lesson(lesson(tmp_path, en=BODY, de=translated), ["en", "de"])
    assert list(texts) == ["en", "de"]


def test_a_missing_language_is_named(tmp_path: Path) -> None:
    with pytest.raises(TextError, match=r"zh-Hans\.md: the lesson has no text in zh-Hans"):
        read_lesson(lesson(tmp_path, en=BODY), ["en", "zh-Hans"])


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("$$\nx\n$$", "$$\ny\n$$"), r"de\.md:8: here is the formula y, but in en\.md line 8"),
        (("::experiment sensitivity\n", ""), "here is the box :::note"),
        (("{#one}", "{#eins}"), r"de\.md:6: "),
        ((":::note N\nSee [@liu2020].\n:::\n", ""), r"box :::note of en\.md:14 is not translated"),
        (("[@liu2020]", "Liu"), r"de\.md: the source @liu2020 is cited in one language only"),
    ],
)
def test_what_a_translation_lacks_is_named(
    tmp_path: Path, change: tuple[str, str], words: str
) -> None:
    assert change[0] in BODY
    with pytest.raises(TextError, match=words):
        read_lesson(lesson(tmp_path, en=BODY, de=BODY.replace(*change)), ["en", "de"])
