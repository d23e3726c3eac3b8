"""A wiring is its formula; the table says the rest."""

import math
from dataclasses import replace

import numpy as np
import pytest

from app.nn import ops, stack
from app.nn.stack import (
    Course,
    StackConfig,
    connection_noise,
    draw_inputs,
    draw_layer,
    output,
    states,
)
from app.nn.tensor import Tensor
from app.nn.wirings import WIRINGS, Place, Wiring, doubly_stochastic, no_numbers

SOFTMAX = StackConfig(4, 32, 2, "softmax")


class Symbol:
    """Writes down what is done to it: what the diagram and the formula are drawn from."""

    def __init__(self, text):
        self.text = text

    def __add__(self, other):
        return Symbol(f"{self.text} + {other.text}")

    def __mul__(self, number):
        return Symbol(f"{number} {self.text}")


def branch(h):
    return Symbol(f"F({h.text})")


def norm(x):
    return Symbol(f"N({x.text})")


@pytest.mark.parametrize(
    ("name", "numbers", "formula"),
    [
        ("post_ln", {}, "N(x + F(x))"),
        ("pre_ln", {}, "x + F(N(x))"),
        ("deepnorm", {"alpha": "α"}, "N(α x + F(x))"),
        ("admin", {"omega": "ω"}, "N(ω x + F(x))"),
        ("admin_constant", {"omega": "ω"}, "N(ω x + F(x))"),
        ("sandwich", {}, "x + N(F(N(x)))"),
        ("olmo2", {}, "x + N(F(x))"),
        ("pre_rms", {}, "x + F(N(x))"),
        ("normformer", {"kind": "attention"}, "x + N(F(N(x)))"),
        ("normformer", {"kind": "ffn"}, "x + F(N(x))"),
    ],
)
def test_a_wiring_is_its_formula(name, numbers, formula):
    assert WIRINGS[name].step(Symbol("x"), branch, norm, **numbers).text == formula


