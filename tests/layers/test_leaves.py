"""What holds for every layer alike: derivative, transpose, libraries, memory layouts, leading axes, dtypes."""

import jax
import numpy as np
import pytest

from tests.backends import LIBRARIES, run
from tests.compare import assert_close
from tests.derivatives import complex_step, matrix
from tests.layers.leaves import LEAVES, leaves

every_leaf = pytest.mark.parametrize("leaf", LEAVES, ids=lambda leaf: leaf.name)


def cotangent_of(leaf, seed=5):
    return np.random.default_rng(seed).standard_normal(leaf.value(leaf.params, *leaf.inputs).shape)


def everything(leaf, params, inputs, d_y, tangents):
    return leaf.value(params, *inputs), leaf.back(params, inputs, d_y), leaf.push(params, inputs, tangents)


def arguments(leaf):
    tangents = tuple(np.random.default_rng(6).standard_normal(x.shape) for x in leaf.inputs)
    return leaf.params, leaf.inputs, cotangent_of(leaf), tangents


@pytest.mark.parametrize("leaf", [leaf for leaf in LEAVES if leaf.analytic], ids=lambda leaf: leaf.name)
def test_pullback_and_pushforward_equal_the_complex_step(leaf):
    d_y = cotangent_of(leaf)
    for index, x in enumerate(leaf.inputs):

        def at(moved, index=index):
            return leaf.value(leaf.params, *leaf.inputs[:index], moved, *leaf.inputs[index + 1 :])

        def push(tangent, index=index):
            still = [np.zeros_like(other) for other in leaf.inputs]
            return leaf.push(leaf.params, leaf.inputs, (*still[:index], tangent, *still[index + 1 :]))

        jacobian = complex_step(at, x)
        back = matrix(lambda d, index=index: leaf.back(leaf.params, leaf.inputs, d)[index], d_y.shape)
        assert_close(back.T, jacobian, 1e-13)
        assert_close(matrix(push, x.shape), jacobian, 1e-13)


def test_complex_step_is_red_for_a_wrong_pullback():
    leaf = next(leaf for leaf in LEAVES if leaf.name == "softmax")
    jacobian = complex_step(lambda x: leaf.value((), x), leaf.inputs[0])
    p = leaf.value((), *leaf.inputs)
    wrong = matrix(lambda d: p * d, p.shape)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(wrong.T, jacobian, 1e-13)


@every_leaf
def test_pushforward_is_the_transpose(leaf):
    params, inputs, d_y, tangents = arguments(leaf)
    pushed = leaf.push(params, inputs, tangents) * d_y
    pulled = [d_x * t for d_x, t in zip(leaf.back(params, inputs, d_y), tangents, strict=True)]
    sums = np.sum(pushed), sum(np.sum(part) for part in pulled)
    assert abs(sums[0] - sums[1]) <= 1e-14 * (np.sum(np.abs(pushed)) + sum(np.sum(np.abs(part)) for part in pulled))


@every_leaf
@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_computes_the_same(leaf, library):
    args = arguments(leaf)
    got = run(library, lambda *args: everything(leaf, *args), *args)
    for got_array, want_array in zip(jax.tree.leaves(got), jax.tree.leaves(everything(leaf, *args)), strict=True):
        assert got_array.dtype == np.float64
        assert_close(got_array, want_array, 1e-12)


def transposed(x):
    return np.ascontiguousarray(x.T).T


def reversed_twice(x):
    """Return x as a view whose strides are all negative."""
    backwards = tuple(slice(None, None, -1) for _ in x.shape)
    return np.ascontiguousarray(x[backwards])[backwards]


def every_second(x):
    wide = np.full(tuple(2 * n for n in x.shape), np.nan)
    view = wide[tuple(slice(None, None, 2) for _ in x.shape)]
    view[...] = x
    return view


@every_leaf
@pytest.mark.parametrize("view", [transposed, np.asfortranarray, reversed_twice, every_second])
def test_views_of_any_layout_give_what_the_contiguous_copy_gives(leaf, view):
    args = arguments(leaf)
    got = everything(leaf, *jax.tree.map(view, args))
    for got_array, want_array in zip(jax.tree.leaves(got), jax.tree.leaves(everything(leaf, *args)), strict=True):
        assert_close(got_array, want_array, 1e-14)


@every_leaf
def test_leading_axes_are_independent_examples(leaf):
    params, inputs, d_y, tangents = arguments(leaf)
    together = everything(leaf, params, inputs, d_y, tangents)
    for b in range(2):
        alone = everything(leaf, params, *jax.tree.map(lambda a, b=b: a[b], (inputs, d_y, tangents)))
        for got, want in zip(jax.tree.leaves(together), jax.tree.leaves(alone), strict=True):
            assert_close(got[b], want, 1e-14)


@every_leaf
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_the_dtype_is_kept(leaf, dtype):
    args = arguments(leaf)
    got = everything(leaf, *jax.tree.map(lambda a: a.astype(dtype), args))
    for got_array, want_array in zip(jax.tree.leaves(got), jax.tree.leaves(everything(leaf, *args)), strict=True):
        assert got_array.dtype == dtype
        assert_close(got_array.astype(float), want_array, {"float16": 2e-2, "float32": 2e-6}[dtype])


@every_leaf
def test_a_zero_cotangent_gives_exact_zeros(leaf):
    params, inputs, d_y, _ = arguments(leaf)
    for d_x in leaf.back(params, inputs, np.zeros_like(d_y)):
        assert np.array_equal(d_x, np.zeros_like(d_x))


def test_leaves_are_drawn_anew_for_another_seed():
    first, second = next(leaves(0)), next(leaves(1))
    assert not np.array_equal(first.inputs[0], second.inputs[0])
