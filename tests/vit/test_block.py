"""One block: its reverse by complex step, and the short form that returns leading rows only."""

import numpy as np
import pytest

from tests.compare import assert_close
from tests.derivatives import complex_step, matrix
from tests.nets import SHAPES, draw, make_config
from vjproof.vit import block

CONFIG = make_config(SHAPES[0], layer_scale=True)
P = draw(CONFIG, 1)[0].blocks[0]
SHAPE = (CONFIG.tokens, CONFIG.hidden)
X = np.random.default_rng(0).standard_normal(SHAPE)


@pytest.mark.parametrize("rows", [None, 1, 2, CONFIG.tokens])
def test_pullback_and_pushforward_equal_the_complex_step(rows):
    y, saved = block.forward(CONFIG, P, X, rows)
    jacobian = complex_step(lambda x: block.forward(CONFIG, P, x, rows)[0], X)
    assert_close(matrix(lambda d: block.pullback(P, saved, d), y.shape).T, jacobian, 1e-13)
    assert_close(matrix(lambda t: block.pushforward(P, saved, t), X.shape), jacobian, 1e-13)


@pytest.mark.parametrize("rows", [1, 3])
def test_the_short_form_is_the_full_form_with_zero_rows(rows):
    full, saved = block.forward(CONFIG, P, X)
    short, saved_short = block.forward(CONFIG, P, X, rows)
    assert_close(short, full[:rows], 1e-14)
    d_y = np.zeros_like(full)
    d_y[:rows] = np.random.default_rng(1).standard_normal((rows, CONFIG.hidden))
    assert_close(block.pullback(P, saved_short, d_y[:rows]), block.pullback(P, saved, d_y), 1e-14)


def test_a_short_reverse_that_forgets_the_other_rows_is_caught():
    full, saved = block.forward(CONFIG, P, X)
    d_y = np.zeros_like(full)
    d_y[0] = 1.0
    right = block.pullback(P, saved, d_y)
    wrong = np.where(d_y != 0, right, 0)  # the keys and values of the other rows do reach row 0
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(wrong, right, 1e-10)


def test_fused_projections_stand_side_by_side():
    weight, bias = block.fused_qkv(P)
    d = CONFIG.hidden
    for index, (w, b) in enumerate(((P.w_q, P.b_q), (P.w_k, P.b_k), (P.w_v, P.b_v))):
        assert np.array_equal(weight[:, index * d : (index + 1) * d], w)
        assert np.array_equal(bias[index * d : (index + 1) * d], b)
