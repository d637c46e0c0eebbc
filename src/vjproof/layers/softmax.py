"""Row softmax on the last axis, shifted by the row maximum (MATH.md, "Leaves").

p = exp(z - m) / sum exp(z - m) for any row constant m; the maximum keeps exp from overflowing.
The reverse is taken from the output: d_z = p (d_p - <p, d_p>), also where the row is saturated.
"""

from __future__ import annotations

from typing import NamedTuple

from vjproof.layers.array import Array, namespace


class Saved(NamedTuple):
    """The output, all that the reverse needs."""

    weights: Array  # (..., n), p


def forward(z: Array) -> tuple[Array, Saved]:
    """Return softmax(z) along the last axis: z (..., n) to (..., n)."""
    xp = namespace(z)
    e = xp.exp(z - xp.max(z, axis=-1, keepdims=True))
    p = e / xp.sum(e, axis=-1, keepdims=True)
    return p, Saved(p)


def pullback(saved: Saved, d_p: Array) -> Array:
    """Return d_z = p (d_p - <p, d_p>): all (..., n)."""
    p = saved.weights
    return p * (d_p - namespace(p).sum(p * d_p, axis=-1, keepdims=True))


def pushforward(saved: Saved, t_z: Array) -> Array:
    """Return t_p; the Jacobian diag p - p p^T is symmetric, so this is the pullback."""
    return pullback(saved, t_z)
