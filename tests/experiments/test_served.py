"""Every lesson as an ordinary Panel app: `panel serve` builds its session without a fault."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from urllib.request import urlopen

import pytest

from app import text
from app.experiments.served_view import Served
from app.site.environment import ROOT
from tests.experiments.serving import Serving

SLUGS = sorted(path.parent.name for path in (ROOT / "lessons").glob("*/lesson.py"))


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Serving]]:
    """All lessons, side by side: most of the time goes into starting Python."""
    folder = tmp_path_factory.mktemp("elsewhere")
    with ExitStack() as ending:
        started = {slug: Serving(slug, folder) for slug in SLUGS}
        for each in started.values():
            ending.callback(each.end)
        yield started


@pytest.mark.parametrize("slug", SLUGS)
def test_panel_serves_the_lesson(slug: str, serving: Mapping[str, Serving]) -> None:
    title = text.read(ROOT / "lessons" / slug / "zh-Hans.md").meta["title"]
    with urlopen(f"{serving[slug].address}?lang=zh-Hans&depth=9&seeds=2") as answer:
        assert answer.status == 200
        assert f"<title>{title}</title>" in answer.read().decode()
    assert "Error" not in serving[slug].end()


def test_a_link_s_state_is_taken_by_those_that_it_is_meant_for() -> None:
    arguments = {"depth": "9", "sensitivity.width": "64", "gradients.width": "32", "other": "1"}
    taken = Served("sensitivity", "en", arguments, wake=lambda _: None).experiment
    assert (taken.state()["depth"], taken.state()["width"]) == ("9", "64")
    assert taken.parts()["notice"] == ""


def test_what_a_hand_moves_is_computed_and_written() -> None:
    woken: list[Served] = []
    small = {"width": "32", "seeds": "2"}
    served = Served("sensitivity", "en", small, woken.append)
    served.view()
    while served.working:
        served.step()
    assert "N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}12" in served.parts["sentence"].object
    served.experiment.controls["depth"].widget.value = 7  # as Panel does when a hand has moved it
    assert woken[-1] is served
    assert served.working
    while served.working:
        served.step()
    assert "N\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}7" in served.parts["sentence"].object

    served.experiment.buttons["perturb"].widget.clicks += 1
    assert not served.experiment.buttons["stop"].disabled
    served.experiment.buttons["stop"].widget.clicks += 1
    while served.working:
        served.step()
    assert served.experiment.status == "stopped"


def test_an_error_ends_the_work_of_its_own_experiment_only(
    caplog: pytest.LogCaptureFixture,
) -> None:
    served = Served("sensitivity", "en", {"width": "32", "seeds": "2"}, lambda _: None)

    def broken() -> bool:
        raise RuntimeError("a bug in a probe")

    served.experiment.step = broken  # type: ignore[method-assign]
    served.step()
    assert not served.working
    assert "a bug in a probe" in caplog.text
