"""Patch embedding against the sums of its formula, written as loops, on images that are not square."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.compare import assert_close
from tests.derivatives import complex_step
from vjproof.layers import patch_embed


def draw(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


def plain_forward(weight, bias, prefix, position, image):
    _, channels, patch, _ = weight.shape
    _, height, width = image.shape
    tokens = [prefix[t] + position[t] for t in range(len(prefix))]
    for row, column in itertools.product(range(height // patch), range(width // patch)):
        token = position[len(tokens)] + bias
        for c, i, j in itertools.product(range(channels), range(patch), range(patch)):
            token = token + weight[:, c, i, j] * image[c, patch * row + i, patch * column + j]
        tokens.append(token)
    return np.array(tokens)


def plain_pullback(weight, prefix_rows, grid, d_tokens):
    _, channels, patch, _ = weight.shape
    d_image = np.zeros((channels, grid[0] * patch, grid[1] * patch))
    for row, column in itertools.product(*map(range, grid)):
        token = d_tokens[prefix_rows + row * grid[1] + column]
        for c, i, j in itertools.product(range(channels), range(patch), range(patch)):
            d_image[c, patch * row + i, patch * column + j] = np.dot(weight[:, c, i, j], token)
    return d_image


sizes = st.integers(1, 3)


@given(channels=sizes, rows=sizes, columns=sizes, patch=sizes, d=sizes, prefix_rows=st.integers(0, 2))
def test_forward_and_pullback_equal_the_loops(channels, rows, columns, patch, d, prefix_rows):
    weight, bias = draw(d, channels, patch, patch), draw(d, seed=1)
    n = prefix_rows + rows * columns
    prefix, position = draw(prefix_rows, d, seed=2), draw(n, d, seed=3)
    image = draw(channels, rows * patch, columns * patch, seed=4)
    tokens = patch_embed.forward(weight, bias, prefix, position, image)
    assert_close(tokens, plain_forward(weight, bias, prefix, position, image), 1e-13)
    d_tokens = draw(n, d, seed=5)
    d_image = patch_embed.pullback(weight, prefix_rows, (rows, columns), d_tokens)
    assert_close(d_image, plain_pullback(weight, prefix_rows, (rows, columns), d_tokens), 1e-13)
    jacobian = complex_step(lambda x: patch_embed.forward(weight, bias, prefix, position, x), image)
    assert_close(d_image.ravel(), d_tokens.ravel() @ jacobian, 1e-13)


def test_the_prefix_rows_do_not_reach_the_image():
    weight, d_tokens = draw(5, 2, 3, 3), draw(7, 5, seed=1)
    want = patch_embed.pullback(weight, 1, (2, 3), d_tokens)
    d_tokens[0] = np.nan
    assert np.array_equal(patch_embed.pullback(weight, 1, (2, 3), d_tokens), want)


def test_a_swapped_grid_is_caught():
    weight, d_tokens = draw(5, 2, 3, 3), draw(6, 5, seed=1)
    wrong = patch_embed.pullback(weight, 0, (3, 2), d_tokens)
    with pytest.raises(AssertionError, match="shape"):
        assert_close(wrong, plain_pullback(weight, 0, (2, 3), d_tokens), 1e-10)
    order = np.arange(6).reshape(2, 3).T.ravel()
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(
            patch_embed.pullback(weight, 0, (2, 3), d_tokens[order]), plain_pullback(weight, 0, (2, 3), d_tokens), 1e-10
        )


def test_unpatches_is_the_inverse_of_patches():
    image = draw(2, 3, 6, 9)
    cut = patch_embed.patches(image, 3)
    assert cut.shape == (2, 6, 27)
    assert np.array_equal(patch_embed.unpatches(cut, 3, 2, 3, 3), image)


def test_the_weight_is_read_channel_then_row_then_column():
    weight = np.arange(2 * 3 * 2 * 2.0).reshape(2, 3, 2, 2)
    flat = patch_embed.flat_weight(weight)
    assert flat[1 * 4 + 1 * 2 + 0, 1] == weight[1, 1, 1, 0]
