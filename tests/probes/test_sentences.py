"""The texts: always the same characters, too many stories to remember, and true to the end."""

import hashlib
import re

import pytest

from app.probes import sentences
from app.probes.sentences import CHARACTERS, VALIDATION, lines, text, writing

# SHA-256 of the UTF-8 bytes: recorded runs and links stand on these very texts.
DIGESTS = {
    "en": "ddfdb807333d6544be3bcdcb8d42136f0fa950b9ad40c243f4798eb95becc3dd",
    "zh-Hans": "210656120ec271a7abe16fac7ac0a5b460fdce953c6efc26e38928624935395f",
}
languages = pytest.mark.parametrize("language", CHARACTERS)


@languages
def test_the_grammar_writes_the_same_text_each_time(language):
    written = text(language)
    assert len(written) == CHARACTERS[language]
    assert hashlib.sha256(written.encode()).hexdigest() == DIGESTS[language]


@languages
def test_hardly_a_story_of_the_validation_split_was_read_in_training(language):
    written = text(language)
    read = set(written[:-VALIDATION].split("\n"))
    new = written[-VALIDATION:].split("\n")[1:-1]  # whole ones
    assert len(new) > 30
    assert sum(story in read for story in new) <= 0.02 * len(new)


@languages
def test_the_text_is_longer_than_what_the_default_run_reads(language):
    """200 steps of 8 windows of 16 characters."""
    assert len(text(language)) - VALIDATION > 200 * 8 * 16


@languages
def test_every_character_of_the_validation_split_is_known_from_training(language):
    written = text(language)
    assert set(written[-VALIDATION:]) <= set(written[:-VALIDATION])


def test_in_english_the_last_sentence_names_the_last_one_who_got_the_thing():
    told = 0
    for line, _ in zip(lines("en"), range(400), strict=False):
        now = re.search(r"Now (\w+) has the (\w+)\.$", line)
        then = re.search(r"Then (\w+) \w+ it to (\w+)\.", line)
        if now is None:
            continue
        told += 1
        holder, thing = now.groups()
        first = line.split(".")[0]
        assert f" {thing}" in first
        if then:
            assert holder == then[2] != then[1]
            assert re.search(rf"\b{then[1]}\b", first)
        else:
            assert re.search(rf"\b{holder}\b", first)
    assert told > 200


def test_in_chinese_the_last_sentence_names_the_last_one_who_got_the_thing():
    told = 0
    for line, _ in zip(lines("zh-Hans"), range(400), strict=False):
        now = re.search(r"现在(.+)在(.+)手里。$", line)
        if now is None:
            continue
        told += 1
        thing, holder = now.groups()
        first, *rest = line.split("。")
        assert thing in first
        then = re.match(r"(.+)又把它.*了(.+)", rest[0])
        assert holder in (then[2] if then else first)
    assert told > 200


@languages
def test_writing_pauses_at_every_hundredth_story(language):
    pauses = len(list(writing(language)))
    assert pauses == len(text(language).split("\n")) // 100 > 5


def test_first_choices_come_three_times_as_often_as_last_ones():
    class Even:
        def random(self, count):
            return (sentences.np.arange(count) + 0.5) / count

    choice, items = sentences.Choice(Even()), tuple(range(8))
    counts = [0] * 8
    for _ in range(32):
        counts[choice.of(items)] += 1
    assert counts == sorted(counts, reverse=True)
    assert sum(counts[:2]) > 2 * sum(counts[-2:])
