"""Pooling: the leading rows and their scatter, the mean of the patch rows and its spread."""

import numpy as np
import pytest

from tests.compare import assert_close
from tests.derivatives import matrix
from vjproof.layers import cls


@pytest.mark.parametrize(("rows", "others"), [(1, 4), (2, 3), (5, 0)])
def test_scatter_is_the_transpose_of_slice(rows, others):
    slicing = matrix(lambda x: cls.slice_rows(x, rows), (rows + others, 3))
    scattering = matrix(lambda d: cls.scatter_rows(d, others), (rows, 3))
    assert np.array_equal(scattering, slicing.T)


@pytest.mark.parametrize(("skip", "rows"), [(0, 5), (1, 7), (2, 1)])
def test_spread_is_the_transpose_of_mean(skip, rows):
    averaging = matrix(lambda x: cls.mean_rows(x, skip), (skip + rows, 3))
    spreading = matrix(lambda d: cls.spread_row(d, skip, rows), (1, 3))
    assert_close(spreading, averaging.T, 1e-15)


def test_rows_after():
    assert cls.rows_after(np.ones((2, 5, 3)), 2) == 3


def test_a_scatter_to_the_last_row_is_caught():
    slicing = matrix(lambda x: cls.slice_rows(x, 1), (4, 3))
    wrong = matrix(lambda d: np.concatenate([np.zeros((3, 3)), d]), (1, 3))
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(wrong, slicing.T, 1e-10)
