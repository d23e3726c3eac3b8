"""The language model: its gradients, its start, and that fusing changed nothing."""

import numpy as np
import pytest

from app.nn import ops
from app.nn.language_model import (
    TRAINABLE,
    LanguageModel,
    ModelConfig,
    affine_norm,
    attention,
    feed_forward,
    norms_in,
)
from app.nn.stack import StackConfig, draw_layer, output, states
from app.nn.training import finish
from app.nn.wirings import WIRINGS

MASK = np.triu(np.full((4, 4), -np.inf), 1)


def numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


def tiny(wiring, dtype=np.float64, **changed):
    config = {"depth": 2, "width": 16, "ff": 2, "tokens": 4, "symbols": 7} | changed
    return LanguageModel(ModelConfig(wiring, **config), seed=3, dtype=dtype)


def batch(model, windows=3):
    rng = np.random.default_rng(5)
    shape = (windows, model.config.tokens)
    return tuple(rng.integers(model.config.symbols, size=shape) for _ in range(2))


def nothing(_):
    """Watches no logits."""


# ---------------------------------------------------------------- gradients


@pytest.mark.parametrize("wiring", TRAINABLE)
def test_the_gradient_of_every_parameter_agrees_with_differences(wiring):
    """Of the whole model, gains, biases, embedding and positions included; moved off its start,
    where gains are 1 and biases 0."""
    model = tiny(wiring)
    model.parameters.vector += 0.1 * numbers(model.parameters.vector.size)
    inputs, targets = batch(model)
    loss, _ = finish(model.loss_and_gradients(inputs, targets, nothing))
    assert loss == pytest.approx(finish(model.losses(inputs, targets)), rel=1e-14)
    step = 1e-5
    for name, view in model.parameters.views.items():
        direction = numbers(*view.shape, seed=len(name))
        around = []
        for sign in (1, -1):
            view += sign * step * direction
            around.append(finish(model.losses(inputs, targets)))
            view -= sign * step * direction
        slope = (around[0] - around[1]) / (2 * step)
        along = float((model.gradients[name] * direction).sum())
        assert along == pytest.approx(slope, rel=1e-6, abs=1e-9), name
        assert np.abs(model.gradients[name]).max() > 1e-6, name


def test_fused_operations_agree_with_a_complex_step(check_gradient):
    r = numbers(8, 16, seed=1)
    x, gain, bias = numbers(8, 16), numbers(16, seed=2), numbers(16, seed=3)
    check_gradient(lambda *of: ops.inner(affine_norm(*of), r), x, gain, bias)
    w_1, w_2 = numbers(16, 32), numbers(32, 16)
    check_gradient(lambda *of: ops.inner(feed_forward(*of), r), x, w_1, w_2)


def test_attention_s_gradient_agrees_with_a_complex_step(check_gradient):
    r = numbers(8, 32, seed=1)
    h, w_qkv, w_o = numbers(8, 32), numbers(32, 96) / 6, numbers(32, 32)

    def loss(*of):
        return ops.inner(attention(*of, mask=MASK, watch=nothing), r)

    check_gradient(loss, h, w_qkv, w_o)


# ---------------------------------------------------------------- the same blocks


def test_fused_attention_is_the_stack_s_causal_attention_window_by_window():
    h = numbers(3, 4, 32)
    matrices = [numbers(32, 32, seed=i) / 6 for i in range(4)]
    q, k, v = (h @ matrix for matrix in matrices[:3])
    expected = ops.scaled_dot_product(q, k, v, causal=True) @ matrices[3]
    w_qkv = np.concatenate(matrices[:3], axis=1)
    ours = attention(h.reshape(12, 32), w_qkv, matrices[3], mask=MASK, watch=nothing)
    np.testing.assert_allclose(ours.reshape(h.shape), expected, rtol=1e-11, atol=1e-13)


def test_the_watch_is_told_the_largest_logit_that_a_position_may_see():
    h = numbers(4, 16)
    told = []
    attention(h, numbers(16, 48), numbers(16, 16), mask=MASK, watch=told.append)
    q, k, _ = np.split(h @ numbers(16, 48), 3, axis=1)
    logits = q @ k.T / 4
    assert told == [pytest.approx(logits[np.tri(4) > 0].max(), rel=1e-12)]


@pytest.mark.parametrize("wiring", ["post_ln", "pre_ln"])
def test_a_model_s_layers_are_the_stack_s_at_its_start(wiring):
    """Written out from the stack's own draws, window by window, with gain 1 and bias 0."""
    model = tiny(wiring)
    inputs, targets = batch(model)
    w = model.parameters
    x = w["embedding"][inputs] + w["positions"]  # (windows, T, d)
    step = WIRINGS[wiring].step
    for layer in range(2):
        drawn = draw_layer(StackConfig(2, 16, 2, "softmax", 4), 3, range(1), layer)
        (query, key, value, out), (w_1, w_2) = ([m[0] for m in of] for of in drawn)

        def attend(h, query=query, key=key, value=value, out=out):
            return ops.scaled_dot_product(h @ query, h @ key, h @ value, causal=True) @ out

        x = step(x, attend, ops.layer_norm)
        x = step(x, lambda h, w_1=w_1, w_2=w_2: ops.relu(h @ w_1) @ w_2, ops.layer_norm)
    final = ops.layer_norm(x) if wiring == "pre_ln" else x
    expected = ops.cross_entropy(final @ w["head"], targets) / len(inputs)
    loss, states = finish(model.loss_and_gradients(inputs, targets, nothing))
    assert loss == pytest.approx(float(expected), rel=1e-12)
    np.testing.assert_allclose(states, final.reshape(-1, 16), rtol=1e-10, atol=1e-12)


