"""One encoder block on all rows of a tile, forward and reverse (MATH.md, "Block"), on folded constants.

Attention runs image by image and materialises its weights: at the sizes of a Vision Transformer that is faster than
a flash kernel, and one image's scores stay in the cache.
"""

from __future__ import annotations

from typing import Any

from vjproof.engines.torch_chain.buffers import BlockActivations, Scratch
from vjproof.engines.torch_chain.matrix import Matrix
from vjproof.engines.torch_chain.weights import Block
from vjproof.vit.config import Config

Tensor = Any


def forward(config: Config, p: Block, b: Scratch, saved: BlockActivations, out: Tensor) -> None:
    """Compute the block from `saved.x` (rows, D) into `out` (rows, D), and fill `saved`."""
    import torch

    rows = saved.x.shape[0]
    normed, merged, active = b.normed[:rows], b.merged[:rows], b.active[:rows]
    normalise(config.eps, b, saved.x, saved.mean, saved.reciprocal)
    torch.add(p.w_qkv.times(normed, saved.qkv), p.b_qkv, out=saved.qkv)  # cheaper than a bias inside the product
    for parts, outputs in zip(saved.parts, b.merged_parts, strict=False):
        for (query, key, value, kept), output in zip(parts, outputs, strict=True):
            weights = attention_weights(query, key, b.scores if kept is None else kept)
            torch.bmm(weights, value, out=output)
    add_dense(b, saved.x, merged, p.w_o, p.b_o, saved.x2)
    normalise(config.eps, b, saved.x2, saved.mean2, saved.reciprocal2)
    torch.add(p.w_1.times(normed, saved.hidden), p.b_1, out=saved.hidden)
    torch.ops.aten.gelu.out(saved.hidden, approximate=approximate(config), out=active)
    add_dense(b, saved.x2, active, p.w_2, p.b_2, out)


def pullback(config: Config, p: Block, b: Scratch, saved: BlockActivations) -> None:
    """Replace `b.d_x` (slots * n, D), the cotangent of the block's output, by that of its input."""
    import torch

    d_active = p.w_2_t.times(lower(b, b.d_x), b.active)
    for hidden, d_rows in pairs(b, saved.hidden, d_active):
        torch.ops.aten.gelu_backward.grad_input(d_rows, hidden, approximate=approximate(config), grad_input=d_rows)
    d_normed = p.w_1_t.times(d_active, b.normed)
    add_norm_pullback(config, b, d_normed, saved.x2, saved.mean2, saved.reciprocal2)
    d_merged = p.w_o_t.times(lower(b, b.d_x), b.merged)
    if d_merged is not b.merged:
        b.merged.copy_(d_merged)
    for image, parts in enumerate(saved.parts):
        for place, (query, key, value, kept) in enumerate(parts):
            weights = attention_weights(query, key, b.scores) if kept is None else kept
            for slot in range(image * b.cotangents, (image + 1) * b.cotangents):
                d_query, d_key, d_value = b.d_parts[slot][place]
                d_o, d_scores = b.merged_parts[slot][place], b.d_scores
                torch.bmm(weights.transpose(1, 2), d_o, out=d_value)
                torch.bmm(d_o, value.transpose(1, 2), out=d_scores)
                torch.ops.aten._softmax_backward_data.out(d_scores, weights, -1, weights.dtype, grad_input=d_scores)
                torch.bmm(d_scores, key, out=d_query)
                torch.bmm(d_scores.transpose(1, 2), query, out=d_key)
    d_normed = p.w_qkv_t.times(b.d_qkv, b.normed)
    add_norm_pullback(config, b, d_normed, saved.x, saved.mean, saved.reciprocal)


def approximate(config: Config) -> str:
    """Return PyTorch's name of the GELU form."""
    return "tanh" if config.gelu == "tanh" else "none"


def attention_weights(query: Tensor, key: Tensor, out: Tensor) -> Tensor:
    """Compute softmax(Q K^T) into `out` (h, n, n), for (h, n, dh) queries, scaled, and keys."""
    import torch

    torch.bmm(query, key.transpose(1, 2), out=out)
    return torch.ops.aten._softmax.out(out, -1, False, out=out)


def normalise(eps: float, b: Scratch, x: Tensor, mean: Tensor, reciprocal: Tensor) -> None:
    """Compute xh of x (rows, D) into `b.normed`, and its statistics (rows, 1)."""
    import torch

    rows, width = x.shape
    wide = b.normed_wide[:rows]
    torch.ops.aten.native_layer_norm.out(x, (width,), None, None, eps, out0=wide, out1=mean, out2=reciprocal)
    if b.low:
        b.normed[:rows].copy_(wide)


def add_dense(b: Scratch, x: Tensor, y: Tensor, weight: Matrix, bias: Tensor, out: Tensor) -> None:
    """Compute x + y W + c into `out`: x and out (rows, D) wide, y of the products' dtype."""
    import torch

    dense = weight.times(y, b.normed[: x.shape[0]])
    torch.add(x, bias, out=out).add_(dense)


def add_norm_pullback(
    config: Config, b: Scratch, d_normed: Tensor, x: Tensor, mean: Tensor, reciprocal: Tensor
) -> None:
    """Add to `b.d_x` the norm's reverse of the cotangent of xh (slots * n, D) at the saved input x (rows, D)."""
    import torch

    d_normed = b.normed_wide.copy_(d_normed) if b.low else d_normed
    backward = torch.ops.aten.native_layer_norm_backward
    for entry, d_entry, d_x, mu, r in pairs(b, x, d_normed, b.d_x, mean, reciprocal):
        d_x.add_(backward(d_entry, entry, (config.hidden,), mu, r, None, None, (True, False, False))[0])


def lower(b: Scratch, x: Tensor) -> Tensor:
    """Return x (rows, D) in the products' dtype."""
    return x if b.lowered is None else b.lowered.copy_(x)


def pairs(b: Scratch, saved: Tensor, d_one: Tensor, *others: Tensor) -> list[tuple[Tensor, ...]]:
    """Return tuples of saved rows and cotangent rows that belong together: one for all where each image has one.

    `saved` has a row per token of each image, `d_one` a row per token of each cotangent; `others`, either.
    """
    tensors = (saved, d_one, *others)
    if b.cotangents == 1:
        return [tensors]
    n = d_one.shape[0] // len(b.d_parts)

    def of_slot(tensor: Tensor, slot: int) -> Tensor:
        place = slot // b.cotangents if tensor.shape[0] == saved.shape[0] else slot
        return tensor[place * n : (place + 1) * n]

    return [tuple(of_slot(tensor, slot) for tensor in tensors) for slot in range(len(b.d_parts))]
