"""What is kept of each seed: nothing is measured twice, and no digit depends on what was before."""

import numpy as np
import pytest

from app.probes import (
    attenuation,
    beta,
    depth,
    draws,
    gradients,
    neighbours,
    norms,
    seeds,
    sensitivity,
    wirings,
)
from app.probes.result import Result
from app.probes.seeds import keys_of, seed_by_seed

SMALL = {"width": 32, "wiring": "post_ln,pre_ln,admin"}
PROBES = {
    "beta": (beta.measure, {**SMALL, "depth": 3}),
    "estimate": (sensitivity.estimate, {**SMALL, "depths": (1, 3)}),
    "sensitivity": (sensitivity.measure, {**SMALL, "depths": (1, 3)}),
    "norms": (norms.measure, {**SMALL, "depth": 3}),
    "neighbours": (neighbours.measure, {**SMALL, "depth": 3}),
    "gradients": (gradients.measure, {**SMALL, "depth": 3}),
    "last_layer": (gradients.measure_last, {**SMALL, "depths": (1, 3)}),
    "attenuation": (attenuation.measure, {**SMALL, "depth": 3}),
    "depth": (depth.measure, {**SMALL, "depth": 4}),
    "wirings": (wirings.measure, {**SMALL, "depths": (1, 3), "depth": 2}),
}
each = pytest.mark.parametrize(("probe", "config"), PROBES.values(), ids=PROBES)


@pytest.fixture
def drawn(monkeypatch):
    """A list that grows with every number drawn from here on."""
    numbers = []

    class Counting(np.random.Generator):
        def standard_normal(self, *arguments, **keywords):
            drawn = super().standard_normal(*arguments, **keywords)
            numbers.append(drawn.size)
            return drawn

    monkeypatch.setattr("app.nn.stack.np.random.Generator", Counting)
    return numbers


def answers(probe, config, count):
    found = [answer for answer in probe({**config, "seeds": count}) if answer is not None]
    return [answer for answer in found if answer.whole]


@each
def test_fewer_seeds_are_the_first_of_more(last, drawn, probe, config):
    alone = last(probe({**config, "seeds": 3}))
    answers(probe, config, 5)
    drawn.clear()
    (fewer,) = probe({**config, "seeds": 3})
    np.testing.assert_equal(fewer, alone)
    assert not drawn


@each
def test_more_seeds_go_on_where_fewer_ended(last, probe, config):
    alone = last(probe({**config, "seeds": 5}))
    seeds.forget()
    answers(probe, config, 3)
    first, *_, whole = answers(probe, config, 5)
    assert (first.done, first.total) == (3, 5)
    np.testing.assert_equal(whole, alone)


@each
def test_what_was_broken_off_is_taken_up_where_it_stopped(last, monkeypatch, probe, config):
    monkeypatch.setattr(draws, "RUN", 1)  # seed by seed
    alone = last(probe({**config, "seeds": 5}))
    seeds.forget()
    for answer in probe({**config, "seeds": 5}):
        if answer is not None and answer.done == 2:
            break
    taken_up = answers(probe, config, 5)
    assert [answer.done for answer in taken_up] == [2, 3, 4, 5]
    np.testing.assert_equal(taken_up[-1], alone)


@each
def test_another_wiring_joins_those_that_are_known(last, drawn, probe, config):
    alone = last(probe({**config, "seeds": 4}))
    seeds.forget()
    answers(probe, {**config, "wiring": "post_ln,pre_ln"}, 4)
    np.testing.assert_equal(answers(probe, config, 4)[-1], alone)
    drawn.clear()
    last_but_one = answers(probe, {**config, "wiring": "pre_ln,admin"}, 4)
    assert [answer.done for answer in last_but_one] == [4]
    assert not drawn


@each
def test_another_config_is_measured_anew(last, drawn, probe, config):
    answers(probe, config, 2)
    for different in ({"seed": 1}, {"width": 48}, {"tokens": 6}, {"ff": 2}):
        before = len(drawn)
        anew = answers(probe, {**config, **different}, 2)[-1]
        assert len(drawn) > before
        np.testing.assert_equal(anew, last(probe({**config, **different, "seeds": 2})))


@pytest.mark.parametrize(
    ("probe", "quantities"),
    [(depth.measure, ("merge", "drop", "cosine")), (neighbours.measure, ("change", "cosine"))],
)
def test_all_quantities_come_from_one_pass(last, drawn, probe, quantities):
    config = {**SMALL, "depth": 3, "seeds": 3}
    alone = [last(probe({**config, "quantity": quantity})) for quantity in quantities]
    seeds.forget()
    drawn.clear()
    running = [probe({**config, "quantity": quantity}) for quantity in quantities]
    found = [None] * len(running)
    while any(answer is None or answer.done < 3 for answer in found):
        behind = min(range(len(running)), key=lambda i: found[i].done if found[i] else 0)
        found[behind] = next(running[behind]) or found[behind]
    np.testing.assert_equal(found, alone)
    together = sum(drawn)
    drawn.clear()
    last(probe({**config, "quantity": quantities[0]}))
    assert together == sum(drawn)


def test_only_so_much_is_kept_and_no_answer_depends_on_it(last, monkeypatch):
    config = {**SMALL, "depth": 3, "seeds": 5}
    alone = last(norms.measure(config))
    monkeypatch.setattr(seeds, "KEPT", 1)
    seeds.forget()
    monkeypatch.setattr(draws, "RUN", 1)
    np.testing.assert_equal(answers(norms.measure, config, 5)[-1], alone)
    assert len(seeds._kept) == 1


