"""The tape: what it records, what it does not, and that sums over paths are right."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.nn import ops
from app.nn.tensor import Tensor, add, multiply, operation, sum_to


def numbers(*shape):
    return np.random.default_rng(list(shape)).standard_normal(shape)


def total(x):
    return ops.inner(x, np.ones(x.shape))


@st.composite
def broadcastable(draw):
    full = draw(st.lists(st.integers(1, 4), min_size=1, max_size=3))

    def thinned():
        kept = [1 if draw(st.booleans()) else n for n in full]
        return tuple(kept[draw(st.integers(0, len(full))) :])

    return thinned(), thinned()


@settings(deadline=None, max_examples=50)
@given(broadcastable())
def test_addition_and_multiplication_send_gradients_back_through_a_broadcast(shapes):
    x, y = Tensor(numbers(*shapes[0], 2)), Tensor(numbers(*shapes[1], 2))
    r = numbers(*np.broadcast_shapes(x.shape, y.shape))
    ops.inner(x + y, r).backward()
    np.testing.assert_allclose(x.grad, sum_to(r, x.shape))
    np.testing.assert_allclose(y.grad, sum_to(r, y.shape))
    x.grad = y.grad = None
    ops.inner(x * y, r).backward()
    np.testing.assert_allclose(x.grad, sum_to(r * y.value, x.shape))
    np.testing.assert_allclose(y.grad, sum_to(r * x.value, y.shape))


@settings(deadline=None, max_examples=50)
@given(broadcastable())
def test_broadcast_gradients_agree_with_a_complex_step(check_gradient, shapes):
    x, y = numbers(*shapes[0], 2), numbers(*shapes[1], 2)
    r = numbers(*np.broadcast_shapes(x.shape, y.shape))
    check_gradient(lambda a, b: ops.inner(multiply(add(a, b), b), r), x, y)


def test_a_tensor_used_twice_gets_the_sum_over_both_paths():
    x = Tensor(numbers(3))
    y = x * x
    total(y + y * x).backward()  # x² + x³
    np.testing.assert_allclose(x.grad, 2 * x.value + 3 * x.value**2)


def test_a_diamond_is_walked_once_per_edge():
    x = Tensor(np.array([2.0]))
    y = x
    for _ in range(60):  # 2⁶⁰ paths
        y = y + y
    total(y).backward()
    assert x.grad[0] == 2.0**60


def test_gradients_of_repeated_calls_add_up():
    x = Tensor(numbers(3))
    total(x * 2.0).backward()
    total(x * 3.0).backward()
    np.testing.assert_allclose(x.grad, [5, 5, 5])


def test_an_array_on_the_left_gives_a_tensor_as_well():
    x = Tensor(numbers(3))
    for y in (numbers(3) + x, numbers(3) * x, 1.0 + x):
        assert isinstance(y, Tensor)
        assert y.shape == (3,)


def test_operations_on_arrays_give_arrays_and_record_nothing():
    x = numbers(2, 3, 4)
    assert type(ops.layer_norm(ops.relu(ops.linear(x, numbers(4, 4))))) is np.ndarray


def test_a_very_deep_record_needs_no_deep_python_stack():
    x = Tensor(np.array([1.0]))
    y = x
    for _ in range(5000):
        y = y + 1.0
    total(y).backward()
    assert x.grad[0] == 1.0


def test_backward_starts_from_one_number_only():
    with pytest.raises(ValueError, match="from one number"):
        Tensor(numbers(2)).backward()


def test_a_backward_may_start_from_a_gradient_that_arrives():
    x, r = np.arange(6.0).reshape(2, 3), np.ones((2, 3)) * 0.5
    begun, whole = Tensor(x), Tensor(x)
    (begun * begun).backward(r)
    ops.inner(whole * whole, r).backward()
    np.testing.assert_array_equal(begun.grad, whole.grad)


def test_a_gradient_that_nobody_reads_is_not_computed():
    asked = []

    @operation
    def product(x, y):
        return x * y, lambda g: tuple(lambda o=o: asked.append(o is y) or g * o for o in (y, x))

    (x,) = (Tensor(np.ones(3)),)
    product(x, np.ones(3)).backward(np.ones(3))
    assert asked == [True]
