"""The seed's chain, literally: each of its names in snake case, on flat vectors, slots recomputing the forward.

A matrix (n, m) is the flat vector with entry i * m + j; leading axes of any array are independent examples, which
is how `per_row_flat` and `batch_map` lift a map without a loop. `docs/seed-map.md` lists the names and shapes.
The net is the seed's: one prefix token, which the head reads. This file is the document; `vit/model.py` is what
runs, and knows more nets. Formulas: MATH.md; leaves: `vjproof.layers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from vjproof.layers import attention, cls, dense, gelu, layer_norm, patch_embed, residual
from vjproof.layers.array import Array, Size, reshape_trailing
from vjproof.layers.lift import Map, compose, flat, residual_back, rows_of
from vjproof.layers.lift import batch_map as batch_map
from vjproof.layers.lift import batch_map_aux as batch_map_aux
from vjproof.layers.lift import per_row_flat as per_row_flat
from vjproof.layers.lift import per_row_flat_pr as per_row_flat_pr
from vjproof.vit.config import Config
from vjproof.vit.params import BlockParams, Params

# Leaves


def diag_back(s: Array) -> Map:
    """Return dy -> s * dy: s and dy (m,)."""
    return lambda d_y: gelu.pullback(gelu.Saved(s), d_y)


def dense_back(weight: Array) -> Map:
    """Return dy -> dy W^T, the seed's `dense W^T 0`: (m,) to (n,) for weight (n, m)."""
    return lambda d_y: dense.pullback(weight, d_y)


def layer_norm_map(scale: Array, bias: Array, eps: float) -> Map:
    """Return x -> LN(x) on one row (d,)."""
    return lambda x: layer_norm.forward(scale, bias, eps, x)[0]


def layer_norm_back(scale: Array, eps: float, x: Array) -> Map:
    """Return the reverse of layer norm at the saved row x (d,)."""
    return lambda d_y: layer_norm.pullback(scale, layer_norm.normalise(eps, x), d_y)


def row_ln_vec_flat_back(n: Size, eps: float, scale: Array, x: Array) -> Map:
    """Return the layer-norm reverse on each of n rows, at the saved rows of x: flat (n * d), scale (d,)."""
    return per_row_flat_pr(n, lambda saved: layer_norm_back(scale, eps, saved), rows_of(n, x))


# Attention: Q, K, V, dO are matrices (n, h * dh); a head's columns are a slab


def mh_slab(head: int, heads: int, x: Array) -> Array:
    """Return the columns [head * dh, (head + 1) * dh) of x (n, h * dh), head's view (n, dh)."""
    width = x.shape[-1] // heads
    return x[..., head * width : (head + 1) * width]


def mhsa_sdpa_back_q(heads: Size, query: Array, key: Array, value: Array, d_o: Array) -> Array:
    """Return d_Q (n, h * dh): the single-head reverse on each head's slabs, side by side again."""
    return attention.merge_heads(_sdpa_back(heads, query, key, value, d_o)[0])


def mhsa_sdpa_back_k(heads: Size, query: Array, key: Array, value: Array, d_o: Array) -> Array:
    """Return d_K (n, h * dh), as `mhsa_sdpa_back_q`."""
    return attention.merge_heads(_sdpa_back(heads, query, key, value, d_o)[1])


def mhsa_sdpa_back_v(heads: Size, query: Array, key: Array, value: Array, d_o: Array) -> Array:
    """Return d_V (n, h * dh), as `mhsa_sdpa_back_q`."""
    return attention.merge_heads(_sdpa_back(heads, query, key, value, d_o)[2])


def _sdpa_back(heads: Size, *matrices: Array) -> tuple[Array, Array, Array]:
    query, key, value, d_o = (attention.split_heads(matrix, heads) for matrix in matrices)
    return attention.pullback(attention.forward(query, key, value)[1], d_o)


