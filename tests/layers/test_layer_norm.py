"""Layer norm at constant, zero, single and nearly constant rows, and against high precision."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compare import assert_close
from vjproof.layers import layer_norm

EPS = 1e-6


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def reverse(scale, eps, x, d_y):
    return layer_norm.pullback(scale, layer_norm.normalise(eps, x), d_y)


def textbook(scale, eps, x, d_y):
    """Return (r / n)(n q - sum q - xh sum(xh q)), row by row in Python floats of 50 digits."""
    with mpmath.workdps(50):
        x, q = [mpmath.mpf(v) for v in x], [mpmath.mpf(a) * mpmath.mpf(b) for a, b in zip(scale, d_y, strict=True)]
        n, mu = len(x), sum(x) / len(x)
        r = 1 / mpmath.sqrt(sum((v - mu) ** 2 for v in x) / n + mpmath.mpf(eps))
        hats = [(v - mu) * r for v in x]
        along = sum(h * v for h, v in zip(hats, q, strict=True))
        return np.array([float(r / n * (n * v - sum(q) - h * along)) for h, v in zip(hats, q, strict=True)])


@given(n=st.integers(1, 11), seed=st.integers(0, 999), offset=st.sampled_from([0.0, 3.0, 1e3]))
def test_pullback_equals_the_textbook_formula(n, seed, offset):
    scale, x, d_y = 1 + draw(n, seed=seed) / 3, offset + draw(n, seed=seed + 1), draw(n, seed=seed + 2)
    want = textbook(scale, EPS, x, d_y)
    # An offset costs the digits that it takes in x; one or two elements leave a tiny gradient beside r |q|.
    size = np.max(np.abs(scale * d_y)) * layer_norm.normalise(EPS, x).reciprocal[0]
    assert np.max(np.abs(reverse(scale, EPS, x, d_y) - want)) <= 1e-14 * (1 + offset) * size * max(1.0, size)


@pytest.mark.parametrize("value", [0.0, 1.0, -1234.0])
def test_a_constant_row_is_finite_and_centred(value):
    g, d_y = 1 + draw(8) / 3, draw(8, seed=1)
    x = np.full(8, value)
    y, saved = layer_norm.forward(g, draw(8, seed=2), EPS, x)
    assert np.array_equal(saved.normalised, np.zeros(8))
    assert np.array_equal(y, draw(8, seed=2))
    d_x = layer_norm.pullback(g, saved, d_y)
    assert_close(d_x, (g * d_y - np.mean(g * d_y)) / np.sqrt(EPS), 1e-14)
    assert abs(np.sum(d_x)) <= 1e-13 * np.sum(np.abs(d_x))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_256_values_of_1234_give_the_bias_exactly(dtype):
    bias = draw(256).astype(dtype)
    y, _ = layer_norm.forward(np.ones(256, dtype), bias, EPS, np.full((3, 256), 1234.0, dtype))
    assert np.array_equal(y, np.broadcast_to(bias, (3, 256)))


def test_mean_of_squares_minus_square_of_mean_would_miss_it():
    x = np.full(256, 1234.1, np.float32)
    naive = np.mean(x * x) - np.mean(x) ** 2
    assert abs(naive) > 1e-3
    centred = x - np.mean(x)
    assert np.mean(centred * centred) < 1e-6


@pytest.mark.parametrize("n", [2, 3, 7, 192, 257])
def test_the_sum_of_a_layer_norm_has_an_exactly_zero_gradient(n):
    d_x = reverse(np.ones(n), EPS, draw(3, n), np.ones((3, n)))
    assert np.array_equal(d_x, np.zeros((3, n)))


def test_the_textbook_formula_in_floats_returns_noise_there():
    x, q = draw(7), np.ones(7)
    saved = layer_norm.normalise(EPS, x)
    along = np.sum(saved.normalised * q)
    noise = saved.reciprocal / 7 * (7 * q - np.sum(q) - saved.normalised * along)
    assert not np.array_equal(noise, np.zeros(7))


def test_one_element_has_an_exactly_zero_gradient():
    assert np.array_equal(reverse(np.array([1.7]), EPS, draw(4, 1), draw(4, 1, seed=1)), np.zeros((4, 1)))


@pytest.mark.parametrize("eps", [1e-12, 1e-6, 1e-5])
def test_eps_decides_on_nearly_constant_tokens(eps):
    x, d_y, g = 1 + 1e-9 * draw(6), draw(6, seed=1), 1 + draw(6, seed=2) / 3
    d_x = reverse(g, eps, x, d_y)
    assert_close(d_x, textbook(g, eps, x, d_y), 1e-9)
    assert_close(d_x * np.sqrt(eps), g * d_y - np.mean(g * d_y), 1e-4)
    other = reverse(g, 10 * eps, x, d_y)
    with pytest.raises(AssertionError, match="relative error 2"):
        assert_close(d_x, other, 1e-10)


def test_rank_three_with_shared_parameters_equals_the_loop_over_rows():
    g, b, x, d_y = 1 + draw(5) / 3, draw(5, seed=1), draw(2, 3, 5, seed=2), draw(2, 3, 5, seed=3)
    middle, first = layer_norm.forward(g, b, EPS, x)
    y, second = layer_norm.forward(g, b, EPS, middle)
    d_x = layer_norm.pullback(g, first, layer_norm.pullback(g, second, d_y))
    for index in np.ndindex(2, 3):
        row, row_first = layer_norm.forward(g, b, EPS, x[index])
        row, row_second = layer_norm.forward(g, b, EPS, row)
        assert_close(y[index], row, 1e-15)
        d_row = layer_norm.pullback(g, row_first, layer_norm.pullback(g, row_second, d_y[index]))
        assert_close(d_x[index], d_row, 1e-14)


def test_a_shared_scale_is_the_vector_of_that_scale():
    x, d_y = draw(3, 5), draw(3, 5, seed=1)
    for scale in (1.3, np.array(1.3), np.array([1.3])):
        assert_close(reverse(scale, EPS, x, d_y), reverse(np.full(5, 1.3), EPS, x, d_y), 1e-15)
        y, _ = layer_norm.forward(scale, 0.2, EPS, x)
        assert_close(y, layer_norm.forward(np.full(5, 1.3), np.full(5, 0.2), EPS, x)[0], 1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_offsets_keep_the_variance(dtype):
    x = (1e4 + np.arange(8.0)).astype(dtype)
    assert_close(layer_norm.normalise(EPS, x).normalised, (np.arange(8) - 3.5) / np.sqrt(5.25 + EPS), 1e-6)
