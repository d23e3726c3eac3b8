"""What a reader takes away: CSV files, lines for a terminal, the source of what ran."""

from __future__ import annotations

import csv
import io
import math
import shlex
from pathlib import Path
from typing import Any

import pytest

from app import terminal
from app.experiments import EXPERIMENTS, code, export
from app.experiments.experiment import Experiment
from app.probes import NUMBERS_VERSION
from app.probes.options import OPTIONS
from app.probes.result import Result, csv_of
from app.site.environment import ROOT
from app.ui.numbers import unadorned
from tests.experiments.helpers import SMALL, finish, measured, shown, words


def read(text: str) -> tuple[list[str], list[list[str]]]:
    """A file's comments, and its rows with the header first."""
    lines = text.splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert lines[: len(comments)] == comments, "comments come first"
    return comments, list(csv.reader(lines[len(comments) :]))


@pytest.fixture(scope="module")
def experiment() -> Experiment:
    return measured({**SMALL, "depth": "24", "seed": "7"})


def test_a_file_per_answer_holds_its_columns_to_the_last_digit(experiment: Experiment) -> None:
    files = {file["name"]: file["text"] for file in export.files(experiment)}
    assert list(files) == ["estimate", "beta", "measured"]
    for name, result in experiment.results().items():
        _, (header, *rows) = read(files[name])
        assert header == list(result.columns)
        for column, texts in zip(header, zip(*rows, strict=True), strict=True):
            for text, value in zip(texts, result.columns[column], strict=True):
                assert text == str(value) or (text == "" and math.isnan(value))


def test_a_file_says_what_it_is_of(experiment: Experiment) -> None:
    comments, _ = read(export.files(experiment)[-1]["text"])
    said = "\n".join(comments)
    for needed in ("# seed: 7", "# seeds: 4", "# width: 32", "# change: 0.01", "# done: 4 of 4"):
        assert needed in comments
    assert f"# version of the numbers: {NUMBERS_VERSION}" in comments
    assert said.isascii()


def test_what_only_draws_gives_its_tables(experiment: Experiment, monkeypatch: Any) -> None:
    monkeypatch.setattr(experiment, "results", dict)
    files = export.files(experiment)
    assert [file["name"] for file in files] == [table.name for table in experiment.tables()]
    comments, (header, *rows) = read(files[0]["text"])
    assert "# seed: 7" in comments
    assert header == [name for name, _ in experiment.tables()[0].columns]
    assert rows == [[unadorned(cell) for cell in row] for row in experiment.tables()[0].rows]


def test_what_only_draws_gives_numbers_that_programs_read() -> None:
    experiment = EXPERIMENTS["schedule"]("en")
    finish(experiment)
    (file,) = export.files(experiment)
    _, (header, *rows) = read(file["text"])
    assert header[:2] == ["step", "original"]
    peak = next(row for row in rows if row[0] == "4000")
    assert float(peak[1]) == pytest.approx(512**-0.5 * 4000**-0.5, rel=1e-3)


def test_the_line_for_a_terminal_prints_the_files_own_numbers(
    capsys: pytest.CaptureFixture[str],
) -> None:
    experiment = measured({"width": "32", "seeds": "2", "seed": "3", "attention": "softmax"})
    files = export.files(experiment)
    for file, result in zip(files, experiment.results().values(), strict=True):
        comments, rows = read(file["text"])
        line = next(line for line in comments if "python -m app" in line).removeprefix("# ")
        assert line == f"{export.command(result)} --csv"
        python, dash_m, app, *arguments = shlex.split(line)
        assert (python, dash_m, app) == ("python", "-m", "app")
        assert terminal.main(arguments) == 0
        assert list(csv.reader(io.StringIO(capsys.readouterr().out))) == rows


def test_the_lines_follow_the_settings() -> None:
    experiment = shown({**SMALL, "seed": "5"})
    assert "--seed 5 " in words(experiment, "terminal")
    assert "probe sensitivity" not in words(experiment, "terminal")
    experiment.press("perturb")
    finish(experiment)
    assert "probe sensitivity" in words(experiment, "terminal")
    experiment.set({"seed": "6"})
    finish(experiment)
    assert "--seed 6 " in words(experiment, "terminal")
    assert "--seed 5 " not in words(experiment, "terminal")


def test_every_experiments_lines_are_taken_as_they_stand() -> None:
    """Whatever a probe is asked, with the defaults of every experiment, the terminal takes."""
    for name, kind in EXPERIMENTS.items():
        experiment = kind("en")
        for run in experiment.runs:
            config = run.config(experiment.values)
            first = next((answer for answer in run.probe(_little(config)) if answer), None)
            assert first is not None
            _, _, _, *arguments = shlex.split(export.command(first))
            parsed = vars(terminal.command_line().parse_args(arguments))
            for option, value in first.config.items():
                assert OPTIONS[option].parse(parsed[option]) == (value, None), (name, option)


def _little(config: dict[str, Any]) -> dict[str, Any]:
    """The same question to a stack that answers at once."""
    small = {"seeds": 1, "width": 32, "steps": 2, "depth": 2, "depths": (2, 4)}
    return {**config, **{name: value for name, value in small.items() if name in config}}


def test_a_reset_forgets_what_a_button_made() -> None:
    experiment = measured()
    assert "measured" in experiment.results()
    experiment.press("reset")
    finish(experiment)
    assert experiment.status == "ready"
    assert "measured" not in experiment.results()
    assert words(experiment, "sentence").startswith("Estimate at")
    assert words(experiment, "notice") == ""


def test_csv_leaves_a_place_empty_where_there_is_no_value() -> None:
    columns = {"depth": [1, 2], "x": [math.nan, math.inf], "kind": ["a,b", "c"]}
    assert csv_of(Result("beta", {}, columns, {}, 1, 1)) == 'depth,x,kind\n1,,"a,b"\n2,inf,c\n'


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_the_code_is_that_of_the_files(name: str) -> None:
    kind = EXPERIMENTS[name]
    found = code.listings(kind, kind("en").wirings)
    assert found
    assert len({(each.path, each.line) for each in found}) == len(found)
    for each in found:
        lines = (ROOT / Path(each.path)).read_text(encoding="utf-8").splitlines()
        shown_lines = each.source.splitlines()
        assert lines[each.line - 1 : each.line - 1 + len(shown_lines)] == shown_lines
        assert not each.whole or len(shown_lines) == len(lines)


def test_the_two_wirings_are_two_lines_each() -> None:
    found = code.listings(EXPERIMENTS["sensitivity"], ("post_ln", "pre_ln"))[:2]
    assert [len(each.source.splitlines()) for each in found] == [2, 2]
    assert ["def post_ln" in found[0].source, "def pre_ln" in found[1].source] == [True, True]


def test_a_wiring_made_of_another_shows_that_one_too() -> None:
    found = code.listings(EXPERIMENTS["schedule"], ("mhc",))
    assert "def mhc" in found[0].source
    assert "def hyper_connections" in found[1].source
    assert {each.path for each in found[:2]} == {"app/nn/wirings.py"}
