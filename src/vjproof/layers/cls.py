"""Pooling of the token rows: the leading (CLS) rows, or the mean of the patch rows (MATH.md, `clsScatter`)."""

from __future__ import annotations

from vjproof.layers.array import Array, Size, namespace, zeros


def slice_rows(x: Array, rows: Size) -> Array:
    """Return the first `rows` rows: x (..., n, D) to (..., rows, D)."""
    return x[..., :rows, :]


def rows_after(x: Array, rows: Size) -> Size:
    """Return the number of rows of x (..., n, D) after the first `rows`; sizes that are symbols have no minus."""
    return x[..., rows:, :].shape[-2]


def scatter_rows(d_y: Array, others: Size) -> Array:
    """Return d_y (..., rows, D) above `others` zero rows, (..., rows + others, D); the adjoint of the slice."""
    xp = namespace(d_y)
    return xp.concat([d_y, zeros(d_y, (*d_y.shape[:-2], others, d_y.shape[-1]))], axis=-2)


def mean_rows(x: Array, skip: Size) -> Array:
    """Return the mean of the rows after the first `skip` as one row: x (..., n, D) to (..., 1, D)."""
    return namespace(x).mean(x[..., skip:, :], axis=-2, keepdims=True)


def spread_row(d_y: Array, skip: Size, rows: Size) -> Array:
    """Return d_y (..., 1, D) / rows on each of `rows` rows below `skip` zero rows; the adjoint of the mean."""
    xp = namespace(d_y)
    lead, width = d_y.shape[:-2], d_y.shape[-1]
    shared = xp.broadcast_to(d_y / rows, (*lead, rows, width))
    return xp.concat([zeros(d_y, (*lead, skip, width)), shared], axis=-2)
