"""The words: the same keys, places and plural forms in every language, and no silent holes."""

import re
import string

import pytest

from app.ui.strings import LANGUAGES, strings

OTHERS = [language for language in LANGUAGES if language != "en"]


def places(text: str | dict[str, str]) -> set[str]:
    texts = text.values() if isinstance(text, dict) else [text]
    plain = [re.sub(r"\$[^$]*\$", "", t) for t in texts]  # a board's formulas have braces, too
    return {name for t in plain for _, name, _, _ in string.Formatter().parse(t) if name}


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_has_the_same_keys(language: str) -> None:
    assert strings(language).names() == strings("en").names()


@pytest.mark.parametrize("language", OTHERS)
def test_every_language_fills_in_the_same_values(language: str) -> None:
    differing = {
        key: (places(strings("en").raw(key)), places(strings(language).raw(key)))
        for key in strings("en").names()
        if places(strings("en").raw(key)) != places(strings(language).raw(key))
    }
    assert differing == {}


@pytest.mark.parametrize("language", OTHERS)
def test_plural_forms_stand_at_the_same_keys(language: str) -> None:
    for key in strings("en").names():
        assert isinstance(strings(language).raw(key), dict) == isinstance(
            strings("en").raw(key), dict
        ), key


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_text_is_empty_or_fetches_mathjax(language: str) -> None:
    for key in strings(language).names():
        raw = strings(language).raw(key)
        for text in raw.values() if isinstance(raw, dict) else [raw]:
            assert text or key == "experiment.between", key
            assert "$" not in text or ".board." in key, key  # the build typesets a board


def test_english_knows_one_from_many() -> None:
    say = strings("en")
    assert say("experiment.seeds", n=1) == "1 seed"
    assert say("experiment.seeds", n=24) == "24 seeds"
    assert strings("zh-Hans")("experiment.seeds", n=1) == "1 个种子"


def test_a_missing_key_a_missing_value_and_a_missing_language_are_errors() -> None:
    say = strings("en")
    with pytest.raises(KeyError):
        say("sensitivity.no_such_text")
    with pytest.raises(KeyError):
        say("experiment.seeds_so_far", done=3)
    with pytest.raises(ValueError, match="tlh"):
        strings("tlh")


def test_a_table_can_be_handed_on_without_its_name() -> None:
    table = strings("en").table("wiring")
    assert table["pre_ln"] == strings("en")("wiring.pre_ln")
