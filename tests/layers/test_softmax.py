"""Row softmax: large logits, saturated rows, shifts."""

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backends import LIBRARIES, run
from tests.compare import assert_close
from vjproof.layers import softmax


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("size", [100.0, 1e4, 1e30])
def test_large_logits_in_float32_are_finite(library, size):
    z = np.array([[size, 0.0, -size], [size, size, -size], [-size, -size, -size]], np.float32)
    d_p = draw(3, 3).astype(np.float32)
    p, d_z = run(library, lambda z, d: (softmax.forward(z)[0], softmax.pullback(softmax.forward(z)[1], d)), z, d_p)
    assert p.dtype == d_z.dtype == np.float32
    assert_close(p, [[1, 0, 0], [0.5, 0.5, 0], [1 / 3, 1 / 3, 1 / 3]], 1e-6)
    assert np.all(np.isfinite(d_z))
    assert np.max(np.abs(d_z[0])) <= 1e-40


def test_without_the_shift_they_are_not():
    with np.errstate(over="ignore", invalid="ignore"):
        e = np.exp(np.array([100.0, 0.0], np.float32))
        p = e / np.sum(e)
    with pytest.raises(AssertionError, match="not finite"):
        assert_close(p, [1, 0], 1e-6)


@pytest.mark.parametrize("library", ["jax", "jax-jit"])
def test_a_saturated_row_is_reversed_from_its_output(library):
    # Weights 0.1 and a large x, as in a network whose attention has collapsed on one token.
    x = np.full((3, 4), 50.0) + draw(3, 4)
    z = 0.1 * x @ x.T

    def both(z, d):
        p, saved = softmax.forward(z)
        return p, softmax.pullback(saved, d)

    d_p = draw(3, 3, seed=1)
    for got, want in zip(run(library, both, z, d_p), both(z, d_p), strict=True):
        assert_close(got, want, 1e-12)


@given(n=st.integers(1, 9), shift=st.floats(-700, 700), seed=st.integers(0, 99))
def test_a_row_constant_changes_nothing(n, shift, seed):
    z, d_p = draw(2, n, seed=seed), draw(2, n, seed=seed + 1)
    (p, saved), (q, shifted) = softmax.forward(z), softmax.forward(z + shift)
    assert_close(q, p, 1e-12)
    assert_close(np.sum(p, axis=-1), np.ones(2), 1e-15)
    # A constant cotangent lies in the kernel, and every image of the pullback sums to 0.
    assert np.max(np.abs(softmax.pullback(saved, np.full((2, n), 3.0)))) <= 1e-14
    assert np.max(np.abs(np.sum(softmax.pullback(shifted, d_p), axis=-1))) <= 1e-14


def test_pullback_equals_the_dense_jacobian():
    z, d_p = draw(3, 5), draw(3, 5, seed=1)
    p, saved = softmax.forward(z)
    want = np.stack([(np.diag(row) - np.outer(row, row)) @ d for row, d in zip(p, d_p, strict=True)])
    assert_close(softmax.pullback(saved, d_p), want, 1e-14)


def test_compiled_equals_eager_in_float32():
    z, d_p = (8 * draw(4, 7)).astype(np.float32), draw(4, 7, seed=1).astype(np.float32)

    def back(z, d):
        return softmax.pullback(softmax.forward(z)[1], d)

    assert_close(jax.jit(back)(z, d_p), back(z, d_p), 1e-6)