def core_q_flat(n: Size, heads: Size, query: Array, key: Array, value: Array) -> Map:
    """Return flat dO (n * D) -> flat d_Q, projections Q, K, V (n, D) saved."""
    return lambda d_o: flat(mhsa_sdpa_back_q(heads, query, key, value, rows_of(n, d_o)))


def core_k_flat(n: Size, heads: Size, query: Array, key: Array, value: Array) -> Map:
    """Return flat dO (n * D) -> flat d_K, projections saved."""
    return lambda d_o: flat(mhsa_sdpa_back_k(heads, query, key, value, rows_of(n, d_o)))


def core_v_flat(n: Size, heads: Size, query: Array, key: Array, value: Array) -> Map:
    """Return flat dO (n * D) -> flat d_V, projections saved."""
    return lambda d_o: flat(mhsa_sdpa_back_v(heads, query, key, value, rows_of(n, d_o)))


def mhsa_back_flat(n: Size, heads: Size, p: BlockParams, query: Array, key: Array, value: Array) -> Map:
    """Return dY -> dX, flat (n * D): output projection, three cores, three projections, fan-in at X."""

    def back(d_y: Array) -> Array:
        u = per_row_flat(n, dense_back(p.w_o))(d_y)
        by_query = per_row_flat(n, dense_back(p.w_q))(core_q_flat(n, heads, query, key, value)(u))
        by_key = per_row_flat(n, dense_back(p.w_k))(core_k_flat(n, heads, query, key, value)(u))
        by_value = per_row_flat(n, dense_back(p.w_v))(core_v_flat(n, heads, query, key, value)(u))
        return by_query + (by_key + by_value)

    return back


def mhsa_flat(n: Size, heads: Size, p: BlockParams) -> Map:
    """Return X -> concat_heads(sdpa(X Wq + bq, X Wk + bk, X Wv + bv)) Wo + bo, flat (n * D)."""

    def forward(x: Array) -> Array:
        parts = (attention.split_heads(part, heads) for part in projections(n, p, x))
        context, _ = attention.forward(*parts)
        return flat(dense.forward(p.w_o, p.b_o, attention.merge_heads(context)))

    return forward


def projections(n: Size, p: BlockParams, x: Array) -> tuple[Array, Array, Array]:
    """Return Q, K, V as matrices (n, D) for flat x (n * D)."""
    rows = rows_of(n, x)
    pairs = ((p.w_q, p.b_q), (p.w_k, p.b_k), (p.w_v, p.b_v))
    query, key, value = (dense.forward(weight, bias, rows) for weight, bias in pairs)
    return query, key, value


# Block


def vit_block_back(
    n: Size, heads: Size, p: BlockParams, ln_back_1: Map, ln_back_2: Map, s: Array, saved: Sequence[Array]
) -> Map:
    """Return the block's reverse with one shared LN reverse per site and one shared GELU slope s (M,).

    `saved` is (Q, K, V), each (n, D); flat (n * D) to (n * D).
    """
    mlp = residual_back(compose(ln_back_2, dense_back(p.w_1), diag_back(s), dense_back(p.w_2)))
    attended = residual_back(compose(per_row_flat(n, ln_back_1), mhsa_back_flat(n, heads, p, *saved)))
    return compose(attended, per_row_flat(n, mlp))


def vit_block_back_v(
    n: Size, heads: Size, eps: float, p: BlockParams, x1: Array, x2: Array, s: Array, saved: Sequence[Array]
) -> Map:
    """Return the block's reverse with vector layer norms at x1, x2 (flat n * D) and row r's own slope s (n, M).

    `saved` is (Q, K, V), each (n, D). With LayerScale the cotangent of a branch is scaled first.
    """
    mlp = per_row_flat_pr(n, lambda slope: compose(dense_back(p.w_1), diag_back(slope), dense_back(p.w_2)), s)
    branch2 = compose(row_ln_vec_flat_back(n, eps, p.norm2_scale, x2), mlp, _scale_back(n, p.scale2))
    attended = mhsa_back_flat(n, heads, p, *saved)
    branch1 = compose(row_ln_vec_flat_back(n, eps, p.norm1_scale, x1), attended, _scale_back(n, p.scale1))
    return compose(residual_back(branch1), residual_back(branch2))


