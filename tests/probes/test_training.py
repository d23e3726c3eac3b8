"""The probe over the training run: what it shows, when it shows it, and what it refuses."""

import math

import numpy as np
import pytest

from app.nn.training import Corpus, Run, TrainingConfig
from app.probes import sentences
from app.probes.training import CONTRAST, CONTRAST_TAKES, EVERY, TAKES, contrast, measure

SMALL = {"depth": 2, "width": 16, "tokens": 8, "batch": 4, "steps": 12}


@pytest.fixture(scope="module")
def result(last):
    return last(measure({**SMALL, "seed": 3}))


def test_the_default_is_the_verified_setting():
    names = ("depth", "width", "ff", "tokens", "batch", "rate", "steps", "warmup", "optimizer")
    assert [TAKES[name].default for name in names] == [6, 32, 2, 16, 8, 0.01, 200, 0, "adam"]


def test_a_row_is_a_step_and_shows_what_the_run_reported(result):
    corpus = Corpus.of(sentences.text("en"), sentences.VALIDATION)
    for wiring in ("post_ln", "pre_ln"):
        run = Run(TrainingConfig(wiring, depth=2, width=16, tokens=8, batch=4), corpus, 3)
        start = run.validation()
        reports = [run.step() for _ in range(12)]
        assert result.columns["step"] == [report.step for report in reports]
        assert result.columns["rate"] == [report.rate for report in reports]
        assert result.columns[wiring] == [report.loss for report in reports]
        for suffix in ("gradient", "logit", "cosine", "lower"):
            assert result.columns[f"{wiring}_{suffix}"] == [getattr(r, suffix) for r in reports]
        about = result.summary[wiring]
        assert about["start"] == start
        assert about["validation"] == result.columns[f"{wiring}_validation"][-1] == run.validation()
        assert about["parameters"] == run.model.parameters.vector.size
        assert about["verdict"] in ("stuck", "learns", "waits")
    assert result.summary["unigram"] == corpus.unigram(8)
    assert result.summary["symbols"] == corpus.symbols
    assert {len(column) for column in result.columns.values()} == {12}
    assert set(result.config) == set(TAKES)


def test_a_partial_result_is_the_beginning_of_the_whole():
    answers = [answer for answer in measure(SMALL) if answer is not None]
    assert [answer.done for answer in answers] == [EVERY, 2 * EVERY, 12]
    for answer in answers:
        assert answer.total == 12
        for name, column in answer.columns.items():
            np.testing.assert_array_equal(column, answers[-1].columns[name][: answer.done])


def test_validation_is_looked_at_ten_times_in_a_run(last):
    looks = last(measure({**SMALL, "steps": 40, "wiring": "pre_ln"})).columns["pre_ln_validation"]
    assert [step for step, loss in enumerate(looks, 1) if not math.isnan(loss)] == list(
        range(4, 41, 4)
    )


def test_the_three_runs_of_the_contrast_are_those_that_run_alone(last):
    together = last(contrast({**SMALL, "warmup": 4, "seed": 3}))
    cold, warm = (last(measure({**SMALL, "warmup": w, "seed": 3})) for w in (0, 4))
    runs = {"post_ln": (cold, "post_ln"), "post_ln_warm": (warm, "post_ln")}
    for name, (alone, wiring) in {**runs, "pre_ln": (cold, "pre_ln")}.items():
        assert together.summary[name] == alone.summary[wiring]
        for suffix in ("", "_gradient", "_logit", "_cosine", "_lower", "_validation"):
            ours, theirs = together.columns[f"{name}{suffix}"], alone.columns[f"{wiring}{suffix}"]
            np.testing.assert_array_equal(ours, theirs)
    assert together.columns["rate"] == cold.columns["rate"]
    assert together.columns["rate_warm"] == warm.columns["rate"] != cold.columns["rate"]
    assert set(together.config) == set(CONTRAST_TAKES)


def test_it_pauses_at_every_sublayer_of_every_wiring():
    pauses = [answer for answer in measure({**SMALL, "steps": 5, "depth": 3}) if answer is None]
    assert len(pauses) > 5 * 2 * (6 + 6)


