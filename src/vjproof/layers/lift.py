"""Lifting maps of flat vectors to rows and batches; how the seed writes its chain.

A matrix (n, m) is the flat vector with entry i * m + j. Layers treat leading axes as independent examples, so a
lift is a reshape: no loop, and n may be a symbol. `LinearMap` is the same for maps that carry their shapes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from vjproof.layers import residual
from vjproof.layers.array import Array, Size, reshape_trailing

Map: TypeAlias = Callable[[Array], Array]


def compose(*maps: Map) -> Map:
    """Return the composite, rightmost first: compose(g, f)(x) = g(f(x))."""

    def composite(x: Array) -> Array:
        for step in reversed(maps):
            x = step(x)
        return x

    return composite


def residual_back(back: Map) -> Map:
    """Return dy -> back(dy) + dy: flat (n,) to (n,)."""
    return lambda d_y: residual.pullback(back, None, d_y)


def rows_of(n: Size, x: Array) -> Array:
    """Read a flat (n * d) vector as a matrix (n, d)."""
    return reshape_trailing(x, 1, (n, x.shape[-1] // n))


def flat(x: Array) -> Array:
    """Read a matrix (n, d) as the flat (n * d) vector."""
    return reshape_trailing(x, 2, (x.shape[-2] * x.shape[-1],))


def per_row_flat(n: Size, f: Map) -> Map:
    """Return f on each of the n rows of a flat (n * d) vector; f maps (d,) to (m,)."""
    return lambda x: flat(f(rows_of(n, x)))


def per_row_flat_pr(n: Size, family: Callable[[Array], Map], aux: Array) -> Map:
    """Return row r's own map family(aux_r) on row r of a flat (n * d) vector; aux (n, ...)."""
    return per_row_flat(n, family(aux))


def batch_map(batch: Size, f: Map) -> Map:
    """Return f on each of `batch` examples of a flat (batch * d) vector; f maps (d,) to (m,)."""
    return per_row_flat(batch, f)


def batch_map_aux(batch: Size, family: Callable[[Array], Map], aux: Array) -> Map:
    """Return family(aux_b) on example b of a flat (batch * d) vector; aux flat (batch * a)."""
    return batch_map(batch, family(rows_of(batch, aux)))