def _scale_back(n: Size, scale: Array | None) -> Map:
    return per_row_flat(n, lambda rows: residual.scaled(scale, rows))


def vit_attn_out_at(config: Config, p: BlockParams, v: Array) -> Array:
    """Return A = v + MHSA(LN1 v), the attention sublayer's output at flat input v (n * D)."""
    n = config.tokens
    normed = per_row_flat(n, layer_norm_map(p.norm1_scale, p.norm1_bias, config.eps))(v)
    return v + _scale_back(n, p.scale1)(mhsa_flat(n, config.heads, p)(normed))


def vit_block_back_v_at(config: Config, p: BlockParams, v: Array) -> Map:
    """Return `vit_block_back_v` with every saved slot pinned to the forward at flat input v (n * D)."""
    n = config.tokens
    normed = per_row_flat(n, layer_norm_map(p.norm1_scale, p.norm1_bias, config.eps))(v)
    attended = vit_attn_out_at(config, p, v)
    rows = layer_norm_map(p.norm2_scale, p.norm2_bias, config.eps)(rows_of(n, attended))
    _, saved = gelu.forward(config.gelu, dense.forward(p.w_1, p.b_1, rows))
    return vit_block_back_v(n, config.heads, config.eps, p, v, attended, saved.slope, projections(n, p, normed))


def block_flat(config: Config, p: BlockParams) -> Map:
    """Return the block A + MLP(LN2 A), A = `vit_attn_out_at`: flat (n * D) to (n * D)."""

    def mlp(rows: Array) -> Array:
        rows = layer_norm_map(p.norm2_scale, p.norm2_bias, config.eps)(rows)
        hidden, _ = gelu.forward(config.gelu, dense.forward(p.w_1, p.b_1, rows))
        return residual.scaled(p.scale2, dense.forward(p.w_2, p.b_2, hidden))

    def forward(v: Array) -> Array:
        attended = vit_attn_out_at(config, p, v)
        return attended + per_row_flat(config.tokens, mlp)(attended)

    return forward


# Tower, ends, whole net


def vit_body_kv_flat(config: Config, blocks: Sequence[BlockParams]) -> Map:
    """Return the tower, block 0 first: flat (n * D) to (n * D)."""
    if not blocks:
        return lambda v: v
    return compose(vit_body_kv_flat(config, blocks[1:]), block_flat(config, blocks[0]))


def vit_tower_back_k(config: Config, blocks: Sequence[BlockParams], v: Array) -> Map:
    """Return the tower's reverse at saved input v (n * D): block 0's reverse last, the tail saved at its output."""
    if not blocks:
        return lambda d_y: d_y
    tail = vit_tower_back_k(config, blocks[1:], block_flat(config, blocks[0])(v))
    return compose(vit_block_back_v_at(config, blocks[0], v), tail)


def cls_scatter(patches: Size, d_y: Array) -> Array:
    """Return the flat ((patches + 1) * D) vector with row 0 = dy (D,), patch rows 0; the adjoint of the slice."""
    return flat(cls.scatter_rows(rows_of(1, d_y), patches))


def cls_slice_flat(patches: Size, x: Array) -> Array:
    """Return row 0, the CLS token, of a flat ((patches + 1) * D) vector."""
    return flat(cls.slice_rows(rows_of(1 + patches, x), 1))


