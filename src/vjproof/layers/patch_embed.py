"""Patch embedding: a strided convolution written as one matrix product (MATH.md, "Tower, ends, whole net").

tokens[T + p, d] = pos[T + p, d] + b[d] + sum_{c,i,j} Wc[d, c, i, j] image[c, P row + i, P column + j],
p = row * (W / P) + column; the T prefix rows (CLS) are prefix + pos and do not depend on the image.
Reverse: d_image[c, P row + i, P column + j] = sum_d Wc[d, c, i, j] d_tokens[T + p, d]; nothing is saved.
"""

from __future__ import annotations

from vjproof.layers import dense
from vjproof.layers.array import Array, Size, namespace, permute_trailing, reshape_trailing, zeros


def patches(image: Array, patch: Size) -> Array:
    """Cut image (..., C, H, W) into patches (..., N, C * P * P), row-major."""
    channels, height, width = image.shape[-3:]
    rows, columns = height // patch, width // patch
    cut = permute_trailing(reshape_trailing(image, 3, (channels, rows, patch, columns, patch)), (1, 3, 0, 2, 4))
    return reshape_trailing(cut, 5, (rows * columns, channels * patch * patch))


def unpatches(d_patches: Array, channels: Size, rows: Size, columns: Size, patch: Size) -> Array:
    """Put patches (..., N, C * P * P) back in place, (..., C, H, W); the inverse and adjoint of `patches`."""
    cut = permute_trailing(reshape_trailing(d_patches, 2, (rows, columns, channels, patch, patch)), (2, 0, 3, 1, 4))
    return reshape_trailing(cut, 5, (channels, rows * patch, columns * patch))


def flat_weight(weight: Array) -> Array:
    """Return Wc (D, C, P, P) as a dense weight (C * P * P, D)."""
    hidden, channels, height, width = weight.shape
    xp = namespace(weight)
    return xp.matrix_transpose(xp.reshape(weight, (hidden, channels * height * width)))


def forward(weight: Array, bias: Array, prefix: Array, position: Array, image: Array) -> Array:
    """Return tokens (..., T + N, D) for image (..., C, H, W).

    weight (D, C, P, P), bias (D,), prefix (T, D), position (T + N, D).
    """
    xp = namespace(weight, image)
    embedded = dense.forward(flat_weight(weight), bias, patches(image, weight.shape[-1]))
    lead = image.shape[: image.ndim - 3]
    rows = xp.broadcast_to(prefix, (*lead, *prefix.shape))
    return xp.concat([rows, embedded], axis=-2) + position


def pullback(weight: Array, prefix_rows: Size, grid: tuple[Size, Size], d_tokens: Array) -> Array:
    """Return d_image (..., C, H, W) for d_tokens (..., T + N, D); grid is (H / P, W / P), prefix_rows is T."""
    _, channels, patch, _ = weight.shape
    d_patches = dense.pullback(flat_weight(weight), d_tokens[..., prefix_rows:, :])
    return unpatches(d_patches, channels, *grid, patch)


def pushforward(weight: Array, prefix_rows: Size, t_image: Array) -> Array:
    """Return t_tokens (..., T + N, D) for t_image (..., C, H, W); the prefix rows do not move."""
    xp = namespace(weight, t_image)
    t_rows = dense.pushforward(flat_weight(weight), patches(t_image, weight.shape[-1]))
    shape = (*t_image.shape[: t_image.ndim - 3], prefix_rows, weight.shape[0])
    return xp.concat([zeros(t_rows, shape), t_rows], axis=-2)
