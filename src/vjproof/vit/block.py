"""One pre-norm encoder block: A = X + MHSA(LN1 X), Y = A + MLP(LN2 A), with its saved activations and reverse.

The projections run as one product. A block may return its first m rows only: then queries, MLP and residuals
are computed for those rows alone (keys and values still need all n), and the reverse starts from m rows.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

from vjproof.layers import attention, cls, dense, gelu, layer_norm, residual
from vjproof.layers.array import Array, namespace
from vjproof.vit.config import Config
from vjproof.vit.params import BlockParams


class SavedBlock(NamedTuple):
    """One block's activations; m rows out of n leave the block (m = n but in a shortened last block)."""

    norm1: layer_norm.Saved  # (..., n, D), (..., n, 1)
    attention: attention.Saved  # per head: (..., h, m, dh), (..., h, n, dh) twice, (..., h, m, n)
    norm2: layer_norm.Saved  # (..., m, D), (..., m, 1)
    gelu: gelu.Saved  # (..., m, M)


def fused_qkv(p: BlockParams) -> tuple[Array, Array]:
    """Return the three projections as one dense layer: weight (D, 3 D) and bias (3 D,)."""
    xp = namespace(p.w_q)
    return xp.concat([p.w_q, p.w_k, p.w_v], axis=-1), xp.concat([p.b_q, p.b_k, p.b_v], axis=-1)


def forward(config: Config, p: BlockParams, x: Array, rows: int | None = None) -> tuple[Array, SavedBlock]:
    """Return the block's first `rows` output rows (all by default) and its saved activations: x (..., n, D)."""
    d, heads = config.hidden, config.heads
    normed, norm1 = layer_norm.forward(p.norm1_scale, p.norm1_bias, config.eps, x)
    weight, bias = fused_qkv(p)
    if rows is None:
        qkv = dense.forward(weight, bias, normed)
        query, key_value = qkv[..., :d], qkv[..., d:]
    else:
        query = dense.forward(p.w_q, p.b_q, cls.slice_rows(normed, rows))
        key_value = dense.forward(weight[..., d:], bias[..., d:], normed)
        x = cls.slice_rows(x, rows)
    parts = (query, key_value[..., :d], key_value[..., d:])
    context, attended = attention.forward(*(attention.split_heads(part, heads) for part in parts))
    branch = dense.forward(p.w_o, p.b_o, attention.merge_heads(context))
    x = x + residual.scaled(p.scale1, branch)
    normed, norm2 = layer_norm.forward(p.norm2_scale, p.norm2_bias, config.eps, x)
    hidden, slope = gelu.forward(config.gelu, dense.forward(p.w_1, p.b_1, normed))
    x = x + residual.scaled(p.scale2, dense.forward(p.w_2, p.b_2, hidden))
    return x, SavedBlock(norm1, attended, norm2, slope)


def mlp_pullback(p: BlockParams, saved: SavedBlock, d_y: Array) -> Array:
    """Return the reverse of dense, GELU, dense, LN2 for d_y (..., m, D), before LayerScale and residual."""
    d_hidden = gelu.pullback(saved.gelu, dense.pullback(p.w_2, d_y))
    return layer_norm.pullback(p.norm2_scale, saved.norm2, dense.pullback(p.w_1, d_hidden))


def attention_pullback(p: BlockParams, saved: SavedBlock, d_y: Array) -> Array:
    """Return the reverse of self-attention and LN1, (..., n, D), for d_y (..., m, D), before the residual."""
    xp = namespace(d_y)
    heads = saved.attention.query.shape[-3]
    d_context = attention.split_heads(dense.pullback(p.w_o, d_y), heads)
    d_query, d_key, d_value = (attention.merge_heads(part) for part in attention.pullback(saved.attention, d_context))
    weight, _ = fused_qkv(p)
    m, d = d_y.shape[-2:]
    if m == d_key.shape[-2]:
        d_normed = dense.pullback(weight, xp.concat([d_query, d_key, d_value], axis=-1))
    else:
        d_normed = dense.pullback(weight[..., d:], xp.concat([d_key, d_value], axis=-1))
        d_normed = d_normed + cls.scatter_rows(dense.pullback(p.w_q, d_query), cls.rows_after(d_key, m))
    return layer_norm.pullback(p.norm1_scale, saved.norm1, d_normed)


def pullback(p: BlockParams, saved: SavedBlock, d_y: Array) -> Array:
    """Return d_x (..., n, D) for d_y (..., m, D): the MLP sublayer's reverse, then the attention sublayer's."""
    d_y = residual.pullback(partial(mlp_pullback, p, saved), p.scale2, d_y)
    m, rows = d_y.shape[-2], saved.norm1.normalised
    d_branch = attention_pullback(p, saved, residual.scaled(p.scale1, d_y))
    return (d_y if m == rows.shape[-2] else cls.scatter_rows(d_y, cls.rows_after(rows, m))) + d_branch


def pushforward(p: BlockParams, saved: SavedBlock, t_x: Array) -> Array:
    """Return t_y (..., m, D) for t_x (..., n, D), the transpose of `pullback`."""
    heads, m, _ = saved.attention.query.shape[-3:]

    def attend(t: Array) -> Array:
        t = layer_norm.pushforward(p.norm1_scale, saved.norm1, t)
        parts = (
            dense.pushforward(p.w_q, cls.slice_rows(t, m)),
            dense.pushforward(p.w_k, t),
            dense.pushforward(p.w_v, t),
        )
        t_context = attention.pushforward(saved.attention, *(attention.split_heads(part, heads) for part in parts))
        return dense.pushforward(p.w_o, attention.merge_heads(t_context))

    def mlp(t: Array) -> Array:
        t = dense.pushforward(p.w_1, layer_norm.pushforward(p.norm2_scale, saved.norm2, t))
        return dense.pushforward(p.w_2, gelu.pushforward(saved.gelu, t))

    t_x = cls.slice_rows(t_x, m) + residual.scaled(p.scale1, attend(t_x))
    return residual.pushforward(mlp, p.scale2, t_x)