def test_no_position_sees_what_comes_after_it():
    model = tiny("pre_ln")
    inputs, targets = batch(model, windows=1)
    _, before = finish(model.loss_and_gradients(inputs, targets, nothing))
    inputs[0, 2] = (inputs[0, 2] + 1) % 7
    _, after = finish(model.loss_and_gradients(inputs, targets, nothing))
    np.testing.assert_array_equal(before[:2], after[:2])
    assert (before[2:] != after[2:]).any(axis=1).all()


def test_a_window_does_not_see_its_neighbours():
    model = tiny("post_ln")
    inputs, targets = batch(model)
    _, together = finish(model.loss_and_gradients(inputs, targets, nothing))
    _, alone = finish(model.loss_and_gradients(inputs[1:2], targets[1:2], nothing))
    np.testing.assert_allclose(together[4:8], alone, rtol=1e-10)


@pytest.mark.parametrize("wiring", TRAINABLE)
def test_a_model_at_its_start_is_the_causal_stack_of_its_wiring(wiring):
    """With the wiring's own numbers and scales, each of which may depend on N."""
    model = tiny(wiring, depth=3)
    inputs, targets = batch(model)
    blocks = StackConfig(3, 16, 2, "softmax", 4, "causal")
    layers = [
        tuple([m[0] for m in of] for of in draw_layer(blocks, 3, range(1), layer))
        for layer in range(3)
    ]
    x = model.parameters["embedding"][inputs] + model.parameters["positions"]
    row = WIRINGS[wiring]
    expected = output(row, states(row, blocks, x, layers)[-1])
    _, final = finish(model.loss_and_gradients(inputs, targets, nothing))
    np.testing.assert_allclose(final, expected.reshape(-1, 16), rtol=1e-9, atol=1e-11)


def test_a_wiring_that_the_model_cannot_have_is_refused_with_those_it_can():
    assert set(TRAINABLE) == {"post_ln", "pre_ln", "deepnorm", "admin_constant", "sandwich"}
    with pytest.raises(ValueError, match=r"must be one of post_ln, pre_ln, .* to be trained"):
        tiny("olmo2")


# ---------------------------------------------------------------- parameters


def test_spreads_at_the_start_are_the_stated_ones():
    model = tiny("post_ln", width=64, symbols=90, tokens=64)
    w = model.parameters
    for name, spread in (("embedding", 1 / 8), ("positions", 0.02), ("head", 1 / 8)):
        sampling = 1 / np.sqrt(2 * w[name].size)
        assert w[name].std() == pytest.approx(spread, rel=5 * sampling), name
    for name in ("0.W_QKV", "1.W_O"):  # Xavier of d × d, not of the packed d × 3d
        assert w[name].std() == pytest.approx(1 / 8, rel=0.05), name


def test_both_wirings_start_from_the_same_weights():
    post, pre = tiny("post_ln").parameters, tiny("pre_ln").parameters
    for name in post.views:
        np.testing.assert_array_equal(post[name], pre[name])
    assert set(pre.views) - set(post.views) == {"final.gain", "final.bias"}


def test_every_parameter_is_a_view_of_the_one_vector():
    parameters = tiny("pre_ln").parameters
    assert sum(view.size for view in parameters.views.values()) == parameters.vector.size
    parameters.vector[:] = 7
    assert all((view == 7).all() for view in parameters.views.values())


def test_each_norm_of_a_step_has_a_gain_and_a_bias_of_its_own():
    assert norms_in(WIRINGS["post_ln"]) == norms_in(WIRINGS["pre_ln"]) == 1
    assert norms_in(WIRINGS["sandwich"]) == 2
    for wiring, gains in (("post_ln", 4), ("pre_ln", 4 + 1), ("sandwich", 8 + 1)):
        assert len([name for name in tiny(wiring).parameters.views if "gain" in name]) == gains


@pytest.mark.parametrize("wiring", TRAINABLE)
def test_float32_stays_float32(wiring):
    model = tiny(wiring, dtype=np.float32)
    _, states = finish(model.loss_and_gradients(*batch(model), nothing))
    assert states.dtype == model.parameters.vector.dtype == np.float32
    assert model.gradients.vector.dtype == np.float32


@pytest.mark.parametrize("wiring", TRAINABLE)
def test_a_pass_pauses_at_every_sublayer_there_and_back(wiring):
    model = tiny(wiring, depth=3)
    inputs, targets = batch(model)
    assert len(list(model.loss_and_gradients(inputs, targets, nothing))) >= 2 * 6
    assert len(list(model.losses(inputs, targets))) >= 6
