"""Scaled dot-product attention and multi-head self-attention (MATH.md, "Attention").

sdpa(Q, K, V) = P V with P = softmax_rows(Q K^T / sqrt dh).
Reverse: d_P = d_O V^T, d_S = softmax pullback of d_P, times 1 / sqrt dh;  d_Q = d_S K,  d_K = d_S^T Q,  d_V = P^T d_O.
Heads lie side by side in the columns: head a, column c is column a * dh + c of the merged matrix.
"""

from __future__ import annotations

from typing import NamedTuple

from vjproof.layers import softmax
from vjproof.layers.array import Array, Size, namespace, permute_trailing, reshape_trailing


class Saved(NamedTuple):
    """Projections and attention weights; m queries, n keys, one entry of the leading axes per head."""

    query: Array  # (..., m, dh)
    key: Array  # (..., n, dh)
    value: Array  # (..., n, dh)
    weights: Array  # (..., m, n), P


def forward(query: Array, key: Array, value: Array) -> tuple[Array, Saved]:
    """Return sdpa(Q, K, V): query (..., m, dh), key and value (..., n, dh) to (..., m, dh)."""
    xp = namespace(query, key, value)
    # Scaled before the product, which then overflows later in half precision.
    scores = xp.matmul(query * query.shape[-1] ** -0.5, xp.matrix_transpose(key))
    weights, _ = softmax.forward(scores)
    return xp.matmul(weights, value), Saved(query, key, value, weights)


def pullback(saved: Saved, d_o: Array) -> tuple[Array, Array, Array]:
    """Return (d_Q, d_K, d_V) for d_o (..., m, dh), each shaped as its projection."""
    xp = namespace(d_o)
    d_scores = pullback_scores(saved, d_o)
    d_query = xp.matmul(d_scores, saved.key)
    d_key = xp.matmul(xp.matrix_transpose(d_scores), saved.query)
    return d_query, d_key, pullback_value(saved, d_o)


def pullback_scores(saved: Saved, d_o: Array) -> Array:
    """Return d_S (..., m, n), the cotangent of Q K^T, for d_o (..., m, dh)."""
    xp = namespace(d_o)
    d_weights = xp.matmul(d_o, xp.matrix_transpose(saved.value))
    scale = saved.query.shape[-1] ** -0.5
    return softmax.pullback(softmax.Saved(saved.weights), d_weights) * scale


def pullback_value(saved: Saved, d_o: Array) -> Array:
    """Return d_V = P^T d_O (..., n, dh) for d_o (..., m, dh)."""
    xp = namespace(d_o)
    return xp.matmul(xp.matrix_transpose(saved.weights), d_o)


def pushforward(saved: Saved, t_query: Array, t_key: Array, t_value: Array) -> Array:
    """Return t_o (..., m, dh) for tangents of the three projections, each shaped as its projection."""
    xp = namespace(t_query)
    t_scores = xp.matmul(t_query, xp.matrix_transpose(saved.key))
    t_scores = t_scores + xp.matmul(saved.query, xp.matrix_transpose(t_key))
    t_weights = softmax.pushforward(softmax.Saved(saved.weights), t_scores * saved.query.shape[-1] ** -0.5)
    return xp.matmul(t_weights, saved.value) + xp.matmul(saved.weights, t_value)


def split_heads(x: Array, heads: Size) -> Array:
    """Return the heads of x (..., n, h * dh) as (..., h, n, dh)."""
    rows, columns = x.shape[-2:]
    return permute_trailing(reshape_trailing(x, 2, (rows, heads, columns // heads)), (1, 0, 2))


def merge_heads(x: Array) -> Array:
    """Return x (..., h, n, dh) with its heads side by side in the columns, (..., n, h * dh)."""
    heads, rows, width = x.shape[-3:]
    return reshape_trailing(permute_trailing(x, (1, 0, 2)), 3, (rows, heads * width))
