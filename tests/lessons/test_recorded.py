"""The recorded grid: its files, that its script goes on where it stopped, and that it is true."""

import json
import signal
from dataclasses import asdict
from pathlib import Path

import pytest
from joblib import parallel_config

from app.experiments import recorded
from app.probes import sentences, training
from lessons.recorded import grid, record
from lessons.recorded.grid import CURVES, POINTS, Cell

FOLDER = Path(record.__file__).parent
DATA = record.DATA


def stored(name):
    return json.loads((DATA / name).read_text(encoding="utf-8"))


def stored_cell(cell):
    columns = stored("grid.json")["columns"]
    row = grid.cells().index(cell)
    return {name: column[row] for name, column in columns.items()}


# ---------------------------------------------------------------- the files


@pytest.mark.parametrize("language", sentences.CHARACTERS)
def test_the_stored_texts_are_those_that_runs_are_trained_on(language):
    path = FOLDER / "texts" / f"{language}.txt"
    assert path.read_bytes() == sentences.text(language).encode()


@pytest.mark.parametrize("name", ["grid.json", "curves.json"])
def test_a_file_says_what_it_was_recorded_with_and_is_small(name):
    content = stored(name)
    assert content["config"] == json.loads(json.dumps(grid.whole_config()))
    assert set(content["versions"]) == {"numbers", "python", "numpy", "joblib", "machine"}
    assert content["unigram"] == pytest.approx(grid.corpus().unigram(16), abs=1e-4)
    assert content["date"].startswith("20")
    assert (DATA / name).stat().st_size < 200_000


def test_every_cell_is_there_once_in_the_order_of_the_config():
    columns = stored("grid.json")["columns"]
    names = ("depth", "rate", "warmup", "wiring", "seed")
    rows = zip(*(columns[name] for name in names), strict=True)
    assert [Cell(*row) for row in rows] == grid.cells()
    assert set(columns) == {*names, "verdict", *CURVES}
    assert set(columns["verdict"]) <= {"stuck", "learns", "waits", "diverges"}


def test_a_curve_ends_where_its_row_says():
    content, columns = stored("curves.json"), stored("grid.json")["columns"]
    assert content["step"] == list(POINTS)
    for name in CURVES:
        assert [curve[-1] for curve in content["curves"][name]] == columns[name]
        assert {len(curve) for curve in content["curves"][name]} == {len(POINTS)}


def test_the_grid_has_what_the_lesson_speaks_of():
    assert set(grid.RATES) == {4, 12}
    for rates in grid.RATES.values():
        assert {3e-4, 1e-3, 3e-3, 1e-2} <= set(rates)
    assert {0, 100} < set(grid.WARMUPS)
    assert len(grid.SEEDS) >= 3


def test_experiments_read_what_the_script_wrote():
    read, rows = recorded.grid(), stored("grid.json")["columns"]
    assert read.steps == list(POINTS)
    assert [run.loss for run in read.runs] == rows["validation"]
    assert [run.verdict for run in read.runs] == rows["verdict"]
    cell = read.cell(12, 3e-3, 300, "post_ln")
    assert [run.seed for run in cell.runs] == list(grid.SEEDS)
    assert grid.median([run.loss for run in cell.runs]) == cell.loss
    with pytest.raises(KeyError):
        read.cell(12, 2e-2, 0, "post_ln")


# ---------------------------------------------------------------- the contrast


@pytest.mark.parametrize("text", training.CONTRAST)
def test_the_recorded_contrast_is_at_the_setting_that_tells_its_runs_apart(text):
    result = recorded.contrast(text).result
    default = {name: option.default for name, option in training.CONTRAST_TAKES.items()}
    assert result.config == {**default, "text": text, "rate": training.CONTRAST[text]}
    verdicts = [result.summary[run]["verdict"] for run in ("post_ln", "post_ln_warm", "pre_ln")]
    assert verdicts == ["stuck", "learns", "learns"]
    assert (DATA / f"contrast-{text}.json").stat().st_size < 50_000


def test_the_recorded_contrast_begins_as_one_that_runs_now():
    """Fifteen steps: there, another machine's last digits have not grown yet."""
    now = next(answer for answer in training.contrast({}) if answer and answer.done == 15)
    then = recorded.contrast("en").result
    assert set(now.columns) == set(then.columns)
    for run in ("post_ln", "post_ln_warm", "pre_ln"):
        assert then.columns[run][:15] == pytest.approx(now.columns[run], rel=5e-3)
        assert then.columns[f"{run}_cosine"][:15] == pytest.approx(
            now.columns[f"{run}_cosine"], abs=5e-3
        )


# ---------------------------------------------------------------- true to a run


def rerun(cell):
    ours, theirs = grid.train(cell), stored_cell(cell)
    assert ours["verdict"] == theirs["verdict"]
    within = 0.1 if ours["verdict"] == "learns" else 0.05
    assert ours["curves"]["validation"][-1] == pytest.approx(theirs["validation"], abs=within)


def test_a_stuck_cell_run_again_comes_to_the_recorded_verdict_and_loss():
    rerun(Cell(4, 2e-2, 0, "post_ln", 0))


@pytest.mark.slow
@pytest.mark.parametrize("warmup", grid.WARMUPS)
@pytest.mark.parametrize("wiring", grid.WIRINGS)
@pytest.mark.parametrize(("depth", "rate"), [(4, 1e-2), (12, 3e-4)])
def test_cells_run_again_come_to_the_recorded_verdict_and_loss(depth, rate, wiring, warmup):
    rerun(Cell(depth, rate, warmup, wiring, 1))


