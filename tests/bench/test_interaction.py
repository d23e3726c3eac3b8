"""Which class a control's answer is of, the ways through its values, and when memory grows."""

from __future__ import annotations

import pytest

from app.experiments import EXPERIMENTS
from app.site.environment import Failure
from bench import interaction, memory


def test_what_is_looked_at_is_a_slice_and_what_weights_are_drawn_from_is_computed_anew() -> None:
    kinds = interaction.classes("sensitivity")
    assert {kinds[name] for name in ("depth", "axis", "change")} == {"slice"}
    assert {kinds[name] for name in ("width", "attention", "seeds", "seed")} == {"anew"}
    assert set(interaction.classes("schedule").values()) == {"slice"}  # nothing is computed there


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_control_has_a_class(name: str) -> None:
    assert interaction.classes(name).keys() == EXPERIMENTS[name]("en").controls.keys()


def test_a_way_through_values_turns_round_at_the_ends() -> None:
    assert interaction.there_and_back(["1", "2", "3"], "2", 5) == ["3", "2", "1", "2", "3"]
    assert interaction.there_and_back(["on", "off"], "on", 3) == ["off", "on", "off"]


def test_the_ninety_fifth_of_a_hundred_times() -> None:
    assert interaction.p95([*range(100, 0, -1)]) == 95


def test_growth_is_that_after_the_warm_up() -> None:
    assert memory.growth([10, 50, 100, 100, 100, 100]) == pytest.approx(0)
    assert memory.growth([10, 50, 100, 110, 120, 130]) == pytest.approx(30)
    assert memory.growth([10, 50, 100]) is None  # no line goes through one row


def test_an_experiment_that_there_is_not_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert {"sensitivity", "sensitivity.depth"} <= interaction.names()
    with pytest.raises(SystemExit):
        interaction.main(["--only", "sensitivity", "sensitivity.x"])
    assert "no sensitivity.x; there are" in capsys.readouterr().err


def test_an_error_of_the_worker_s_debugger_is_told() -> None:
    assert memory.result("Ask", {"id": 1, "result": {"usedSize": 2}}) == {"usedSize": 2}
    with pytest.raises(Failure, match="Ask: not found"):
        memory.result("Ask", {"id": 1, "error": {"message": "not found"}})
