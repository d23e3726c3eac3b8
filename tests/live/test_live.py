"""Sessions, natively: the same code that the browser's worker runs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from bokeh.document import Document
from bokeh.plotting import figure

from app import live
from app.experiments.experiment import Experiment
from app.experiments.work import Run
from app.probes.options import OPTIONS
from app.probes.result import Result
from app.ui.controls import Control, number, slider
from app.ui.figures import Chart
from app.ui.markup import Table
from app.ui.theme import SERIES
from tests.experiments.helpers import patch_as_the_page

DEPTH = replace(OPTIONS["depth"], default=4, high=8)
SEED = replace(OPTIONS["seed"], high=9)


def squares(config: Mapping[str, Any]) -> Iterator[Result | None]:
    """A probe of two partial answers, with a pause before each."""
    for done in (1, 2):
        yield None
        n = range(1, config["depth"] + 1)
        columns = {"depth": list(n), "square": [i * i * done for i in n]}
        yield Result("squares", dict(config), columns, {}, done, 2)


class Squares(Experiment):
    """The smallest experiment: one probe, two controls, one figure."""

    name = "sensitivity"  # whose words it borrows
    runs = (Run("estimate", squares, lambda state: {"depth": state["depth"], "seeds": 2}),)

    def build_controls(self) -> list[Control]:
        return [slider(DEPTH, self.say), number(SEED, self.say)]

    def build_charts(self) -> dict[str, Chart]:
        chart = Chart()
        chart.points("squares", SERIES["post_ln"]["theory"])
        return {"squares": chart}

    def draw(self) -> None:
        columns = self.answer("estimate").columns
        self.charts["squares"].show("squares", x=columns["depth"], y=columns["square"])
        self.charts["squares"].limits(x=(0, 8), y=(0, columns["square"][-1]))

    def sentences(self) -> list[str]:
        return [f"The last square is {self.answer('estimate').columns['square'][-1]}."]

    def tables(self) -> list[Table]:
        return []

    def details(self) -> list[tuple[str, str]]:
        return [("Probe", "squares")]


class Failing(Squares):
    """Falls over at depth 5, as a bug would."""

    def draw(self) -> None:
        if self.values["depth"] == 5:
            raise RuntimeError("five is right out")
        super().draw()


@pytest.fixture(autouse=True)
def experiments(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(live.EXPERIMENTS, "squares", Squares)
    monkeypatch.setitem(live.EXPERIMENTS, "failing", Failing)
    yield
    for name in list(live._sessions):
        live.close(name)


class Page:
    """The page's side of one session."""

    def __init__(self, name: str = "squares", state: Mapping[str, str] | None = None, **what: str):
        self.session = what.get("session", f"{name}#1")
        self.said: list[dict[str, Any]] = []
        self.seq = 0
        digest = what.get("digest", live.fresh(name, "en")[1].digest)
        touched = what.get("touched", "[]")
        live.open(self.session, name, "en", json.dumps(state or {}), digest, touched, self.hear)

    def hear(self, message: str) -> None:
        self.said.append(json.loads(message))

    def set(self, **state: str) -> None:
        self._send(type="set", state=state)

    def press(self, action: str) -> None:
        self._send(type="press", action=action)

    def export(self) -> None:
        message = {"type": "export", "session": self.session}
        live.receive(self.session, json.dumps(message))

    def _send(self, **message: Any) -> None:
        self.seq += 1
        live.receive(
            self.session, json.dumps({"session": self.session, "seq": self.seq, **message})
        )

    def of(self, type: str) -> list[dict[str, Any]]:
        return [message for message in self.said if message["type"] == type]

    def types(self) -> list[str]:
        return [message["type"] for message in self.said]

    def forget(self) -> None:
        self.said.clear()


def work() -> int:
    """All slices that there are; how many."""
    slices = 1
    while live.step():
        slices += 1
        assert slices < 1000
    return slices


def patched(document: Document, messages: list[dict[str, Any]]) -> Document:
    for message in messages:
        patch_as_the_page(document, json.loads(message["patch"]))
    return document


def drawn(document: Document) -> dict[str, Any]:
    (source,) = (m for m in document.models if type(m).__name__ == "ColumnDataSource")
    return {name: list(column) for name, column in source.data.items()}


# ---------------------------------------------------------------------------- documents


