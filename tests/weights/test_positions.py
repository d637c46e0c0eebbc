"""Position embeddings resized as torch's interpolate does, method by method."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from vjproof.errors import VjproofError
from vjproof.weights.positions import METHODS, axis_weights, check_method, resize_positions, square_side


def by_torch(position, prefix, source, target, method, dtype):
    grid = torch.from_numpy(position[prefix:]).to(dtype).reshape(1, *source, -1).permute(0, 3, 1, 2)
    out = torch.nn.functional.interpolate(
        grid, size=target, mode="bicubic", align_corners=False, antialias=method == "bicubic-antialias"
    )
    return out[0].permute(1, 2, 0).reshape(target[0] * target[1], -1).numpy()


def draw(rows, dtype=np.float64):
    return np.random.default_rng(7).standard_normal((rows, 5)).astype(dtype)


@pytest.mark.parametrize("method", METHODS)
@given(st.tuples(*[st.integers(1, 19)] * 4), st.integers(0, 2))
def test_any_grid_agrees_with_torch(method, sides, prefix):
    source, target = sides[:2], sides[2:]
    position = draw(prefix + source[0] * source[1])
    got = resize_positions(position, prefix, source, target, method)
    np.testing.assert_array_equal(got[:prefix], position[:prefix])
    if source != target:
        np.testing.assert_allclose(
            got[prefix:], by_torch(position, prefix, source, target, method, torch.float64), atol=1e-13, rtol=0
        )


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("source", "target"), [((14, 14), (24, 24)), ((14, 14), (7, 10)), ((37, 37), (16, 16))])
def test_real_grids_in_float32(method, source, target):
    position = draw(1 + source[0] * source[1], np.float32)
    got = resize_positions(position, 1, source, target, method)
    assert got.dtype == np.float32
    exact = by_torch(position, 1, source, target, method, torch.float64)
    np.testing.assert_allclose(got[1:], exact, atol=1e-6, rtol=0)
    # torch's own float32 coordinates are off by a few ulp
    single = by_torch(position, 1, source, target, method, torch.float32)
    np.testing.assert_allclose(got[1:], single, atol=1e-5, rtol=0)


def test_the_methods_differ_so_the_comparison_can_fail():
    position = draw(14 * 14)
    for method, other in (METHODS, METHODS[::-1]):
        got = resize_positions(position, 0, (14, 14), (9, 9), method)
        assert np.abs(got - by_torch(position, 0, (14, 14), (9, 9), other, torch.float64)).max() > 1e-2


@pytest.mark.parametrize("method", METHODS)
def test_weights_of_a_row_sum_to_one_and_equal_grids_are_untouched(method):
    for source, target in ((1, 4), (5, 3), (14, 24)):
        np.testing.assert_allclose(axis_weights(source, target, method).sum(axis=1), 1.0, atol=1e-14)
    position = draw(12)
    assert resize_positions(position, 0, (3, 4), (3, 4), method) is position


def test_an_unknown_method_is_refused():
    with pytest.raises(VjproofError, match="positions: expected bicubic-antialias or bicubic, got 'bilinear'"):
        check_method("bilinear")


def test_square_sides():
    assert [square_side(n) for n in (0, 1, 2, 196, 197, -1)] == [None, 1, None, 14, None, None]