def test_names_that_know_more_wait_for_those_that_know_less():
    asked = []

    def measured(names, samples):
        asked.append((list(names), samples))
        yield None
        return {name: np.array([[10.0 * i] for i in samples]) for name in names}

    def runs(start):
        yield range(start, min(start + 2, 5))

    def answer(values):
        columns = {name: of[:, 0].tolist() for name, of in values.items()}
        done = len(next(iter(columns.values())))
        return Result("p", {}, columns, {}, done, done)

    def run(names, count):
        return list(seed_by_seed(keys_of("p", {}, names), count, runs, measured, answer))

    run("a", 3)
    asked.clear()
    *_, ab = run("ab", 5)
    assert asked == [(["b"], range(2)), (["b"], range(2, 4)), (["a", "b"], range(4, 5))]
    for column in ab.columns.values():
        assert column == [0.0, 10.0, 20.0, 30.0, 40.0]


@pytest.mark.parametrize("name", ["beta", "neighbours", "gradients", "last_layer", "attenuation"])
def test_the_first_seed_s_weights_are_drawn_once(last, drawn, name):
    probe, config = PROBES[name]
    answers(probe, config, 1)
    assert 32 * 32 in drawn  # one matrix
    drawn.clear()
    other = answers(probe, {**config, "tokens": 6}, 1)[-1]
    assert 32 * 32 not in drawn
    alone = last(probe({**config, "tokens": 6, "seeds": 1}))
    np.testing.assert_equal(other.columns, alone.columns)
    assert 32 * 32 in drawn


DEEP = {**SMALL, "depth": 8}
BEGUN = {
    "beta": (beta.measure, DEEP),
    "estimate": (sensitivity.estimate, {**SMALL, "depths": (1, 2, 8)}),
    "sensitivity": (sensitivity.measure, {**SMALL, "depths": (1, 2, 8)}),
    "norms": (norms.measure, DEEP),
    "neighbours": (neighbours.measure, DEEP),
    "last_layer": (gradients.measure_last, {**SMALL, "depths": (1, 2, 8)}),
    "wirings": (wirings.measure, {"wiring": "post_ln,deepnorm", "width": 32, "depths": (1, 2, 8)}),
}
each_begun = pytest.mark.parametrize(("probe", "config"), BEGUN.values(), ids=BEGUN)


@each_begun
def test_the_first_seed_s_first_layers_come_first_and_are_what_they_stay(last, probe, config):
    first, *_ = (answer for answer in probe({**config, "seeds": 3}) if answer is not None)
    assert (first.whole, first.done, first.total) == (False, 0, 3)
    alone = last(probe({**config, "seeds": 1}))
    assert list(first.columns) == list(alone.columns)
    for name, column in first.columns.items():
        there = [value == value for value in column]
        known = [value == value for value in alone.columns[name]]
        kept = [value for value, is_there in zip(column, there, strict=True) if is_there]
        assert kept == alone.columns[name][: len(kept)], "in order, and nothing but what is there"
        if name in config.get("wiring").split(","):
            assert 0 < len(kept) < len(column)
            assert all(known)


@each_begun
def test_a_beginning_is_told_once_and_not_computed_twice(drawn, probe, config):
    config = {**config, "seeds": 1}
    running, twin = probe(config), probe(config)
    begun = next(answer for answer in running if answer is not None)
    drawn.clear()
    np.testing.assert_equal(next(twin).columns, begun.columns)
    assert not drawn
    rest = [answer for answer in running if answer is not None]
    assert [(answer.done, answer.whole) for answer in rest] == [(1, True)]
    drawn.clear()
    assert [answer.done for answer in twin] == [1]
    assert not drawn


@each_begun
def test_a_beginning_that_was_left_is_what_it_was_and_told_once(last, probe, config):
    left = probe({**config, "seeds": 2})
    begun = next(answer for answer in left if answer is not None)
    for _ in range(5):
        next(left)  # on with the same seed, then the hand is elsewhere
    again = [answer for answer in probe({**config, "seeds": 1}) if answer is not None]
    assert [answer.whole for answer in again] == [False, True]
    np.testing.assert_equal(again[0].columns, begun.columns)


@each_begun
def test_a_stack_too_shallow_to_have_a_beginning_comes_as_a_whole(probe, config):
    shallow = {name: 3 if name == "depth" else value for name, value in config.items()}
    if "depths" in config:
        shallow["depths"] = (1, 3)
    assert [a.done for a in probe({**shallow, "seeds": 1}) if a is not None] == [1]


def test_what_merging_does_comes_before_how_layers_are_grouped(last):
    config = {**SMALL, "depth": 4, "quantity": "merge", "seeds": 2}
    first, *_ = (answer for answer in depth.measure(config) if answer is not None)
    assert (first.whole, first.done) == (False, 0)
    alone = last(depth.measure({**config, "seeds": 1}))
    np.testing.assert_equal(first.columns, alone.columns)
    np.testing.assert_equal(first.summary["pairs"], alone.summary["pairs"])
    for wiring, sizes in first.summary["groups"].items():
        assert sizes == []
        assert np.isnan(first.summary["effective_depth"][wiring]["mean"])
        assert sum(alone.summary["groups"][wiring]) == 4


def test_a_gradient_comes_from_the_last_layer_back(last):
    config = {**SMALL, "depth": 8, "seeds": 2}
    first, *_ = (answer for answer in attenuation.measure(config) if answer is not None)
    assert (first.whole, first.done) == (False, 0)
    alone = last(attenuation.measure({**config, "seeds": 1}))
    for wiring in first.config["wiring"]:
        begun, whole = first.columns[wiring], alone.columns[wiring]
        assert np.isfinite(begun).tolist() == [False] * 7 + [True] * 2
        assert begun[-2:] == whole[-2:]
    assert first.summary["norms_passed"] == alone.summary["norms_passed"]
