"""What the signal lesson says of the paper's figure, and of LayerNorm's Jacobian."""

import re
from math import log
from pathlib import Path

import numpy as np
import pytest

from app.nn import ops
from app.nn.tensor import Tensor
from app.ui.strings import WRITTEN

LESSON = Path(__file__).parents[2] / "lessons" / "signal"


@pytest.mark.parametrize("language", WRITTEN)
def test_the_slope_of_figure_3c_follows_from_the_values_read_off_it(language: str) -> None:
    text = (LESSON / f"{language}.md").read_text(encoding="utf-8")
    note = text[text.index(":::note") :]
    first, last = (float(n) for n in re.findall(r"0\.\d+", note)[:2])
    slope = re.search(r"\$(-0\.\d\d)\$", note)
    assert (first, last) == (0.3, 0.13)
    assert slope
    assert float(slope[1]) == round(log(last / first) / log(14 / 6), 2)


def test_the_jacobian_is_a_projection_over_the_standard_deviation() -> None:
    d = 32
    x = 3 * np.random.default_rng(0).standard_normal(d) + 1
    rows = []
    for seed in np.eye(d):
        begin = Tensor(x[None])
        ops.layer_norm(begin).backward(seed[None])
        assert begin.grad is not None
        rows.append(begin.grad[0])
    singular = np.linalg.svd(np.array(rows), compute_uv=False)
    assert singular[: d - 2] == pytest.approx(1 / x.std(), rel=1e-5)
    assert singular[d - 2 :] == pytest.approx(0, abs=1e-5)
