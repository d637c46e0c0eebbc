"""Layer norm on the last axis, eps inside the root (MATH.md, "Leaves").

mu = mean x, v = mean (x - mu)^2, r = 1 / sqrt(v + eps), xh = (x - mu) r, y = g xh + b.
Reverse: q = g d_y, centred: c = q - mean q;  d_x = r (c - xh mean(xh c)).
That is the textbook (r / n)(n q - sum q - xh sum(xh q)), since sum xh = 0; the centred form returns an exact 0
for q = 1, the gradient of sum(LN(x)), where the textbook form leaves rounding noise. The scale g is a vector, or
one shared number.
"""

from __future__ import annotations

from typing import NamedTuple

from vjproof.layers.array import Array, namespace


class Saved(NamedTuple):
    """The normalised input and the reciprocal deviation."""

    normalised: Array  # (..., n), xh
    reciprocal: Array  # (..., 1), r


def normalise(eps: float, x: Array) -> Saved:
    """Return xh (..., n) and r (..., 1) for x (..., n); eps > 0 keeps a constant row finite."""
    xp = namespace(x)
    centred = x - xp.mean(x, axis=-1, keepdims=True)
    reciprocal = 1.0 / xp.sqrt(xp.mean(centred * centred, axis=-1, keepdims=True) + eps)
    return Saved(centred * reciprocal, reciprocal)


def forward(scale: Array, bias: Array, eps: float, x: Array) -> tuple[Array, Saved]:
    """Return LN(x) and what the reverse needs: scale, bias (n,) or scalars, x (..., n) to (..., n)."""
    saved = normalise(eps, x)
    return scale * saved.normalised + bias, saved


def pullback(scale: Array, saved: Saved, d_y: Array) -> Array:
    """Return d_x: scale (n,) or a scalar, d_y (..., n) to (..., n); the scale is applied first."""
    return _project(saved, scale * d_y)


def pushforward(scale: Array, saved: Saved, t_x: Array) -> Array:
    """Return t_y: the transpose of the pullback, so the same symmetric projection, then the scale."""
    return scale * _project(saved, t_x)


def _project(saved: Saved, q: Array) -> Array:
    """Apply r (I - 1 1^T / n - xh xh^T / n), a symmetric matrix, to q (..., n)."""
    xp = namespace(q)
    centred = q - xp.mean(q, axis=-1, keepdims=True)
    along = xp.mean(saved.normalised * centred, axis=-1, keepdims=True)
    return saved.reciprocal * (centred - saved.normalised * along)
