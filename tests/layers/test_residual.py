"""Residual branches: the skip carries the cotangent as it is, LayerScale comes before the branch's reverse."""

import numpy as np
import pytest

from tests.compare import assert_close
from tests.derivatives import complex_step
from vjproof.layers import residual

SCALE = np.array([0.5, -2.0, 3.0])
WEIGHT = np.random.default_rng(0).standard_normal((3, 3))
X, D_Y = np.random.default_rng(1).standard_normal((2, 3))


@pytest.mark.parametrize("scale", [None, SCALE])
def test_pullback_equals_the_complex_step(scale):
    jacobian = complex_step(lambda x: x + residual.scaled(scale, x @ WEIGHT), X)
    assert_close(residual.pullback(lambda d: d @ WEIGHT.T, scale, D_Y), D_Y @ jacobian, 1e-14)
    assert_close(residual.pushforward(lambda t: t @ WEIGHT, scale, D_Y), jacobian @ D_Y, 1e-14)


def test_scaling_after_the_branch_is_caught():
    right = residual.pullback(lambda d: d @ WEIGHT.T, SCALE, D_Y)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(D_Y + SCALE * (D_Y @ WEIGHT.T), right, 1e-10)
