"""Optimizers, schedules, what a run reports, and the verdict."""

import math

import numpy as np
import pytest

from app.nn.training import (
    Adam,
    Corpus,
    Run,
    Sgd,
    TrainingConfig,
    linear_schedule,
    mean_cosine,
    original_schedule,
    verdict,
)
from app.probes import sentences

SMALL = {"depth": 2, "width": 16, "tokens": 8, "batch": 4}


@pytest.fixture(scope="module")
def corpus():
    return Corpus.of(sentences.text("en"), sentences.VALIDATION)


# ---------------------------------------------------------------- learning rates


def test_the_original_schedule_peaks_at_the_end_of_its_warm_up():
    """d = 512, 4,000 steps of warm-up: 6.99e-4."""
    rates = [original_schedule(step, 512, 4000) for step in range(1, 20_001)]
    assert max(rates) == rates[3999] == pytest.approx((512 * 4000) ** -0.5)
    assert f"{max(rates):.2e}" == "6.99e-04"
    assert rates[999] == pytest.approx(max(rates) / 4)  # linear on the way up
    assert rates[15_999] == pytest.approx(max(rates) / 2)  # 1/√s on the way down


def test_the_original_schedule_without_warm_up_starts_at_its_peak():
    assert original_schedule(1, 64, 0) == 1 / 8
    assert original_schedule(4, 64, 0) == 1 / 16


def test_a_linear_warm_up_ends_at_a_constant_rate():
    assert [linear_schedule(s, 0.01, 4) for s in (1, 2, 4, 5, 900)] == pytest.approx(
        [0.0025, 0.005, 0.01, 0.01, 0.01]
    )
    assert linear_schedule(1, 0.01, 0) == 0.01


# ---------------------------------------------------------------- optimizers


def test_adam_is_algorithm_1_of_its_paper_number_by_number():
    rng = np.random.default_rng(0)
    parameters = rng.standard_normal(6)
    ours, theta = parameters.copy(), parameters.copy()
    adam = Adam(ours)
    m = v = np.zeros(6)
    for t in range(1, 8):
        g = rng.standard_normal(6) * 10.0 ** rng.integers(-9, 3, 6)
        adam.step(g, 0.1 / t)
        m, v = 0.9 * m + 0.1 * g, 0.98 * v + 0.02 * g**2
        corrected = (m / (1 - 0.9**t), v / (1 - 0.98**t))
        theta = theta - 0.1 / t * corrected[0] / (np.sqrt(corrected[1]) + 1e-9)
        np.testing.assert_allclose(ours, theta, rtol=1e-12)


def test_adam_leaves_a_parameter_without_gradient_where_it_is():
    parameters = np.ones(2)
    Adam(parameters).step(np.array([0.0, 1.0]), 0.5)
    assert parameters == pytest.approx([1, 0.5])


def test_sgd_goes_down_the_gradient():
    parameters = np.array([1.0, 2.0])
    Sgd(parameters).step(np.array([3.0, -1.0]), 0.1)
    assert parameters == pytest.approx([0.7, 2.1])


# ---------------------------------------------------------------- the text as numbers


def test_validation_windows_take_every_character_once_as_a_target():
    corpus = Corpus(np.arange(3), np.arange(10), 10)
    inputs, targets = corpus.windows(4)
    assert inputs.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert targets.tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]


def test_the_unigram_cross_entropy_can_be_reckoned_by_hand():
    """Frequencies of the training split, over the validation split's targets."""
    corpus = Corpus.of("aaab" + "bab", 3)
    assert corpus.unigram(2) == pytest.approx(-(math.log(3 / 4) + math.log(1 / 4)) / 2)


# ---------------------------------------------------------------- what a run reports


def test_the_mean_cosine_over_all_pairs():
    states = np.random.default_rng(0).standard_normal((5, 3))
    unit = states / np.linalg.norm(states, axis=1, keepdims=True)
    pairs = [unit[i] @ unit[j] for i in range(5) for j in range(5) if i != j]
    assert mean_cosine(states) == pytest.approx(np.mean(pairs), rel=1e-12)
    assert mean_cosine(np.ones((4, 3)) * np.arange(1, 5)[:, None]) == pytest.approx(1)


