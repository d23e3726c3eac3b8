"""The texts that the small language model is trained on: someone gives someone something.

Written by a small grammar, in English and in Chinese, the same characters wherever it runs. A line
is a short story: a thing goes from hand to hand, and the last sentence says who has it now. The
grammar knows far more stories than a text has lines, so that a line of the validation split has
hardly ever been read in training: learning means to spell, to build sentences and to keep track
of the thing, not to remember. `lessons/recorded/texts` holds both texts as files.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from typing import TypeVar

import numpy as np

from app.nn.training import finish

SEED = 20170612  # the day on which "Attention Is All You Need" came out
CHARACTERS = {"en": 60_000, "zh-Hans": 32_000}
VALIDATION = 3_073  # characters at a text's end: 192 windows of 16, and the one before the first

Item = TypeVar("Item")


def text(language: str) -> str:
    """The whole text, `CHARACTERS[language]` long; its last `VALIDATION` characters are the
    validation split. Raises KeyError for a language there is no grammar for."""
    return finish(writing(language))


def writing(language: str) -> Generator[None, None, str]:
    """As `text`, with a pause after every hundred stories."""
    length = CHARACTERS[language]
    written: list[str] = []
    characters = 0
    for line in lines(language):
        written.append(line)
        characters += len(line)
        if characters >= length:
            break
        if len(written) % 100 == 0:
            yield
    return "".join(written)[:length]


def lines(language: str) -> Iterator[str]:
    """One story after another, each with its line's end, without end."""
    story = STORIES[language]
    numbers = np.random.default_rng(SEED)
    while True:
        yield story(Choice(numbers)) + "\n"


class Choice:
    """The choices that one story takes."""

    def __init__(self, numbers: np.random.Generator) -> None:
        self._numbers = iter(numbers.random(32).tolist())  # at once: one by one takes far longer

    def of(self, items: tuple[Item, ...], *but: Item) -> Item:
        """One of `items`, the first three times as often as the last, as words are in a language;
        none of `but`."""
        left = [item for item in items if item not in but]
        # Inverts the distribution of the density 3/2 − x on [0, 1].
        place = 1.5 - (2.25 - 2 * next(self._numbers)) ** 0.5
        return left[int(place * len(left))]

    def chance(self, share: float) -> bool:
        return bool(next(self._numbers) < share)


# ---------------------------------------------------------------- English

NAMES = (
    "Tom", "Anna", "Ben", "Mary", "Sam", "Lucy", "Paul", "Kate", "Jack", "Emma", "Fred", "Olga",
    "Hugo", "Vera", "Max", "Zoe",
)  # fmt: skip
QUALITIES = (
    "red", "old", "small", "green", "new", "heavy", "blue", "big", "yellow", "warm", "white",
    "broken", "quiet", "fine",
)  # fmt: skip
THINGS = (
    "apple", "book", "letter", "cup", "key", "ball", "coat", "picture", "pen", "hat", "map",
    "basket", "clock", "kite", "jug", "violin", "box", "quilt",
)  # fmt: skip
GIVING = (
    "gave", "sent", "handed", "brought", "sold", "lent", "passed", "mailed", "threw", "left",
)  # fmt: skip
TIMES = (
    "Yesterday", "In the morning", "At noon", "After work", "Last week", "On Sunday",
    "Before dinner", "Just now",
)  # fmt: skip
PLACES = ("at school", "in the garden", "at home", "by the river", "in the shop", "on the train")


def english_story(choice: Choice) -> str:
    giver = choice.of(NAMES)
    taker = choice.of(NAMES, giver)
    thing = choice.of(THINGS)
    which = f"{choice.of(QUALITIES)} {thing}"
    when = f"{choice.of(TIMES)} " if choice.chance(0.5) else ""
    where = f" {choice.of(PLACES)}" if choice.chance(0.4) else ""
    verb = choice.of(GIVING)
    article = "an" if which[0] in "aeiou" else "a"
    if choice.chance(0.5):
        story = f"{when}{giver} {verb} {article} {which} to {taker}{where}."
    else:
        story = f"{when}{giver} {verb} {taker} {article} {which}{where}."
    holder = taker
    if choice.chance(0.5):
        holder = choice.of(NAMES, taker)
        story += f" Then {taker} {choice.of(GIVING)} it to {holder}."
    if choice.chance(0.7):
        story += f" Now {holder} has the {thing}."
    return story


# ---------------------------------------------------------------- Chinese

PEOPLE = (
    "小明",
    "小王",
    "小李",
    "小张",
    "小红",
    "老陈",
    "老师",
    "妈妈",
    "阿华",
    "爷爷",
    "小林",
    "校长",
)
# A thing, and the measure word that counts it.
COUNTED = (
    ("苹果", "个"), ("书", "本"), ("信", "封"), ("杯子", "个"), ("钥匙", "把"), ("球", "个"),
    ("毛衣", "件"), ("照片", "张"), ("笔", "支"), ("帽子", "顶"), ("地图", "张"), ("伞", "把"),
    ("闹钟", "个"), ("风筝", "只"), ("画", "幅"), ("西瓜", "个"),
)  # fmt: skip
KINDS = ("红", "旧", "小", "新", "绿", "大", "蓝", "黄", "好看的", "很重的")
HANDING = ("给", "送给", "交给", "借给", "卖给", "递给", "寄给", "还给")
WHEN = ("昨天", "早上", "中午", "下班后", "上个星期", "星期天", "晚饭前", "刚才")
WHERE = ("在学校", "在花园里", "在家里", "在河边", "在店里", "在火车上")


def chinese_story(choice: Choice) -> str:
    giver = choice.of(PEOPLE)
    taker = choice.of(PEOPLE, giver)
    thing, measure = choice.of(COUNTED)
    kind = choice.of(KINDS)
    when = f"{choice.of(WHEN)}，" if choice.chance(0.5) else ""
    where = choice.of(WHERE) if choice.chance(0.4) else ""
    verb = choice.of(HANDING)
    if choice.chance(0.5):
        story = f"{when}{giver}{where}把{kind}{thing}{verb}了{taker}。"
    else:
        story = f"{when}{giver}{where}{verb}{taker}一{measure}{kind}{thing}。"
    holder = taker
    if choice.chance(0.5):
        holder = choice.of(PEOPLE, taker)
        story += f"{taker}又把它{choice.of(HANDING)}了{holder}。"
    if choice.chance(0.7):
        story += f"现在{thing}在{holder}手里。"
    return story


STORIES: dict[str, Callable[[Choice], str]] = {"en": english_story, "zh-Hans": chinese_story}
