"""The block experiment: its counts are the stack's own, its models' totals the published ones."""

import csv
import re
from collections.abc import Mapping
from html import unescape

import numpy as np
import pytest

from app.experiments import block_counts, export
from app.experiments.block import TINY, Block, short
from app.experiments.block_counts import STAGES, of_model, of_stack, total
from app.experiments.models import MODELS, Model
from app.nn import ops
from app.nn.stack import StackConfig, draw_inputs, draw_layer, feed_forward, softmax_attention
from app.nn.wirings import WIRINGS
from app.ui.numbers import whole
from app.ui.references import PAPERS
from app.ui.strings import LANGUAGES, WRITTEN, strings
from tests.experiments.helpers import words


def shown(state: Mapping[str, str], language: str = "en") -> Block:
    experiment = Block(language)
    experiment.set(state)
    while experiment.step():
        pass
    assert experiment.status == "ready"
    return experiment


def plain(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html))).strip()


def told(experiment: Block, part: str) -> str:
    """What the part says of the stage that is pressed; of the others it is hidden."""
    pieces = re.findall(
        r'<div data-when="stage=(\w+)"( hidden)?>(.*?)(?=<div data-when|$)',
        experiment.parts()[part],
        flags=re.DOTALL,
    )
    assert [stage for stage, *_ in pieces] == list(STAGES)
    assert [stage for stage, hidden, _ in pieces if not hidden] == [experiment.stage]
    return next(plain(html) for _, hidden, html in pieces if not hidden)


STACK = StackConfig(depth=3, width=32, ff=2, attention="softmax", tokens=7)


def test_parameters_are_the_entries_of_the_matrices_that_are_drawn() -> None:
    counts = of_stack(STACK, "post_ln")
    drawn = draw_layer(STACK, 0, range(1), 0)
    for stage, matrices in zip(("attention", "ffn"), drawn, strict=True):
        assert counts[stage].parameters == sum(matrix.size for matrix in matrices)
        assert counts[stage].times == STACK.depth


