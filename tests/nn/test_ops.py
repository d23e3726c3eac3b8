"""Every operation's backward against a complex step, and what each forward must be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.nn import ops
from app.nn.ops import HEAD_WIDTH
from app.nn.tensor import Tensor, operation

random_shapes = settings(deadline=None, max_examples=25)
batches = st.sampled_from([(), (1,), (3,), (2, 3)])
sizes = st.integers(1, 7)


def numbers(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


# ---------------------------------------------------------------- gradients


@random_shapes
@given(batches, sizes, sizes, sizes, st.booleans())
def test_linear(check_gradient, batch, t, m, n, shared):
    x, w = numbers(*batch, t, m), numbers(*(() if shared else batch), m, n)
    r = numbers(*batch, t, n, seed=1)
    check_gradient(lambda x, w: ops.inner(ops.linear(x, w), r), x, w)


@random_shapes
@given(batches, sizes, sizes)
def test_relu(check_gradient, batch, t, d):
    r = numbers(*batch, t, d, seed=1)
    check_gradient(lambda x: ops.inner(ops.relu(x), r), numbers(*batch, t, d))


@random_shapes
@given(batches, sizes, st.integers(2, 9), st.sampled_from([0.0, 1e-5, 0.1]))
def test_layer_norm(check_gradient, batch, t, d, epsilon):
    x, r = numbers(*batch, t, d), numbers(*batch, t, d, seed=1)
    check_gradient(lambda x: ops.inner(ops.layer_norm(x, epsilon=epsilon), r), x)


@random_shapes
@given(batches, sizes, st.integers(2, 9), st.sampled_from([0.0, 1e-5, 0.1]))
def test_rms_norm(check_gradient, batch, t, d, epsilon):
    x, r = numbers(*batch, t, d), numbers(*batch, t, d, seed=1)
    check_gradient(lambda x: ops.inner(ops.rms_norm(x, epsilon=epsilon), r), x)


@random_shapes
@given(batches, sizes, sizes, st.booleans())
def test_uniform_attention(check_gradient, batch, t, d, causal):
    h, w, r = numbers(*batch, t, d), numbers(*batch, d, d), numbers(*batch, t, d, seed=1)
    check_gradient(lambda h, w: ops.inner(ops.uniform_attention(h, w, causal=causal), r), h, w)


@random_shapes
@given(batches, sizes, st.integers(1, 3), st.booleans())
def test_scaled_dot_product(check_gradient, batch, t, heads, causal):
    q, k, v, r = (numbers(*batch, t, heads * HEAD_WIDTH, seed=s) for s in range(4))

    def loss(q, k, v):
        return ops.inner(ops.scaled_dot_product(q, k, v, causal=causal), r)

    check_gradient(loss, q, k, v)


@random_shapes
@given(batches, sizes, sizes)
def test_cross_attention(check_gradient, batch, t, s):
    """As many queries as positions, as many keys and values as the memory has."""
    q, r = (numbers(*batch, t, 2 * HEAD_WIDTH, seed=i) for i in range(2))
    k, v = (numbers(*batch, s, 2 * HEAD_WIDTH, seed=i) for i in range(2, 4))
    check_gradient(lambda q, k, v: ops.inner(ops.scaled_dot_product(q, k, v), r), q, k, v)


@random_shapes
@given(batches, sizes, sizes)
def test_zero_centred_rms_norm(check_gradient, batch, t, d):
    x, w, r = numbers(*batch, t, d), numbers(d), numbers(*batch, t, d, seed=1)
    check_gradient(lambda x, w: ops.inner(ops.zero_centred_rms_norm(x, w), r), x, w)


@random_shapes
@given(batches, sizes, sizes, st.integers(1, 4), st.booleans())
def test_streams_are_read_written_and_mixed(check_gradient, batch, t, d, n, shared):
    own = () if shared else batch
    x, streams = numbers(*batch, t, d), numbers(*batch, n, t, d)
    vector, matrix = numbers(*own, n, seed=1), numbers(*own, n, n, seed=1)
    r, many = numbers(*batch, t, d, seed=2), numbers(*batch, n, t, d, seed=2)
    check_gradient(lambda s, w: ops.inner(ops.read_streams(s, w), r), streams, vector)
    check_gradient(lambda x, w: ops.inner(ops.write_streams(x, w), many), x, vector)
    check_gradient(lambda s, w: ops.inner(ops.mix_streams(s, w), many), streams, matrix)


@random_shapes
@given(batches, sizes, st.integers(2, 9))
def test_cross_entropy(check_gradient, batch, t, classes):
    targets = np.random.default_rng(t).integers(classes, size=(*batch, t))
    check_gradient(lambda x: ops.cross_entropy(x, targets), numbers(*batch, t, classes))


@random_shapes
@given(batches, sizes, sizes)
def test_inner(check_gradient, batch, t, d):
    check_gradient(ops.inner, numbers(*batch, t, d), numbers(*batch, t, d, seed=1))


def test_the_complex_step_finds_a_wrong_backward(check_gradient):
    """LayerNorm without its two projections: the mistake that looks right in the last layer."""

    @operation
    def careless_norm(x):
        scale = np.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True))
        return (x - x.mean(-1, keepdims=True)) / scale, lambda g: (g / scale,)

    r = numbers(3, 8, seed=1)
    with pytest.raises(AssertionError):
        check_gradient(lambda x: ops.inner(careless_norm(x), r), numbers(3, 8))


# ---------------------------------------------------------------- LayerNorm's own identities


@pytest.mark.parametrize("epsilon", [0.0, 1e-5])
def test_layer_norm_s_gradient_is_orthogonal_to_ones_and_nearly_to_its_output(epsilon):
    """Σgᵢ = 0; Σgᵢx̂ᵢ = 0 at ε = 0 and (1/s)·Σĝx̂·ε/(σ²+ε) else, s = √(σ²+ε), ĝ arriving."""
    x, arriving = 0.02 * numbers(64, 32), numbers(64, 32, seed=1)  # σ² small: ε is felt
    tensor = Tensor(x)
    output = ops.layer_norm(tensor, epsilon=epsilon)
    ops.inner(output, arriving).backward()
    variance = x.var(-1)
    size = np.abs(tensor.grad).sum(-1)
    assert (np.abs(tensor.grad.sum(-1)) <= 1e-14 * size).all()
    along = (tensor.grad * output.value).sum(-1)
    expected = (arriving * output.value).sum(-1) * epsilon / (variance + epsilon) ** 1.5
    assert (np.abs(along - expected) <= 1e-13 * size).all()
    assert epsilon == 0 or (np.abs(expected) > 1e-6 * size).any()


def test_rms_norm_s_gradient_is_orthogonal_to_its_output_but_not_to_ones():
    x, arriving = numbers(64, 32), numbers(64, 32, seed=1)
    tensor = Tensor(x)
    output = ops.rms_norm(tensor, epsilon=0.0)
    ops.inner(output, arriving).backward()
    size = np.abs(tensor.grad).sum(-1)
    assert (np.abs((tensor.grad * output.value).sum(-1)) <= 1e-13 * size).all()
    assert (np.abs(tensor.grad.sum(-1)) > 1e-6 * size).any()


# ---------------------------------------------------------------- forwards


def test_layer_norm_takes_the_population_variance():
    x = numbers(5, 16)
    expected = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(ops.layer_norm(x), expected, rtol=1e-13)


def test_rms_norm_divides_by_the_root_mean_square():
    x = numbers(5, 16) + 3
    expected = x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(ops.rms_norm(x), expected, rtol=1e-13)


@pytest.mark.parametrize("causal", [False, True])
def test_uniform_attention_is_softmax_attention_with_zero_queries_and_keys(causal):
    h, value = numbers(2, 5, HEAD_WIDTH), numbers(2, HEAD_WIDTH, HEAD_WIDTH)
    zero = np.zeros_like(h)
    expected = ops.scaled_dot_product(zero, zero, ops.linear(h, value), causal=causal)
    ours = ops.uniform_attention(h, value, causal=causal)
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("attention", ["uniform", "softmax"])
def test_causal_attention_at_a_position_is_attention_over_what_came_before_it(attention):
    q, k, v = (numbers(2, 6, 2 * HEAD_WIDTH, seed=s) for s in range(3))
    w = numbers(2 * HEAD_WIDTH, 2 * HEAD_WIDTH)
    for t in range(6):
        past = slice(0, t + 1)
        if attention == "uniform":
            whole = ops.uniform_attention(v, w, causal=True)
            alone = ops.uniform_attention(v[:, past], w)
        else:
            whole = ops.scaled_dot_product(q, k, v, causal=True)
            alone = ops.scaled_dot_product(q[:, past], k[:, past], v[:, past])
        np.testing.assert_allclose(whole[:, t], alone[:, t], rtol=1e-11, atol=1e-13)


def test_cross_attention_does_not_care_for_the_order_of_the_memory():
    q, k, v = numbers(3, 16), numbers(7, 16, seed=1), numbers(7, 16, seed=2)
    order = np.random.default_rng(0).permutation(7)
    np.testing.assert_allclose(
        ops.scaled_dot_product(q, k, v),
        ops.scaled_dot_product(q, k[order], v[order]),
        rtol=1e-11,
        atol=1e-14,
    )


def test_scaled_dot_product_is_the_papers_equation_head_by_head():
    q, k, v = (numbers(5, 2 * HEAD_WIDTH, seed=s) for s in range(3))
    out = ops.scaled_dot_product(q, k, v)
    for head in (slice(0, 16), slice(16, 32)):
        scores = q[:, head] @ k[:, head].T / 4
        weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
        np.testing.assert_allclose(out[:, head], weights @ v[:, head], rtol=1e-12, atol=1e-13)


def test_large_scores_do_not_overflow():
    q = 1e4 * numbers(3, HEAD_WIDTH)
    assert np.isfinite(ops.scaled_dot_product(q, q, q)).all()
    assert np.isfinite(ops.scaled_dot_product(q, q, q, causal=True)).all()


def test_cross_entropy_is_the_mean_over_positions_and_the_sum_over_seeds():
    logits = numbers(2, 5, 4)
    targets = np.array([[0, 1, 2, 3, 0], [3, 3, 1, 0, 2]])
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    one_by_one = [np.mean([-np.log(p[s, t, targets[s, t]]) for t in range(5)]) for s in range(2)]
    np.testing.assert_allclose(ops.cross_entropy(logits, targets), sum(one_by_one), rtol=1e-13)


# ---------------------------------------------------------------- the one matrix product


@random_shapes
@given(batches, sizes, st.sampled_from([1, 5, 64, 128]), st.sampled_from([3, 64, 65, 200]))
def test_both_ways_to_multiply_differ_in_the_last_digits_only(batch, m, k, n):
    x, y = numbers(*batch, m, k), numbers(*batch, k, n)
    for left, right in ((x, y), (x, y.mT.copy().mT), (x.mT.copy().mT, y)):
        ours = ops._product_by_einsum(left, right)
        assert ours.shape == (left @ right).shape
        bound = 1e-14 * (np.abs(left) @ np.abs(right))
        assert (np.abs(ours - left @ right) <= bound).all()
        assert (np.abs(ops.matrix_product(left, right) - left @ right) <= bound).all()


@pytest.mark.parametrize(("k", "n"), [(32, 32), (64, 64), (64, 256), (128, 128), (256, 64)])
def test_a_product_s_digits_do_not_depend_on_the_size_of_the_batch(k, n):
    x, y = numbers(6, 5, k), numbers(6, k, n)
    together = ops.matrix_product(x, y)
    for first, last in ((0, 1), (1, 3), (3, 6)):
        np.testing.assert_array_equal(
            together[first:last], ops.matrix_product(x[first:last], y[first:last])
        )


def test_one_matrix_serves_a_whole_batch():
    x, w = numbers(2, 3, 5, 80), numbers(80, 70)
    np.testing.assert_allclose(ops.matrix_product(x, w), x @ w, rtol=1e-10, atol=1e-12)