def test_a_document_has_the_same_ids_whatever_was_built_before() -> None:
    first = live.fresh("squares", "en")[1]
    for _ in range(3):
        figure().line([1, 2], [3, 4])
    again = live.fresh("squares", "zh-Hans")[1]
    assert first.roots == again.roots
    assert first.digest == again.digest
    assert list(first.roots) == ["control:depth", "control:seed", "figure:squares"]


def test_computing_makes_no_models() -> None:
    experiment, built = live.fresh("squares", "en")
    before = {model.id for model in built.document.models}
    for depth in ("4", "7", "2"):
        experiment.set({"depth": depth})
        while experiment.step():
            pass
    assert {model.id for model in built.document.models} == before
    assert live.digest(built.json) == built.digest


def test_the_digest_tells_other_models_places_and_ids_apart() -> None:
    def one(**changes: Any) -> str:
        line = {"type": "object", "name": "Line", "id": "p2", **changes}
        return live.digest(
            {"roots": [{"type": "object", "name": "Plot", "id": "p1", "glyph": line}]}
        )

    assert one() == one(line_color="red")  # a value, not a model
    assert len({one(), one(name="Scatter"), one(id="p3"), one(type="map")}) == 4


def test_an_experiment_that_is_not_there_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        live.fresh("nonsense", "en")


@pytest.mark.parametrize("name", tuple(live.EXPERIMENTS))
def test_what_is_built_ahead_is_what_would_be_built_and_is_given_once(name: str) -> None:
    _, expected = live.fresh(name, "en")
    live.keep(name, "en")
    live.fresh("squares", "en")  # whatever is built in between
    _, built = live._kept[name, "en"][:2]
    assert built.digest == expected.digest
    assert built.json == expected.json
    page = Page(name=name, digest=expected.digest)
    assert page.of("opened")[0]["stored"] is None
    assert (name, "en") not in live._kept
    assert live._sessions[page.session].built is built
    live.close(page.session)


def test_what_a_page_may_ask_for_is_built_once_and_only_the_newest_of_it_is_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(live, "_kept", {})
    monkeypatch.setattr(live, "_awaited", deque())
    live.ahead("squares", "en")
    built = live._kept["squares", "en"][1]
    live.ahead("squares", "en")
    page = Page()
    assert live._sessions[page.session].built is built
    for name in ("depth", "norms", "jacobian", "published", "squares"):
        live.ahead(name, "en")
    assert [name for name, _ in live._kept] == ["norms", "jacobian", "published", "squares"]
    live.ahead("nonsense", "en")  # whoever opens it is told
    assert len(live._kept) == 4


# ---------------------------------------------------------------------------- opening


def test_a_page_with_the_same_document_is_sent_none() -> None:
    (opened,) = Page().of("opened")
    assert opened["stored"] is None
    assert opened["digest"] == live.fresh("squares", "en")[1].digest
    assert opened["state"] == {"depth": "4", "seed": "0"}


def test_a_page_with_another_document_is_sent_the_whole_one() -> None:
    page = Page(state={"depth": "6"}, digest="another")
    stored = json.loads(page.of("opened")[0]["stored"])
    assert stored["digest"] == live.fresh("squares", "en")[1].digest
    work()
    document = patched(Document.from_json(stored["document"]), page.of("patch"))
    assert drawn(document)["x"] == [1, 2, 3, 4, 5, 6]
    assert document.get_model_by_id(stored["roots"]["control:depth"]).value == 6


def test_a_session_opens_with_the_pages_values_and_says_what_was_wrong_with_them() -> None:
    page = Page(state={"depth": "99", "colour": "red"})
    assert page.of("opened")[0]["state"]["depth"] == "8"
    notice = page.of("parts")[0]["parts"]["notice"]
    assert "99" in notice
    assert "colour" in notice


def test_an_experiment_that_is_unknown_is_told_to_the_page() -> None:
    page = Page("squares", session="s")
    live.open("t", "nonsense", "en", "{}", "", "[]", page.hear)
    (error,) = page.of("error")
    assert error["session"] == "t"
    assert error["message"].endswith(".")
    assert "KeyError" in error["detail"]


# ---------------------------------------------------------------------------- computing


def test_figures_come_before_words_and_words_before_the_state_that_tells_of_them() -> None:
    page = Page()
    page.forget()
    work()
    assert page.types()[-5:] == ["patch", "parts", "state", "parts", "state"]
    assert list(page.of("parts")[-1]["parts"]) == ["table", "details", "terminal"]
    assert page.said[-1]["status"] == "ready"
    assert page.said[-1]["shown"] == {"depth": "4", "seed": "0"}


