"""Dense layer on the last axis: y = x W + b, weights stored [in, out] (MATH.md, "Leaves")."""

from __future__ import annotations

from vjproof.layers.array import Array, namespace


def forward(weight: Array, bias: Array | None, x: Array) -> Array:
    """Return x W + b: weight (n, m), bias (m,) or None, x (..., n) to (..., m)."""
    y = namespace(weight, x).matmul(x, weight)
    return y if bias is None else y + bias


def pullback(weight: Array, d_y: Array) -> Array:
    """Return d_x = d_y W^T: weight (n, m), d_y (..., m) to (..., n); nothing is saved, the bias drops out."""
    xp = namespace(weight, d_y)
    return xp.matmul(d_y, xp.matrix_transpose(weight))


def pushforward(weight: Array, t_x: Array) -> Array:
    """Return the tangent t_y = t_x W: weight (n, m), t_x (..., n) to (..., m)."""
    return forward(weight, None, t_x)
