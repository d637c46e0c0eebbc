"""Lifts of flat vectors against plain Python loops over rows and examples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compare import assert_close
from vjproof.layers import lift

sizes = st.integers(1, 5)


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def loop(n, maps, x):
    """Return maps[r] of row r of the flat x, the rows' results joined."""
    return np.concatenate([maps[r](row) for r, row in enumerate(np.split(x, n))])


@given(n=sizes, d=sizes, m=sizes)
def test_per_row_flat_equals_the_loop(n, d, m):
    weight, x = draw(d, m), draw(n * d, seed=1)

    def f(v):
        return (v * v) @ weight

    assert_close(lift.per_row_flat(n, f)(x), loop(n, [f] * n, x), 1e-14)
    assert_close(lift.batch_map(n, f)(x), loop(n, [f] * n, x), 1e-14)


@given(n=sizes, d=sizes)
def test_per_row_flat_pr_gives_each_row_its_own_map(n, d):
    aux, x = draw(n, d), draw(n * d, seed=1)

    def family(s):
        return lambda v: s * v + s

    want = loop(n, [family(aux[r]) for r in range(n)], x)
    assert_close(lift.per_row_flat_pr(n, family, aux)(x), want, 1e-15)
    assert_close(lift.batch_map_aux(n, family, aux.ravel())(x), want, 1e-15)


def test_one_map_for_all_rows_is_caught():
    aux, x = draw(3, 2), draw(6, seed=1)
    want = loop(3, [lambda v, s=s: s * v for s in aux], x)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(lift.per_row_flat(3, lambda v: aux[0] * v)(x), want, 1e-10)


@given(batch=sizes, n=sizes, d=sizes)
def test_lifts_nest(batch, n, d):
    x = draw(batch * n * d)

    def f(v):
        return v - np.mean(v, axis=-1, keepdims=True)

    inner = lift.per_row_flat(n, f)
    want = np.concatenate([loop(n, [f] * n, example) for example in np.split(x, batch)])
    got = lift.batch_map(batch, inner)(x)
    assert np.max(np.abs(got - want)) <= 1e-15 * np.max(np.abs(x))


@given(batch=sizes, d=sizes)
def test_batch_map_of_a_composite_is_the_composite_of_batch_maps(batch, d):
    weights, x = draw(2, d, d), draw(batch * d, seed=9)

    def f(v):
        return np.tanh(v @ weights[0])

    def g(v):
        return np.tanh(v @ weights[1])

    once = lift.batch_map(batch, lift.compose(g, f))(x)
    twice = lift.compose(lift.batch_map(batch, g), lift.batch_map(batch, f))(x)
    assert np.array_equal(once, twice)


def test_compose_runs_the_last_map_first():
    assert lift.compose(lambda x: x + 1, lambda x: 10 * x)(3) == 31
    assert lift.compose()(3) == 3


def test_residual_back_adds_the_cotangent():
    d_y = draw(4)
    assert_close(lift.residual_back(lambda d: 2 * d)(d_y), 3 * d_y, 1e-15)


def test_flat_is_row_major():
    x = np.arange(6.0)
    rows = lift.rows_of(2, x)
    assert rows[1, 0] == x[3]
    assert np.array_equal(lift.flat(rows), x)
    assert np.array_equal(lift.flat(rows.T), x.reshape(2, 3).T.ravel())