# ---------------------------------------------------------------- the script


CELLS = [Cell(4, 1e-3, warmup, wiring, 0) for warmup in (0, 2) for wiring in grid.WIRINGS]


@pytest.fixture
def short(monkeypatch):
    """Runs of a few steps; how many were made."""
    monkeypatch.setattr(grid, "STEPS", 4)
    monkeypatch.setattr(grid, "POINTS", (2, 4))
    trained, train = [], grid.train

    def counted(cell):
        trained.append(cell)
        return train(cell)

    monkeypatch.setattr(grid, "train", counted)
    return trained


def one_by_one():
    return parallel_config(backend="sequential")


@pytest.mark.usefixtures("short")
def test_the_script_writes_both_files_and_leaves_nothing_unfinished(tmp_path):
    results = record.record(tmp_path, one_by_one(), CELLS)
    assert {path.name for path in tmp_path.iterdir()} == {"grid.json", "curves.json"}
    content = json.loads((tmp_path / "grid.json").read_text())
    assert content["columns"]["warmup"] == [0, 0, 2, 2]
    curves = json.loads((tmp_path / "curves.json").read_text())
    assert curves["curves"]["loss"] == [result["curves"]["loss"] for result in results]


def test_a_stopped_run_goes_on_where_it_was(tmp_path, short, monkeypatch):
    def stopping(cell, train=grid.train):
        if cell == CELLS[2]:
            raise KeyboardInterrupt
        return train(cell)

    with monkeypatch.context() as patched:
        patched.setattr(grid, "train", stopping)
        with pytest.raises(KeyboardInterrupt):
            record.record(tmp_path, one_by_one(), CELLS)
    assert short == CELLS[:2]
    with (tmp_path / record.UNFINISHED).open("a") as file:
        file.write('{"depth": 4, "ra')  # the power went in the middle of a line
    results = record.record(tmp_path, one_by_one(), CELLS)
    assert short == CELLS
    assert [record.cell_of(result) for result in results] == CELLS
    elsewhere = tmp_path / "at once"
    elsewhere.mkdir()
    assert record.record(elsewhere, one_by_one(), CELLS) == results


def test_ctrl_c_is_one_line_in_the_contrast_as_well_and_leaves_what_was_recorded(
    tmp_path, monkeypatch, capsys
):
    """Which comes first, and takes as long as a cell or two."""

    def stopping(config, contrast=training.contrast):
        yield next(contrast(config))
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(training, "contrast", stopping)
    assert record.main(["--out", str(tmp_path)]) == 130
    said = capsys.readouterr().err
    assert said == "\nStopped; the same command goes on from here.\n"
    assert {path.name for path in tmp_path.iterdir()} == {"texts"}


def test_what_another_grid_left_unfinished_is_not_mixed_in(tmp_path, short, capsys):
    left = {**grid.whole_config(), "steps": 9}
    (tmp_path / record.UNFINISHED).write_text(json.dumps(left) + "\n")
    record.record(tmp_path, one_by_one(), CELLS[:1])
    assert short == CELLS[:1]
    assert "another grid" in capsys.readouterr().err


@pytest.mark.slow
def test_processes_give_what_one_process_gives(tmp_path):
    """With real runs: a patched grid would not reach other processes."""
    cells = [Cell(4, 2e-2, 0, "post_ln", seed) for seed in (0, 1)]
    together = record.record(tmp_path, record.backend(None, 2), cells)
    assert together == [grid.train(cell) for cell in cells]


@pytest.mark.slow
def test_a_dask_cluster_gives_what_one_process_gives(tmp_path, monkeypatch):
    """Needs the group `cluster`, which the lock leaves out."""
    distributed = pytest.importorskip("distributed")
    root = str(FOLDER.parents[1])
    monkeypatch.setenv("PYTHONPATH", root)  # the workers' as well
    cells = [Cell(4, 2e-2, 0, "post_ln", seed) for seed in (0, 1)]
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with cluster:
        together = record.record(tmp_path, record.backend(cluster.scheduler_address, -1), cells)
    assert together == [grid.train(cell) for cell in cells]


def test_a_cosine_keeps_its_distance_to_one():
    assert grid.kept("cosine", 0.9999912) == 0.999991
    assert grid.kept("loss", 3.123456) == 3.123
    assert grid.kept("lower", 1.23456e-7) == 1.235e-7
    assert grid.kept("loss", float("nan")) is None


def test_the_table_counts_verdicts_and_shows_the_middle_seed_s_loss(monkeypatch):
    monkeypatch.setattr(grid, "RATES", {4: (1e-3,)})
    monkeypatch.setattr(grid, "WARMUPS", (0,))
    monkeypatch.setattr(grid, "WIRINGS", ("post_ln",))
    runs = [
        {
            **asdict(Cell(4, 1e-3, 0, "post_ln", seed)),
            "verdict": verdict,
            "curves": {"validation": [9, loss]},
        }
        for seed, (verdict, loss) in enumerate([("stuck", 3.1), ("learns", 2.0), ("stuck", 3.2)])
    ]
    head, line = grid.table(runs)
    assert head.split() == ["depth", "rate", "post_ln", "0"]
    assert "3.10 2 stuck, 1 learns" in line