def test_hyper_connections_read_mix_and_write():
    """Zhu et al. 2024, equation 2, stream by stream."""
    rng = np.random.default_rng(0)
    streams, read, mix, write = (rng.standard_normal(s) for s in ((4, 3, 8), 4, (4, 4), 4))
    after = WIRINGS["hyper_connections"].step(
        streams, np.tanh, ops.layer_norm, read=read, mix=mix, write=write
    )
    brought = np.tanh(ops.layer_norm(sum(w * x for w, x in zip(read, streams, strict=True))))
    for i in range(4):
        expected = sum(mix[i, j] * streams[j] for j in range(4)) + write[i] * brought
        np.testing.assert_allclose(after[i], expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("wiring", WIRINGS.values(), ids=WIRINGS)
def test_the_same_step_runs_on_arrays_and_on_tensors(wiring):
    x = draw_inputs(SOFTMAX, 0, range(2))
    matrices = draw_layer(SOFTMAX, 0, range(2), 0)[0]
    course = Course(wiring, SOFTMAX, x)
    step = course.next(matrices)
    on_tensor = step(Tensor(course.start), matrices)
    np.testing.assert_array_equal(on_tensor.value, step(course.start, matrices))


@pytest.mark.parametrize("wiring", WIRINGS.values(), ids=WIRINGS)
def test_a_step_has_one_sum_with_the_stream_on_its_left(wiring):
    """What the share of the branch is measured by: without the branch, the left is all."""
    x = draw_inputs(SOFTMAX, 0, range(2))
    course = Course(wiring, SOFTMAX, x)
    matrices = draw_layer(SOFTMAX, 0, range(2), 0)[0]
    total = course.next(matrices)(Tensor(course.start), matrices)
    while len(total.operands) < 2:
        (total,) = total.operands
    left, right = total.operands
    np.testing.assert_array_equal(left.value + right.value, total.value)
    silent = [matrix * 0 for matrix in matrices]
    course = Course(wiring, SOFTMAX, x)
    without = course.next(silent)(Tensor(course.start), silent)
    while len(without.operands) < 2:
        (without,) = without.operands
    np.testing.assert_array_equal(without.operands[0].value, left.value)
    assert not without.operands[1].value.any()


def test_the_wirings_without_a_norm_on_the_stream_have_one_at_the_end():
    ends = {name for name, row in WIRINGS.items() if not row.final_norm}
    assert ends == {"post_ln", "deepnorm", "admin", "admin_constant"}


def test_a_row_stands_under_its_own_name_and_says_source_and_start():
    for name, row in WIRINGS.items():
        assert row.name == name
        assert row.step.__name__ == name
        assert "20" in row.source  # a year
        assert row.initialisation


def test_one_more_wiring_is_one_function_and_one_row():
    """Parallel to no paper: the branch's mean with its normed input."""

    def halved(x, branch, norm):
        return x + branch(norm(x)) * 0.5

    row = Wiring("halved", halved, True, False, "this test, 2026")
    x, layers = draw_inputs(SOFTMAX, 0, range(2)), layers_of(SOFTMAX)
    ours = states(row, SOFTMAX, x, layers)
    assert len(ours) == 9
    theirs = states(WIRINGS["pre_ln"], SOFTMAX, x, layers)
    np.testing.assert_allclose(ours[1] - x, (theirs[1] - x) / 2, rtol=1e-9, atol=1e-12)
    assert output(row, ours[-1]).shape == x.shape


# ---------------------------------------------------------------- each one's own numbers


def layers_of(config, samples=range(2)):
    return [draw_layer(config, 0, samples, layer) for layer in range(config.depth)]


def trace(name, config=SOFTMAX, **changes):
    row = replace(WIRINGS[name], **changes)
    return states(row, config, draw_inputs(config, 0, range(2)), layers_of(config))


@pytest.mark.parametrize(
    ("stack", "alpha", "beta"),
    [
        ("encoder", 24**0.25, 96**-0.25),
        ("causal", 24**0.25, 96**-0.25),
        ("decoder", 36**0.25, 144**-0.25),
        ("source", 0.81 * (12**5) ** (1 / 16), 0.87 * (12**5) ** (-1 / 16)),
    ],
)
def test_deepnorm_s_factors_are_the_paper_s_for_every_kind_of_stack(stack, alpha, beta):
    """Figure 2, N = M = 12: (2N)^¼, (8N)^−¼; (3M)^¼, (12M)^−¼; 0.81(N⁴M)^1/16, 0.87(N⁴M)^−1/16."""
    place, row = Place(3, "ffn", 12, stack), WIRINGS["deepnorm"]
    assert row.numbers(place, None)["alpha"] == pytest.approx(alpha, rel=1e-14)
    assert row.beta(place) == pytest.approx(beta, rel=1e-14)


def test_deepnorm_s_scale_before_the_branch_is_the_scale_of_its_matrices():
    """V, O, W₁ and W₂ times (8N)^−¼, Q and K as they are; then post_ln with αx."""
    beta, alpha = 32**-0.25, 8**0.25
    x = draw_inputs(SOFTMAX, 0, range(2))
    for attention, ffn in layers_of(SOFTMAX):
        q, k, v, o = attention
        x = ops.layer_norm(x * alpha + stack.softmax_attention(x, q, k, v * beta, o * beta))
        x = ops.layer_norm(x * alpha + stack.feed_forward(x, *(w * beta for w in ffn)))
    np.testing.assert_allclose(trace("deepnorm")[-1], x, rtol=1e-9, atol=1e-11)
    place = Place(0, "attention", 4)
    scales = [stack.matrix_scale(WIRINGS["deepnorm"], place, f"W_{m}") for m in "QKVO12"]
    assert scales == pytest.approx([1, 1, beta, beta, beta, beta])
    assert stack.matrix_scale(WIRINGS["pre_ln"], place, "W_V") == 1


def test_admin_s_omegas_are_profiled_on_a_post_ln_pass():
    x, layers = draw_inputs(SOFTMAX, 0, range(2)), layers_of(SOFTMAX)
    post, variance = x, np.ones(2)
    ours = trace("admin")
    sublayers = SOFTMAX.sublayers
    for i, matrices in enumerate(matrices for layer in layers for matrices in layer):
        branch = sublayers[i % 2].branch(matrices)
        omega = np.sqrt(variance)[:, None, None]
        expected = ops.layer_norm(ours[i] * omega + branch(ours[i]))
        np.testing.assert_allclose(ours[i + 1], expected, rtol=1e-10, atol=1e-12)
        variance = variance + branch(post).var(-1).mean(-1)
        post = ops.layer_norm(post + branch(post))


def test_admin_s_omegas_are_those_of_the_unchanged_weights():
    """A changed weight does not profile the stack anew."""
    x, matrices = draw_inputs(SOFTMAX, 0, range(2)), layers_of(SOFTMAX)[0]
    course = Course(WIRINGS["admin"], SOFTMAX, x)
    first, second = course.next(matrices[0]), None
    changed = [matrix * 2 for matrix in matrices[0]]
    first(x, changed)
    second = course.next(matrices[1])
    assert not np.allclose(first(x, changed), first(x, matrices[0]))
    branch = SOFTMAX.sublayers[0].branch(matrices[0])
    omega = np.sqrt(1 + branch(x).var(-1).mean(-1))[:, None, None]
    ffn = SOFTMAX.sublayers[1].branch(matrices[1])
    np.testing.assert_allclose(second(x, matrices[1]), ops.layer_norm(x * omega + ffn(x)))


def test_admin_s_constant_is_the_package_s():
    omega = WIRINGS["admin_constant"].numbers(Place(5, "ffn", 24), None)["omega"]
    assert omega**2 == pytest.approx(49 / math.log(49) - 1, rel=1e-14)


def test_olmo2_norms_queries_and_keys_over_all_heads():
    x, (q, k, v, o) = draw_inputs(SOFTMAX, 0, range(2)), layers_of(SOFTMAX)[0][0]
    attention = ops.scaled_dot_product(ops.rms_norm(x @ q), ops.rms_norm(x @ k), x @ v) @ o
    expected = x + ops.rms_norm(attention)
    np.testing.assert_allclose(trace("olmo2")[1], expected, rtol=1e-10, atol=1e-12)
    assert not np.allclose(trace("olmo2", inside={})[1], expected)


def test_normformer_norms_before_the_second_matrix():
    x, layers = trace("normformer"), layers_of(SOFTMAX)
    w_1, w_2 = layers[0][1]
    hidden = np.maximum(ops.layer_norm(x[1]) @ w_1, 0)
    np.testing.assert_allclose(x[2], x[1] + ops.layer_norm(hidden) @ w_2, rtol=1e-10, atol=1e-12)
    branch = SOFTMAX.sublayers[0].branch(layers[0][0])
    expected = x[0] + ops.layer_norm(branch(ops.layer_norm(x[0])))
    np.testing.assert_allclose(x[1], expected, rtol=1e-10, atol=1e-12)


def test_a_zero_centred_gain_of_zero_is_a_gain_of_one():
    plain = trace("pre_rms", norm=ops.rms_norm)
    for ours, theirs in zip(trace("pre_rms"), plain, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    other = trace("pre_rms", norm=lambda x: ops.zero_centred_rms_norm(x, 0.5))
    assert not np.allclose(other[1], plain[1])


@pytest.mark.parametrize("name", ["hyper_connections", "mhc"])
@pytest.mark.parametrize("attention", ["uniform", "softmax"])
def test_at_the_published_start_many_streams_are_exactly_pre_ln(name, attention):
    config = StackConfig(12, 32, 2, attention)
    pre_ln = trace("pre_ln", config)
    for ours, theirs in zip(trace(name, config), pre_ln, strict=True):
        assert ours.shape == (2, 4, 5, 32)
        for stream in range(4):
            np.testing.assert_allclose(ours[:, stream], theirs, rtol=1e-11, atol=1e-11)
    ours, theirs = (output(WIRINGS[w], trace(w, config)[-1]) for w in (name, "pre_ln"))
    # The streams are summed, so ε stands under a root that is four times as long.
    np.testing.assert_allclose(ours, theirs, atol=2e-5)


@pytest.mark.parametrize("name", ["hyper_connections", "mhc"])
def test_a_perturbed_start_parts_the_streams_from_pre_ln_and_each_other(name):
    x, layers = draw_inputs(SOFTMAX, 0, range(2)), layers_of(SOFTMAX)
    states = {}
    for size in (0.0, 0.1, 0.2):
        course = Course(
            WIRINGS[name], SOFTMAX, x, noise=connection_noise(size, seed=0, samples=range(2))
        )
        state = course.start
        for matrices in (matrices for layer in layers for matrices in layer):
            state = course.next(matrices)(state, matrices)
        states[size] = state
    apart = {size: np.abs(state - states[0.0]).max() for size, state in states.items()}
    assert 0 < apart[0.1] < apart[0.2]
    assert np.abs(states[0.1][:, 0] - states[0.1][:, 1]).max() > 1e-3


def test_mhc_s_mixing_is_doubly_stochastic():
    draw = connection_noise(1.0, 0, range(5))(3)
    mix = WIRINGS["mhc"].numbers(Place(3, "ffn", 4), draw)["mix"]
    assert (mix > 0).all()
    np.testing.assert_allclose(mix.sum(-1), 1, rtol=1e-12)
    np.testing.assert_allclose(mix.sum(-2), 1, rtol=0.02)  # 20 rounds: nearly
    np.testing.assert_allclose(np.diag(doubly_stochastic(4 * np.eye(4))), 0.948, atol=1e-3)


def test_a_wiring_without_numbers_takes_none():
    assert no_numbers(Place(0, "ffn", 1), None) == {}
