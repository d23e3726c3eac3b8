"""The warm-up lesson's own figures follow from its formulas and from the recorded grid."""

import json
import re
from itertools import product
from math import inf
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from app.ui.strings import WRITTEN, strings

ROOT = Path(__file__).parents[2]
LESSONS = ROOT / "lessons"
RECORDED = ROOT / "app" / "experiments" / "recorded" / "grid.json"
WIDTH, WARMUP = 512, 4000  # Vaswani et al. 2017, sections 3.2 and 5.3


def learning_rate(step: int) -> float:
    """Vaswani et al. 2017, equation 3."""
    return WIDTH**-0.5 * min(step**-0.5, step * WARMUP**-1.5)


def text(language: str) -> str:
    return (LESSONS / "warmup" / f"{language}.md").read_text(encoding="utf-8")


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


# What the text says of the recorded grid, "Where the edge is" and "Three common misconceptions"


def runs() -> list[dict[str, Any]]:
    columns = json.loads(RECORDED.read_text(encoding="utf-8"))["columns"]
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def of(**where: Any) -> list[dict[str, Any]]:
    found = [run for run in runs() if all(run[name] == value for name, value in where.items())]
    assert found, where
    return found


def rates(depth: int) -> list[float]:
    return sorted({run["rate"] for run in of(depth=depth)})


def loss(**where: Any) -> float:
    return mean(run["validation"] for run in of(**where))


def test_the_grid_is_as_large_as_the_text_says() -> None:
    depths, warmups, seeds = ({run[of] for run in runs()} for of in ("depth", "warmup", "seed"))
    assert (len(depths), len(warmups), len(seeds)) == (2, 3, 3)
    assert [len(rates(depth)) for depth in depths] == [5, 5]
    said = "two depths, five rates each, three lengths of warm-up, three seeds a cell"
    assert said in text("en")


def test_pre_ln_learns_in_every_cell() -> None:
    assert {run["verdict"] for run in of(wiring="pre_ln")} == {"learns"}


def test_at_low_rates_nothing_sticks_and_warm_up_only_costs_time() -> None:
    for depth, wiring in product((4, 12), ("post_ln", "pre_ln")):
        at = {"depth": depth, "rate": rates(depth)[0], "wiring": wiring}
        assert {run["verdict"] for run in of(**at)} == {"learns"}
        assert loss(**at, warmup=0) < loss(**at, warmup=100) < loss(**at, warmup=300)


def edge(depth: int, warmup: int) -> float:
    """The lowest rate at which not every Post-LN run learns."""
    at = {"depth": depth, "wiring": "post_ln", "warmup": warmup}
    verdicts = {rate: {run["verdict"] for run in of(**at, rate=rate)} for rate in rates(depth)}
    return min((rate for rate, seen in verdicts.items() if seen != {"learns"}), default=inf)


def test_there_is_a_band_in_which_only_warm_up_helps_post_ln() -> None:
    for depth in (4, 12):
        assert edge(depth, 0) < edge(depth, 100)


def test_higher_still_the_same_warm_up_is_too_short_and_the_deep_stack_gets_there_earlier() -> None:
    assert edge(12, 100) < rates(12)[-1]
    assert edge(12, 0) < edge(4, 0)
    assert edge(12, 100) < edge(4, 100)


def test_where_both_train_well_post_ln_ends_lower_at_four_layers_and_not_at_twelve() -> None:
    for depth, lower, higher in ((4, "post_ln", "pre_ln"), (12, "pre_ln", "post_ln")):
        for rate in rates(depth)[:2]:
            at = {"depth": depth, "rate": rate, "warmup": 0}
            assert loss(**at, wiring=lower) < loss(**at, wiring=higher)


def test_at_the_highest_rate_pre_ln_too_ends_lower_with_warm_up() -> None:
    at = {"depth": 4, "rate": rates(4)[-1], "wiring": "pre_ln"}
    assert loss(**at, warmup=0) > loss(**at, warmup=100) > loss(**at, warmup=300)


def test_the_run_that_fails_collapses_within_a_few_steps_and_its_gradient_does_not_shoot_up() -> (
    None
):
    contrast = RECORDED.with_name("contrast-en.json").read_text(encoding="utf-8")
    columns = json.loads(contrast)["columns"]
    assert columns["post_ln_cosine"][4] > 0.999
    assert max(columns["post_ln_gradient"]) == columns["post_ln_gradient"][0]
    for run in ("post_ln_warm", "pre_ln"):
        assert max(columns[f"{run}_logit"]) > 2 * max(columns["post_ln_logit"])