def patch_embed_input_grad_formula(config: Config, params: Params) -> Map:
    """Return flat tokens' cotangent (n * D) -> flat image's (C * H * W); nothing saved, the CLS row drops out."""

    def back(d_tokens: Array) -> Array:
        rows = rows_of(config.tokens, d_tokens)
        d_image = patch_embed.pullback(params.patch_weight, config.prefix, config.grid, rows)
        return reshape_trailing(d_image, 3, (config.channels * config.height * config.width,))

    return back


def vit_saved_pe(config: Config, params: Params, x: Array) -> Array:
    """Return the patch embedding of the flat image x (C * H * W), flat (n * D): the tower's saved input."""
    image = reshape_trailing(x, 1, config.image_shape)
    embedding = (params.patch_weight, params.patch_bias, params.prefix, params.position)
    return flat(patch_embed.forward(*embedding, image))


def vit_saved_body(config: Config, params: Params, x: Array) -> Array:
    """Return the tower's output for the flat image x, flat (n * D): the final norm's saved input."""
    return vit_body_kv_flat(config, params.blocks)(vit_saved_pe(config, params, x))


def classifier_flat(config: Config, params: Params, x: Array) -> Array:
    """Return the head's logits (K,) from normalised tokens x, flat (n * D): row 0, then dense."""
    return dense.forward(params.w_head, params.b_head, cls_slice_flat(config.patches, x))


def vit_head_back(config: Config, params: Params) -> Map:
    """Return dlogits (K,) -> flat (n * D): the head's W^T, then the CLS scatter."""
    return compose(partial(cls_scatter, config.patches), dense_back(params.w_head))


def vit_final_ln(config: Config, params: Params) -> Map:
    """Return the final layer norm on every row, flat (n * D)."""
    return per_row_flat(config.tokens, layer_norm_map(params.norm_scale, params.norm_bias, config.eps))


def vit_forward_kv(config: Config, params: Params, x: Array) -> Array:
    """Return the logits (K,) of the flat image x (C * H * W): classifier . LN . tower . patch embed."""
    return classifier_flat(config, params, vit_final_ln(config, params)(vit_saved_body(config, params, x)))


def vit_input_grad_k(config: Config, params: Params, x: Array) -> Map:
    """Return dlogits (K,) -> the input gradient (C * H * W) at the flat image x: five stages, cotangent free."""
    return compose(
        patch_embed_input_grad_formula(config, params),
        vit_tower_back_k(config, params.blocks, vit_saved_pe(config, params, x)),
        row_ln_vec_flat_back(config.tokens, config.eps, params.norm_scale, vit_saved_body(config, params, x)),
        partial(cls_scatter, config.patches),
        dense_back(params.w_head),
    )


def vit_saved_pe_b(batch: Size, config: Config, params: Params, x: Array) -> Array:
    """Return the batched patch embedding, flat (B * n * D), of flat images x (B * C * H * W)."""
    return batch_map(batch, lambda v: vit_saved_pe(config, params, v))(x)


def vit_saved_body_b(batch: Size, config: Config, params: Params, x: Array) -> Array:
    """Return the batched tower at the batched patch embedding, stage by stage: flat (B * n * D)."""
    tower = vit_body_kv_flat(config, params.blocks)
    return batch_map(batch, tower)(vit_saved_pe_b(batch, config, params, x))


def vit_input_grad_kb(batch: Size, config: Config, params: Params, x: Array) -> Map:
    """Return flat dlogits (B * K) -> the flat input gradient (B * C * H * W), each stage lifted over the batch."""
    tower = partial(vit_tower_back_k, config, params.blocks)
    final_ln = partial(row_ln_vec_flat_back, config.tokens, config.eps, params.norm_scale)
    return compose(
        batch_map(batch, patch_embed_input_grad_formula(config, params)),
        batch_map_aux(batch, tower, vit_saved_pe_b(batch, config, params, x)),
        batch_map_aux(batch, final_ln, vit_saved_body_b(batch, config, params, x)),
        batch_map(batch, partial(cls_scatter, config.patches)),
        batch_map(batch, dense_back(params.w_head)),
    )
