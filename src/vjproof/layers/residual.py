"""Residual branches with an optional LayerScale (MATH.md, "Block"): y = x + s * f(x), d_x = d_y + f_back(s * d_y)."""

from __future__ import annotations

from collections.abc import Callable

from vjproof.layers.array import Array


def scaled(scale: Array | None, branch: Array) -> Array:
    """Return scale * branch, or the branch where the net has no LayerScale: scale (D,), branch (..., D)."""
    return branch if scale is None else scale * branch


def pullback(branch: Callable[[Array], Array], scale: Array | None, d_y: Array) -> Array:
    """Return d_y + branch(scale * d_y), for the reverse `branch` of f: d_y (..., D) to (..., D)."""
    return d_y + branch(scaled(scale, d_y))


def pushforward(branch: Callable[[Array], Array], scale: Array | None, t_x: Array) -> Array:
    """Return t_x + scale * branch(t_x), for the tangent map `branch` of f: t_x (..., D) to (..., D)."""
    return t_x + scaled(scale, branch(t_x))
