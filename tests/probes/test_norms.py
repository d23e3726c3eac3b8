"""The size of the signal, against Xiong et al.'s Lemma 2 and the reference."""

import numpy as np
import pytest

from app.nn.ops import layer_norm
from app.nn.stack import StackConfig, draw_inputs, draw_layer
from app.probes.norms import measure


@pytest.fixture(scope="module")
def default(last):
    """d = 512, T = 8, uniform, d_ff = d."""
    return last(measure({"seeds": 24}))


@pytest.mark.parametrize(
    ("layer", "reference", "error"),
    [(1, 1.62, 0.01), (2, 2.41, 0.02), (4, 4.36, 0.03), (8, 9.04, 0.07), (12, 14.18, 0.11)],
)
def test_pre_ln_s_stream_is_the_reference_s(default, agrees, layer, reference, error):
    ours = (default.columns[name][layer - 1] for name in ("pre_ln", "pre_ln_se"))
    assert agrees(*ours, reference, error)


def test_pre_ln_s_stream_is_within_the_lemma_s_bounds(default):
    columns = default.columns
    for lower, mean, upper in zip(
        columns["lower"], columns["pre_ln"], columns["upper"], strict=True
    ):
        assert lower <= mean <= upper
    assert default.summary["inside"]["pre_ln"] >= 0.97


def test_post_ln_s_sum_before_the_ffn_s_norm_is_three_halves_in_every_layer(default):
    """1.483–1.521 in the reference."""
    ours, error = (np.array(default.columns[name]) for name in ("post_ln", "post_ln_se"))
    assert (np.abs(ours - 1.5) <= 4 * error).all()
    assert default.columns["post_ln_theory"] == pytest.approx([1.5] * 12)


def test_it_is_the_definition(last):
    result = last(measure({"depth": 2, "width": 32, "seeds": 2, "tokens": 5, "seed": 4}))
    stack = StackConfig(2, 32)
    found = {"post_ln": [], "pre_ln": []}
    for sample in range(2):
        samples = range(sample, sample + 1)
        post = pre = draw_inputs(stack, 4, samples)
        squares = {"post_ln": [], "pre_ln": []}
        for layer in range(2):
            attention, ffn = (
                sublayer.branch(matrices)
                for sublayer, matrices in zip(
                    stack.sublayers, draw_layer(stack, 4, samples, layer), strict=True
                )
            )
            middle = layer_norm(post + attention(post))
            squares["post_ln"].append(((middle + ffn(middle)) ** 2).mean())
            post = layer_norm(middle + ffn(middle))
            pre = pre + attention(layer_norm(pre))
            pre = pre + ffn(layer_norm(pre))
            squares["pre_ln"].append((pre**2).mean())
        for w in found:
            found[w].append(squares[w])
    for w, rows in found.items():
        np.testing.assert_allclose(result.columns[w], np.mean(rows, 0), rtol=1e-11)
