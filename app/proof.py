"""A few digits that only a NumPy in working order gives: what a restored Python is asked first."""

from __future__ import annotations

import numpy as np


def digits() -> str:
    """A seeded draw, a product and a function of it, to the last bit."""
    drawn = np.random.default_rng(7).standard_normal((4, 4))
    product = np.tanh(drawn @ drawn.T)
    return " ".join(float(value).hex() for value in (drawn[0, 0], product[1, 2], product.sum()))