def test_a_patch_carries_what_python_changed_and_no_control_value() -> None:
    page = Page()
    work()
    page.forget()
    page.set(depth="3")
    work()
    built = live.fresh("squares", "en")[1]
    document = patched(Document.from_json(built.json), page.of("patch"))
    assert drawn(document) == {"x": [1, 2, 3], "y": [2, 8, 18]}
    assert document.get_model_by_id(built.roots["control:depth"]).value == 4
    assert built.roots["control:depth"] not in "".join(m["patch"] for m in page.of("patch"))


def test_all_that_one_slice_changes_is_one_patch_with_each_property_once() -> None:
    page = Page()
    work()
    for message in page.of("patch"):
        events = json.loads(message["patch"])["events"]
        changed = [(event["model"]["id"], event["attr"]) for event in events]
        assert len(changed) == len(set(changed))
    assert any(len(json.loads(message["patch"])["events"]) > 1 for message in page.of("patch"))


def test_arrays_stand_inside_the_patch() -> None:
    page = Page()
    session = live._sessions[page.session]
    (source,) = (m for m in session.built.document.models if type(m).__name__ == "ColumnDataSource")
    source.data = {"x": np.arange(3.0), "y": np.array([1.0, np.nan, np.inf])}
    live._publish(session)
    patch = page.of("patch")[-1]
    document = patched(Document.from_json(live.fresh("squares", "en")[1].json), [patch])
    assert drawn(document)["x"] == [0, 1, 2]
    assert str(drawn(document)["y"]) == "[np.float64(1.0), np.float64(nan), np.float64(inf)]"


def test_a_column_that_stays_is_not_sent_again() -> None:
    page = Page()
    work()
    page.forget()
    (chart,) = live._sessions[page.session].experiment.charts.values()
    known = chart.data("squares")
    chart.show("squares", x=known["x"], y=[2 * y for y in known["y"]])
    live._publish(live._sessions[page.session])
    (event,) = json.loads(page.of("patch")[0]["patch"])["events"]
    assert event["cols"] == ["y"]
    assert [name for name, _ in event["data"]["entries"]] == ["y"]


def test_what_the_page_shows_of_another_state_goes_back_with_the_first_figures() -> None:
    """As after a restart: there, the painted document was changed by a worker that is no more."""
    experiment, built = live.fresh("squares", "en")
    experiment.set({"depth": "8"})
    while experiment.step():
        pass
    built.document.roots[-1].title.text = "left over"
    stored = built.stored()
    page = Page(digest=stored["digest"], touched=json.dumps(stored["touched"]))
    assert page.of("patch") == []  # not before there is something to show instead
    work()
    document = patched(Document.from_json(stored["document"]), page.of("patch"))
    assert drawn(document) == drawn(live._sessions[page.session].built.document)
    assert document.roots[-1].title.text == ""
    assert document.get_model_by_id(stored["roots"]["control:depth"]).value == 8  # the page's own


def test_parts_are_sent_when_they_change_only() -> None:
    page = Page()
    work()
    page.forget()
    page.set(depth="4")  # as it was
    work()
    assert page.of("parts") == []
    page.set(depth="5")
    work()
    sent = [part for message in page.of("parts") for part in message["parts"]]
    assert "sentence" in sent
    assert "details" not in sent


# ---------------------------------------------------------------------------- answers


def test_a_set_is_answered_when_its_first_partial_answer_shows() -> None:
    page = Page()
    work()
    page.forget()
    page.set(depth="6")
    assert page.of("answer") == []
    while not page.of("answer"):
        assert live.step(), "the answer came only at the end"
    assert page.of("answer") == [{"type": "answer", "session": "squares#1", "seq": 1}]
    assert page.of("state")[-1]["status"] == "computing"
    assert page.of("state")[-1]["shown"]["depth"] == "6"
    work()
    assert len(page.of("answer")) == 1
    assert page.of("state")[-1]["status"] == "ready"
    assert page.of("state")[-1]["seq"] == 1


def test_a_set_that_changes_nothing_is_answered_at_once() -> None:
    page = Page()
    work()
    page.set(depth="4")
    assert page.of("answer")[-1]["seq"] == 1


