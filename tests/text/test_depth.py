"""What the depth lesson says of merging and of the effective depth."""

import re
from functools import cache
from typing import Any

import pytest

from app.probes import depth
from app.ui.strings import WRITTEN
from tests.text.texts import LESSONS


@cache
def measured(layers: int) -> Any:
    config = {"width": 64, "seeds": 6, "depth": layers, "quantity": "merge"}
    *_, result = depth.measure(config)
    assert result is not None
    return result


def test_pre_ln_can_do_with_fewer_steps_post_ln_needs_most_and_one_is_not_enough() -> None:
    steps = measured(24).summary["effective_depth"]
    assert 1 < steps["pre_ln"]["mean"] < 0.75 * 24 < steps["post_ln"]["mean"]


def test_twice_as_many_layers_are_less_than_twice_as_deep() -> None:
    few, many = (measured(n).summary["effective_depth"]["pre_ln"]["mean"] for n in (12, 24))
    assert few < many < 1.9 * few


def test_merging_costs_little_deep_in_pre_ln_and_most_in_its_first_layers() -> None:
    errors = measured(24).columns
    assert max(errors["pre_ln"][12:]) < 0.12 < 0.2 < min(errors["pre_ln"][:4])
    assert min(errors["post_ln"]) > 0.2
    assert min(errors["post_ln"][18:]) > max(errors["post_ln"][:4])


@pytest.mark.parametrize("language", WRITTEN)
def test_the_tolerance_that_the_text_names_is_the_probe_s(language: str) -> None:
    text = (LESSONS / "depth" / f"{language}.md").read_text(encoding="utf-8")
    assert set(re.findall(r"0\.\d+", text)) == {f"{depth.TOLERANCE:g}"}
