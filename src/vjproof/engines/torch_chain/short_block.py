"""The last block where the head reads r leading rows: queries, MLP and residual for those rows alone, and no keys.

With few queries the products associate the other way, so that keys and values of all rows are never computed:
Q K^T = (Q W_k^T) xh^T, and P V = (P xh) W_v; their biases are folded away (`weights`).
Reverse, with U = Q W_k^T, G = d_O W_v^T:
d_P = G xh^T, d_S = softmax pullback of d_P;  d_xh = P^T G + d_S^T U, and d_Q = (d_S xh) W_k for the r rows.
What goes over the tokens stands image by image, (I, h * r, .); what goes over a head's weights, (h, I * r, .).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vjproof.engines.torch_chain.block import approximate, norm_pullback
from vjproof.engines.torch_chain.weights import Block
from vjproof.vit.config import Config

Tensor = Any


class Saved(NamedTuple):
    """Activations of I images, r rows."""

    normed: Tensor  # (I, n, D)
    reciprocal: Tensor  # (I, n, 1)
    through_keys: Tensor  # (I, h * r, D), U
    weights: Tensor  # (I, h * r, n), P
    normed2: Tensor  # (I, r, D)
    reciprocal2: Tensor  # (I, r, 1)
    hidden: Tensor  # (I, r, M)


def forward(config: Config, p: Block, x: Tensor) -> tuple[Tensor, Saved]:
    """Return the block's leading rows (I, r, D) and what the reverse needs: x (I, n, D)."""
    import torch

    lead = len(x), config.readout
    w_q, w_k, w_v = per_head(config, p)
    b_q = p.b_qkv[: config.hidden].unflatten(0, (config.heads, 1, -1))
    normed, reciprocal = normalise(config, x)
    query = torch.baddbmm(b_q, normed[:, : lead[1]].flatten(0, 1).expand(config.heads, -1, -1), w_q)
    through_keys = by_image(torch.bmm(query, w_k.mT), lead)
    weights = torch.softmax(torch.bmm(through_keys, normed.mT), -1)
    context = torch.bmm(by_head(torch.bmm(weights, normed), lead), w_v)
    middle = torch.addmm(p.b_o, side_by_side(context), p.w_o).unflatten(0, lead).add_(x[:, : lead[1]])
    normed2, reciprocal2 = normalise(config, middle)
    hidden = torch.addmm(p.b_1, normed2.flatten(0, 1), p.w_1)
    active = torch.nn.functional.gelu(hidden, approximate=approximate(config))
    out = torch.addmm(p.b_2, active, p.w_2).unflatten(0, lead).add_(middle)
    hidden = hidden.unflatten(0, lead)
    return out, Saved(normed, reciprocal, through_keys, weights, normed2, reciprocal2, hidden)


def for_each(saved: Saved, count: int) -> Saved:
    """Return what was saved once for each of `count` cotangents of each image."""
    return saved if count == 1 else Saved(*(tensor.repeat_interleave(count, 0) for tensor in saved))


def pullback(config: Config, p: Block, saved: Saved, d_y: Tensor, out: Tensor) -> None:
    """Write d_x to `out` (I, n, D) for d_y (I, r, D)."""
    import torch

    lead, normed = d_y.shape[:2], saved.normed
    _, w_k, w_v = per_head(config, p)
    d_active = torch.mm(d_y.flatten(0, 1), p.w_2_t)
    d_hidden = torch.ops.aten.gelu_backward(d_active, saved.hidden.flatten(0, 1), approximate=approximate(config))
    d_normed2 = torch.mm(d_hidden, p.w_1_t).unflatten(0, lead)
    d_y = d_y + torch.mul(unscaled_pullback(d_normed2, saved.normed2), saved.reciprocal2)
    d_context = torch.mm(d_y.flatten(0, 1), p.w_o_t).unflatten(1, (config.heads, -1)).transpose(0, 1)
    through_values = by_image(torch.bmm(d_context, w_v.mT), lead)
    d_weights = torch.bmm(through_values, normed.mT)
    d_scores = torch.ops.aten._softmax_backward_data(d_weights, saved.weights, -1, d_weights.dtype)
    d_query = torch.bmm(by_head(torch.bmm(d_scores, normed), lead), w_k)
    d_normed = torch.bmm(saved.weights.mT, through_values).baddbmm_(d_scores.mT, saved.through_keys)
    d_normed[:, : lead[1]] += torch.mm(side_by_side(d_query), p.w_qkv_t[: config.hidden]).unflatten(0, lead)
    torch.mul(unscaled_pullback(d_normed, normed), saved.reciprocal, out=out)
    out[:, : lead[1]] += d_y


def normalise(config: Config, x: Tensor) -> tuple[Tensor, Tensor]:
    """Return xh and 1 / sigma of x (..., D)."""
    import torch

    normed, _, reciprocal = torch.native_layer_norm(x, x.shape[-1:], None, None, config.eps)
    return normed, reciprocal


def unscaled_pullback(d_normed: Tensor, normed: Tensor) -> Tensor:
    """Return the norm's reverse (..., D) without the factor 1 / sigma."""
    one = normed.new_ones((*normed.shape[:-1], 1))
    return norm_pullback(d_normed, normed, one.new_zeros(one.shape), one)


def per_head(config: Config, p: Block) -> Tensor:
    """View W_q, W_k, W_v by head, (3, h, D, dh)."""
    return p.w_qkv.unflatten(1, (3, config.heads, -1)).permute(1, 2, 0, 3)


def by_image(rows: Tensor, lead: tuple[int, int]) -> Tensor:
    """Rearrange rows (h, I * r, D) to (I, h * r, D), lead = (I, r)."""
    return rows.unflatten(1, lead).transpose(0, 1).flatten(1, 2)


def by_head(rows: Tensor, lead: tuple[int, int]) -> Tensor:
    """Rearrange rows (I, h * r, D) to (h, I * r, D), lead = (I, r)."""
    return rows.unflatten(1, (-1, lead[1])).transpose(0, 1).flatten(1, 2)


def side_by_side(heads: Tensor) -> Tensor:
    """Rearrange rows (h, m, dh) to (m, h * dh)."""
    return heads.transpose(0, 1).flatten(1)