def test_operations_are_those_of_the_products_that_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every product of the true pass goes through one helper, and is counted there."""
    operations = 0
    product = ops.matrix_product

    def counted(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        nonlocal operations
        result = product(x, y)
        operations += 2 * result.size * x.shape[-1]
        return result

    monkeypatch.setattr(ops, "matrix_product", counted)
    x = draw_inputs(STACK, 0, range(1))
    attention, ffn = draw_layer(STACK, 0, range(1), 0)
    for stage, run in (
        ("attention", lambda: softmax_attention(x, *attention)),
        ("ffn", lambda: feed_forward(x, *ffn)),
    ):
        operations = 0
        run()
        assert operations == of_stack(STACK, "pre_ln")[stage].operations * STACK.tokens


def test_only_pre_ln_has_a_last_norm() -> None:
    assert of_stack(STACK, "pre_ln")["final"].times == 1
    assert of_stack(STACK, "post_ln")["final"].times == 0


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_totals_are_the_published_ones(model: Model) -> None:
    """65 M, 7 B and the like are rounded, and biases are left out."""
    assert total(model) == pytest.approx(model.published, rel=0.05)
    assert model.wiring in WIRINGS
    assert {key for key, _ in model.sources} <= set(PAPERS)
    assert sum(len(places) for _, places in model.sources) or len(model.sources) > 1


def test_totals_that_are_published_exactly_are_met_exactly() -> None:
    by_name = {model.name: model for model in MODELS}
    gemma = by_name["Gemma 2 9B"]  # its Table 2: 918 M in the embedding, 8,324 M elsewhere
    embedding = of_model(gemma, 1)["x"].parameters
    assert round(embedding / 1e6) == 918
    assert round((total(gemma) - embedding) / 1e6) == 8324
    assert total(by_name["GPT-3 175B"]) == pytest.approx(175.0e9, rel=0.003)
    assert total(by_name["GPT-2 small"]) == pytest.approx(124.4e6, rel=0.002)


@pytest.mark.parametrize(
    ("number", "written"),
    [
        *((9999, "9,999"), (24_576, "24.6 k"), (999_600, "1.00 M")),
        *((44.04e6, "44.0 M"), (124e6, "124 M"), (8.03e9, "8.03 G")),
    ],
)
def test_large_numbers_have_three_digits_and_a_prefix(number: float, written: str) -> None:
    assert short(number) == written


def test_a_decoder_layer_attends_twice() -> None:
    base = of_model(MODELS[0], 1)
    assert (base["attention"].times, base["ffn"].times, base["norm"].times) == (18, 12, 30)


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_that_is_pressed_is_told(stage: str) -> None:
    experiment = shown({"stage": stage, "width": "64", "ff": "2", "depth": "5", "tokens": "16"})
    stack = StackConfig(depth=5, width=64, ff=2, attention="softmax", tokens=16)
    count = of_stack(stack, "pre_ln")[stage]
    running = told(experiment, "running")
    assert "16 × 64" in running
    for number in (count.parameters, count.operations, count.all_parameters):
        assert number == 0 or whole(number) in running
    for name, (rows, columns) in count.matrices.items():
        assert f"{name[:2]}".rstrip("_") in running
        assert f"{rows} × {columns}" in running
    if count.parameters:
        assert whole(count.parameters) in words(experiment, "sentence")
    models = told(experiment, "models")
    for model in MODELS:
        assert model.name in models
        for key, _ in model.sources:
            assert PAPERS[key][0] in models
    assert "[@" not in models


def test_the_drawings_have_a_shape_for_every_stage_to_light_up() -> None:
    drawings = shown({}).parts()["drawings"]
    assert set(STAGES) <= set(re.findall(r'data-stage="(\w+)"', drawings))
    assert drawings.count('role="img"') == 2
    ids = re.findall(r' id="([^"]+)"', drawings)
    assert len(set(ids)) == len(ids)


def test_every_control_changes_what_is_shown() -> None:
    before = shown({}).parts()
    for name, text in (("width", "64"), ("ff", "1"), ("tokens", "16"), ("depth", "3")):
        after = shown({name: text}).parts()
        assert after["running"] != before["running"], name


def test_no_positions_are_compared_for_free() -> None:
    """At T = 4096 most of attention's work at d = 128 is comparing positions."""
    experiment = shown({"tokens": "4096"})
    share = re.search(r"Of its operations, (\S+) %", words(experiment, "sentence"))
    assert share is not None
    count = of_stack(experiment.stack, "pre_ln")["attention"]
    of_pairs = block_counts.pairs(4096, 128)
    assert float(share[1]) == pytest.approx(100 * of_pairs / count.operations, rel=0.01)
    assert of_pairs + 2 * count.parameters == count.operations


def test_a_share_too_small_to_tell_is_not_written_as_a_power_of_ten() -> None:
    experiment = shown({"stage": "final"})
    assert f"less than {TINY:.2%}".replace("%", " %") in told(experiment, "models")
    assert "e-" not in told(experiment, "models").replace("github", "")


def test_files_hold_numbers_where_readers_are_shown_short_ones() -> None:
    files = {file["name"]: file["text"] for file in export.files(shown({"tokens": "16"}))}
    base = MODELS[0]
    for stage in STAGES:
        rows = list(csv.DictReader(files[f"models_{stage}"].splitlines()[-len(MODELS) - 1 :]))
        count = of_model(base, 16)[stage]
        row = rows[0]
        assert [row["model"], row["N"]] == [base.name, str(base.layers + base.decoder)]
        assert float(row["parameters"]) == count.parameters
        assert float(row["operations"]) == count.operations * 16
        assert float(row["share"]) == count.all_parameters / total(base)
    shapes = list(csv.DictReader(files["models"].splitlines()[-len(MODELS) - 1 :]))
    assert [float(row["published"]) for row in shapes] == [model.published for model in MODELS]


@pytest.mark.parametrize("language", WRITTEN)
def test_the_words_name_the_width_of_a_head_as_it_is(language: str) -> None:
    texts = strings(language)
    say_it = ("option.attention.help", "wirings.option.attention.help", "block.board.attention",
              "experiment.details.softmax", "experiment.details.softmax_no_curve")  # fmt: skip
    for name in say_it:
        assert re.findall(r"\b16\b", str(texts.raw(name))) == [str(ops.HEAD_WIDTH)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_all_is_said_in_every_language(language: str) -> None:
    for stage in STAGES:
        experiment = shown({"stage": stage}, language)
        for part in ("sentence", "table", "details", "running", "models"):
            text = words(experiment, part)
            assert text
            assert "{" not in text
        assert strings(language).raw(f"block.board.{stage}")
