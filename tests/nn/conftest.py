"""What the tests of derivatives share."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from app.nn.tensor import Tensor

STEP = 1e-30  # a complex step has no cancellation: the smaller the better


@pytest.fixture(scope="session")
def check_gradient() -> Callable[..., None]:
    """check(function, *operands): does the tape's gradient of the one number
    `function(*operands)` equal Im f(x + i·h·v)/h along a random direction v of every operand?"""

    def check(function: Callable[..., Any], *operands: np.ndarray) -> None:
        tensors = [Tensor(operand) for operand in operands]
        function(*tensors).backward()
        rng = np.random.default_rng(7)
        for i, operand in enumerate(operands):
            v = rng.standard_normal(operand.shape)
            stepped = [o + 1j * STEP * v if j == i else o for j, o in enumerate(operands)]
            slope = np.imag(function(*stepped)) / STEP
            assert tensors[i].grad.shape == operand.shape
            size = (1 + np.linalg.norm(tensors[i].grad)) * np.linalg.norm(v)
            assert np.abs((tensors[i].grad * v).sum() - slope) <= 1e-12 * size, f"operand {i}"

    return check