def test_seed_text_optimizer_and_schedule_each_change_the_run(last, result):
    for changed in (
        {"seed": 4},
        {"seed": 3, "text": "zh-Hans"},
        {"seed": 3, "optimizer": "sgd"},
        {"seed": 3, "schedule": "original", "warmup": 4},
    ):
        other = last(measure({**SMALL, **changed}))
        assert other.columns["pre_ln"][1:] != result.columns["pre_ln"][1:], changed


def test_the_original_schedule_takes_its_rate_from_width_and_warm_up(last):
    rates = last(measure({**SMALL, "schedule": "original", "warmup": 4})).columns["rate"]
    assert max(rates) == rates[3] == pytest.approx((16 * 4) ** -0.5)


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"wiring": "olmo2"}, "wiring must be one or more of post_ln, pre_ln, "),
        ({"width": 128}, "width must be a multiple of 16 from 16 to 64; it was '128'"),
        ({"rate": 2}, "rate must be a number from 1e-05 to 1.0; it was '2'"),
        ({"text": "fr"}, "text must be one of en, zh-Hans; it was 'fr'"),
    ],
)
def test_what_a_browser_could_not_do_in_time_is_refused(config, sentence):
    with pytest.raises(ValueError, match=sentence):
        next(measure(config))


@pytest.mark.slow
@pytest.mark.parametrize("language", CONTRAST)
@pytest.mark.parametrize(
    ("wiring", "warmup", "expected"),
    [("post_ln", 0, "stuck"), ("post_ln", 100, "learns"), ("pre_ln", 0, "learns")],
)
def test_the_contrast_never_fails_in_eight_seeds(last, language, wiring, warmup, expected):
    config = {"wiring": wiring, "warmup": warmup, "text": language, "rate": CONTRAST[language]}
    results = [last(measure({**config, "seed": seed})) for seed in range(8)]
    assert [result.summary[wiring]["verdict"] for result in results] == [expected] * 8


# Losses of the first five steps in float64, then after them ‖∂L/∂θ‖, the largest logit, the lower
# layers' share and the validation loss. Made natively; Pyodide 0.28.3 gives the same to 10⁻¹³.
FIRST_STEPS = {
    ("en", "post_ln"): (
        [4.00750015434959, 3.57474179852017, 3.53876737330036, 3.32024483717907, 3.22022239350643],
        [0.905454932001875, 4.1714287881087, 0.0146388287986284, 3.17251001248935],
    ),
    ("en", "pre_ln"): (
        [3.94895935338374, 3.32142699358725, 3.30458716752081, 3.2698837098569, 3.17573474509288],
        [0.655834342391563, 3.52111481259896, 0.0837270256713423, 3.15207649107163],
    ),
    ("zh-Hans", "post_ln"): (
        [5.29076046421922, 4.60163704774562, 4.59026327994111, 4.38398964466256, 4.19867372113518],
        [0.939635834937736, 4.37853566952095, 0.009122549755982, 4.18459915635021],
    ),
    ("zh-Hans", "pre_ln"): (
        [5.2314774834235, 4.77566909833824, 4.55782588572574, 4.29015706210594, 4.14942433976127],
        [0.948642846189082, 4.42507562913217, 0.187184143547819, 4.07183620596042],
    ),
}


@pytest.mark.parametrize(("language", "wiring"), FIRST_STEPS)
def test_the_first_five_steps_of_the_default_setting_show_the_pinned_digits(language, wiring):
    corpus = Corpus.of(sentences.text(language), sentences.VALIDATION)
    run = Run(TrainingConfig(wiring), corpus, 0, dtype=np.float64)
    reports = [run.step() for _ in range(5)]
    last = reports[-1]
    losses, others = FIRST_STEPS[language, wiring]
    assert [report.loss for report in reports] == pytest.approx(losses, rel=1e-9)
    shown = [last.gradient, last.logit, last.lower, run.validation()]
    assert shown == pytest.approx(others, rel=1e-9)