@pytest.mark.parametrize("wiring", ["post_ln", "pre_ln"])
def test_a_report_is_of_the_parameters_before_the_step(corpus, wiring):
    run = Run(TrainingConfig(wiring, **SMALL, rate=0.01, warmup=2), corpus, 1)
    first = run.step()
    assert (first.step, first.rate, first.lower) == (1, 0.005, 1.0)
    gradients = run.model.gradients
    assert first.gradient == pytest.approx(np.linalg.norm(gradients.vector), rel=1e-6)
    squares = [(gradients[f"0.{n}"] ** 2).sum() for n in ("W_QKV", "W_O", "W_1", "W_2")]
    second = run.step()
    assert (second.step, second.rate) == (2, 0.01)
    after = sum((gradients[f"0.{n}"] ** 2).sum() for n in ("W_QKV", "W_O", "W_1", "W_2"))
    assert second.lower == pytest.approx(math.sqrt(after / sum(squares)), rel=1e-5)
    assert run.done == 2
    assert run.last == second


def test_the_loss_at_the_start_is_near_that_of_a_uniform_guess(corpus):
    losses = [Run(TrainingConfig("pre_ln", **SMALL), corpus, s).validation() for s in range(4)]
    assert np.mean(losses) == pytest.approx(math.log(corpus.symbols) + 0.5, abs=0.4)


def test_validation_does_not_depend_on_how_much_goes_together(corpus):
    run = Run(TrainingConfig("post_ln", **SMALL), corpus, 0, dtype=np.float64)

    def total(rows):
        pieces = run.validation_pieces(rows)
        while True:
            try:
                next(pieces)
            except StopIteration as end:
                return end.value

    assert total(64) == pytest.approx(total(4096), rel=1e-12)
    inputs, targets = corpus.windows(8)
    assert total(10**6) == pytest.approx(total(1), rel=1e-12)
    assert inputs.size == targets.size == (sentences.VALIDATION - 1) // 8 * 8


def test_sgd_learns_too(corpus):
    run = Run(TrainingConfig("pre_ln", **SMALL, optimizer="sgd", rate=0.3), corpus, 0)
    before = run.validation()
    for _ in range(60):
        run.step()
    assert run.validation() < before - 0.5


# ---------------------------------------------------------------- verdicts


@pytest.mark.parametrize(
    ("cosine", "lower", "validation", "expected"),
    [
        (1.0, 0.0, 3.11, "stuck"),
        (0.9995, 9e-4, 3.11, "stuck"),
        (0.9995, 9e-4, 2.0, "stuck"),  # by collapse, not by the loss
        (0.9995, 2e-3, 3.11, "waits"),  # collapsed, but the lower layers are still reached
        (0.99, 1e-5, 3.11, "waits"),
        (0.5, 0.3, 3.11, "waits"),  # a slow run is not a stuck one
        (0.5, 0.3, 3.05, "waits"),
        (0.5, 0.3, 2.9, "learns"),
        (0.9995, 2e-3, 2.9, "learns"),
        (math.nan, math.nan, math.nan, "diverges"),
    ],
)
def test_the_verdict_is_by_collapse(cosine, lower, validation, expected):
    assert verdict(cosine, lower, validation, unigram=3.1) == expected


def test_five_steps_without_warm_up_collapse_post_ln_and_not_pre_ln(corpus):
    """The cheapest contrast, at its beginning: rate 1e-2, N = 6, d = 32."""
    reports = {}
    for wiring in ("post_ln", "pre_ln"):
        run = Run(TrainingConfig(wiring), corpus, 0)
        for _ in range(25):
            reports[wiring] = run.step()
    post, pre = reports["post_ln"], reports["pre_ln"]
    assert post.cosine > 0.999 > pre.cosine
    assert post.lower < 1e-3 < pre.lower


# ---------------------------------------------------------------- the same digits


def test_the_same_config_and_seed_give_the_same_bytes(corpus):
    def trained(seed):
        run = Run(TrainingConfig("post_ln", **SMALL, warmup=3), corpus, seed)
        reports = [run.step() for _ in range(6)]
        return reports, run.model.parameters.vector.tobytes()

    assert trained(4) == trained(4)
    assert trained(4)[1] != trained(5)[1]


def test_looking_at_the_validation_split_changes_nothing(corpus):
    def trained(look):
        run = Run(TrainingConfig("pre_ln", **SMALL), corpus, 0)
        for _ in range(4):
            run.step()
            if look:
                run.validation()
        return run.model.parameters.vector.tobytes()

    assert trained(look=True) == trained(look=False)


def test_both_wirings_are_trained_on_the_same_batches(corpus):
    runs = [Run(TrainingConfig(wiring, **SMALL), corpus, 2) for wiring in ("post_ln", "pre_ln")]
    for _ in range(3):
        ours, theirs = (run._batch() for run in runs)
        np.testing.assert_array_equal(ours, theirs)
        inputs, targets = ours
        np.testing.assert_array_equal(inputs[:, 1:], targets[:, :-1])