def test_a_press_is_answered_at_once_and_leaves_the_sets_answer_outstanding() -> None:
    page = Page()
    work()
    page.set(depth="6")
    page.press("stop")
    assert [answer["seq"] for answer in page.of("answer")] == [2]
    work()
    assert [answer["seq"] for answer in page.of("answer")] == [2, 1]


def test_progress_is_told() -> None:
    page = Page()
    work()
    assert {(m["done"], m["total"]) for m in page.of("state")} >= {(0, 2), (1, 2)}


# ---------------------------------------------------------------------------- several, and mishaps


def test_the_session_that_was_touched_last_is_computed_first() -> None:
    first, second = Page(session="a"), Page(session="b")
    second.set(depth="7")
    while not second.of("answer"):
        live.step()
    assert first.of("patch") == []
    work()
    assert first.of("state")[-1]["status"] == second.of("state")[-1]["status"] == "ready"


def test_sessions_of_one_experiment_do_not_touch_one_another() -> None:
    first, second = Page(session="a"), Page(session="b", state={"depth": "8"})
    work()
    assert first.of("state")[-1]["shown"]["depth"] == "4"
    assert second.of("state")[-1]["shown"]["depth"] == "8"


def test_an_error_is_a_sentence_and_a_traceback_and_the_session_goes_on() -> None:
    page = Page("failing")
    work()
    page.forget()
    page.set(depth="5")
    work()
    (error,) = page.of("error")
    assert error["message"].endswith(".")
    assert "five is right out" not in error["message"]
    assert "five is right out" in error["detail"]
    assert page.of("state")[-1]["status"] == "error"
    assert page.of("answer")[-1]["seq"] == 1  # or the page would wait for ever
    page.set(depth="6")
    work()
    assert page.of("state")[-1]["status"] == "ready"
    assert page.of("state")[-1]["shown"]["depth"] == "6"


def test_a_press_that_fails_is_told_and_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    def press(*_: Any) -> None:
        raise RuntimeError("no such thing")

    page = Page()
    monkeypatch.setattr(Squares, "press", press)
    page.press("perturb")
    assert "no such thing" in page.of("error")[0]["detail"]
    assert page.of("answer")[-1]["seq"] == 1


def test_a_closed_session_computes_and_says_nothing_more() -> None:
    page, other = Page(session="a"), Page(session="b")
    page.forget()
    live.receive("a", json.dumps({"type": "close", "session": "a"}))
    page.set(depth="2")
    work()
    assert page.said == []
    assert other.of("state")[-1]["status"] == "ready"
    live.close("a")  # and closing twice is no fault


def test_opening_again_replaces_the_session() -> None:
    page = Page()
    work()
    again = Page(state={"depth": "2"})
    page.forget()
    work()
    assert page.said == []
    assert again.of("state")[-1]["shown"]["depth"] == "2"


# ------------------------------------------------------------------------- in the browser's Python

IN_PYODIDE = """
import sys, types
sys.modules["_pyodide"] = types.ModuleType("_pyodide")  # by this, Panel takes a Python for Pyodide
from app import live
import panel
assert panel.state._is_pyodide
assert "js" not in sys.modules and "pyodide" not in sys.modules
print(live.fresh("sensitivity", "en")[1].digest)
"""


def test_python_in_the_browser_builds_the_same_document_without_panels_own_link() -> None:
    done = subprocess.run(
        [sys.executable, "-c", IN_PYODIDE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == live.fresh("sensitivity", "en")[1].digest


def test_files_come_as_soon_as_all_is_computed_and_once() -> None:
    page = Page()
    page.export()
    assert page.of("exported") == []
    work()
    (message,) = page.of("exported")
    assert [file["name"] for file in message["files"]] == ["estimate"]
    text = message["files"][0]["text"]
    assert text.endswith("depth,square\n1,2\n2,8\n3,18\n4,32\n")
    page.set(depth="3")
    work()
    assert len(page.of("exported")) == 1


def test_files_of_what_is_there_already_come_at_once_and_answer_nothing_else() -> None:
    page = Page()
    work()
    page.forget()
    page.export()
    assert page.types() == ["exported"]


def test_files_of_a_session_that_fell_over_hold_what_there_was() -> None:
    page = Page("failing")
    work()
    page.set(depth="5")
    page.export()
    work()
    assert len(page.of("exported")) == 1
