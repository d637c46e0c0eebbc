"""Dense layer against its sums, and the seed's reading of the pullback."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compare import assert_close
from vjproof.layers import dense


@given(n=st.integers(1, 5), m=st.integers(1, 5), rows=st.integers(1, 3), seed=st.integers(0, 99))
def test_forward_and_pullback_equal_the_sums(n, m, rows, seed):
    generator = np.random.default_rng(seed)
    weight, bias = generator.standard_normal((n, m)), generator.standard_normal(m)
    x, d_y = generator.standard_normal((rows, n)), generator.standard_normal((rows, m))
    y = [[sum(x[r, i] * weight[i, j] for i in range(n)) + bias[j] for j in range(m)] for r in range(rows)]
    d_x = [[sum(d_y[r, j] * weight[i, j] for j in range(m)) for i in range(n)] for r in range(rows)]
    assert np.max(np.abs(dense.forward(weight, bias, x) - y)) <= 1e-14
    assert np.max(np.abs(dense.pullback(weight, d_y) - d_x)) <= 1e-14
    assert np.array_equal(dense.pullback(weight, d_y), dense.forward(weight.T, None, d_y))


def test_a_square_weight_that_is_not_transposed_is_caught():
    weight, d_y = np.random.default_rng(0).standard_normal((2, 4, 4))
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(dense.forward(weight, None, d_y), dense.pullback(weight, d_y), 1e-10)
