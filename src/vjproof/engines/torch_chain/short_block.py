"""The last block where the head reads r leading rows: queries, MLP and residual for those rows alone, and no keys.

With few queries the products associate the other way, so that keys and values of all rows are never computed:
Q K^T = (Q W_k^T) xh^T, and P V = (P xh) W_v; their biases are folded away (`weights`).
Reverse, with U = Q W_k^T, G = d_O W_v^T:
d_P = G xh^T, d_S = softmax pullback of d_P;  d_xh = P^T G + d_S^T U, and d_Q = (d_S xh) W_k for the r rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vjproof.engines.torch_chain.block import approximate
from vjproof.engines.torch_chain.weights import Block
from vjproof.layers import layer_norm, softmax
from vjproof.vit.config import Config

Tensor = Any


class Saved(NamedTuple):
    """Activations of I images, r rows."""

    norm1: layer_norm.Saved  # (I, n, D), (I, n, 1)
    through_keys: Tensor  # (I, h, r, D), U
    weights: Tensor  # (I, h, r, n), P
    norm2: layer_norm.Saved  # (I, r, D), (I, r, 1)
    hidden: Tensor  # (I, r, M)


def by_head(config: Config, p: Block) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return W_q, W_k, W_v (D, h, dh), and b_q (h, dh)."""
    w_q, w_k, w_v = p.w_qkv.unflatten(1, (3, config.heads, config.head_width)).unbind(1)
    return w_q, w_k, w_v, p.b_qkv[: config.hidden].unflatten(0, (config.heads, -1))


def forward(config: Config, p: Block, x: Tensor) -> tuple[Tensor, Saved]:
    """Return the block's leading rows (I, r, D) and what the reverse needs: x (I, n, D)."""
    import torch

    w_q, w_k, w_v, b_q = by_head(config, p)
    norm1 = layer_norm.normalise(config.eps, x)
    normed, r = norm1.normalised, config.readout
    query = torch.einsum("ird,dhe->irhe", normed[:, :r], w_q) + b_q
    through_keys = torch.einsum("irhe,dhe->ihrd", query, w_k)
    scores = through_keys.flatten(1, 2) @ normed.transpose(1, 2)
    weights, _ = softmax.forward(scores.unflatten(1, (config.heads, r)))
    mixed = (weights.flatten(1, 2) @ normed).unflatten(1, (config.heads, r))
    context = torch.einsum("ihrd,dhe->irhe", mixed, w_v)
    middle = x[:, :r] + (context.flatten(2) @ p.w_o + p.b_o)
    norm2 = layer_norm.normalise(config.eps, middle)
    hidden = norm2.normalised @ p.w_1 + p.b_1
    active = torch.nn.functional.gelu(hidden, approximate=approximate(config))
    return middle + (active @ p.w_2 + p.b_2), Saved(norm1, through_keys, weights, norm2, hidden)


def pullback(config: Config, p: Block, saved: Saved, d_y: Tensor) -> Tensor:
    """Return d_x (I, c, n, D) for c cotangents of each image, d_y (I, c, r, D)."""
    import torch

    w_q, w_k, w_v, _ = by_head(config, p)
    heads, (_, count, r, _) = config.heads, d_y.shape
    norm1, norm2 = (layer_norm.Saved(*(t[:, None] for t in norm)) for norm in (saved.norm1, saved.norm2))
    hidden = saved.hidden[:, None].expand(-1, count, -1, -1).contiguous()
    d_hidden = torch.ops.aten.gelu_backward(d_y @ p.w_2_t, hidden, approximate=approximate(config))
    d_y = d_y + layer_norm.pullback(1.0, norm2, d_hidden @ p.w_1_t)
    d_context = (d_y @ p.w_o_t).unflatten(3, (heads, -1))
    through_values = torch.einsum("icrhe,dhe->ichrd", d_context, w_v)
    normed = saved.norm1.normalised
    d_weights = (through_values.flatten(1, 3) @ normed.transpose(1, 2)).unflatten(1, (count, heads, r))
    d_scores = softmax.pullback(softmax.Saved(saved.weights[:, None]), d_weights)
    d_query = (d_scores.flatten(1, 3) @ normed).unflatten(1, (count, heads, r))
    d_query = torch.einsum("ichrd,dhe->icrhe", d_query, w_k)
    rows = torch.cat([saved.weights[:, None].expand_as(d_scores), d_scores], dim=2).flatten(2, 3)
    through = torch.cat([through_values, saved.through_keys[:, None].expand_as(through_values)], dim=2)
    d_normed = rows.transpose(2, 3) @ through.flatten(2, 3)
    d_normed[:, :, :r] += torch.einsum("icrhe,dhe->icrd", d_query, w_q)
    d_x = layer_norm.pullback(1.0, norm1, d_normed)
    d_x[:, :, :r] += d_y
    return d_x
