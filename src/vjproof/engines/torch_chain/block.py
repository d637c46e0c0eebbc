"""One encoder block on all rows of a tile, forward and reverse (MATH.md, "Block"), on folded constants.

Attention materialises its weights, some heads at a time: at the sizes of a Vision Transformer that is faster than a
flash kernel, and their scores stay in the cache.
"""

from __future__ import annotations

from typing import Any

from vjproof.engines.torch_chain.buffers import BlockActivations, Heads, Scratch
from vjproof.engines.torch_chain.weights import Block
from vjproof.vit.config import Config

Tensor = Any


def forward(config: Config, p: Block, b: Scratch, saved: BlockActivations, out: Tensor) -> None:
    """Compute the block from `saved.x` (rows, D) into `out` (rows, D), and fill `saved`."""
    import torch

    normed = normalise(b, saved.x, saved.reciprocal)
    saved.qkv.put(p.w_qkv.times(normed, p.b_qkv))
    for heads, (context,) in zip(saved.heads, b.contexts[0], strict=True):
        torch.bmm(attention_weights(b, heads), heads.value, out=context)
    torch.add(saved.x, p.w_o.times(b.context.rows(), p.b_o, b.normed), out=saved.x2)
    normed = normalise(b, saved.x2, saved.reciprocal2)
    torch.add(p.w_1.times(normed, out=b.active), p.b_1, out=saved.hidden)
    saved.slope = None
    active = torch.ops.aten.gelu.out(saved.hidden, approximate=approximate(config), out=b.active)
    torch.add(saved.x2, p.w_2.times(active, p.b_2, b.normed), out=out)


def linearise(config: Config, saved: BlockActivations) -> None:
    """Put GELU's slope in the place of its input, so that many cotangents need it computed once."""
    import torch

    one = torch.ones((), dtype=saved.hidden.dtype).expand_as(saved.hidden)
    backward = torch.ops.aten.gelu_backward.grad_input
    saved.slope = backward(one, saved.hidden, approximate=approximate(config), grad_input=saved.hidden)


def pullback(config: Config, p: Block, b: Scratch, saved: BlockActivations) -> None:
    """Replace `b.d_x` (slots * n, D), the cotangent of the block's output, by that of its input."""
    import torch

    d_hidden = gelu_pullback(config, saved, p.w_2_t.times(lower(b), out=b.active))
    add_norm_pullback(config, b, p.w_1_t.times(d_hidden, out=b.normed), saved.x2, saved.reciprocal2)
    b.context.put(p.w_o_t.times(lower(b), out=b.normed))
    for place, heads in enumerate(saved.heads):
        weights = attention_weights(b, heads) if heads.weights is None else heads.weights
        for d_contexts, d_heads in zip(b.contexts, b.d_heads, strict=True):
            (d_o,), (d_query, d_key, d_value) = d_contexts[place], d_heads[place]
            d_scores = b.scores[: len(d_o)]
            torch.bmm(weights.transpose(1, 2), d_o, out=d_value)
            torch.bmm(d_o, heads.value.transpose(1, 2), out=d_scores)
            torch.ops.aten._softmax_backward_data.out(d_scores, weights, -1, weights.dtype, grad_input=d_scores)
            torch.bmm(d_scores, heads.key, out=d_query)
            torch.bmm(d_scores.transpose(1, 2), heads.query, out=d_key)
    add_norm_pullback(config, b, p.w_qkv_t.times(b.d_qkv.rows(), out=b.normed), saved.x, saved.reciprocal)


def approximate(config: Config) -> str:
    """Return PyTorch's name of the GELU form."""
    return "tanh" if config.gelu == "tanh" else "none"


def attention_weights(b: Scratch, heads: Heads) -> Tensor:
    """Return P = softmax(Q K^T) (g, n, n), for queries that are scaled, where it is kept or in `b.weights`."""
    import torch

    scores = torch.bmm(heads.query, heads.key.transpose(1, 2), out=b.scores[: len(heads.query)])
    out = b.weights[: len(scores)] if heads.weights is None else heads.weights
    return torch.ops.aten._softmax.out(scores, -1, False, out=out)


def gelu_pullback(config: Config, saved: BlockActivations, d_active: Tensor) -> Tensor:
    """Return the cotangent of the hidden input (slots * n, M) in the memory of d_active."""
    import torch

    if saved.slope is not None:
        d_active.view(-1, *saved.slope.shape).mul_(saved.slope)
        return d_active
    backward = torch.ops.aten.gelu_backward.grad_input
    return backward(d_active, saved.hidden, approximate=approximate(config), grad_input=d_active)


def normalise(b: Scratch, x: Tensor, reciprocal: Tensor) -> Tensor:
    """Return xh = x / sigma of x (rows, D), whose rows have mean 0, in `b.normed`; fill 1 / sigma (rows, 1)."""
    import torch

    torch.linalg.vector_norm(x, dim=1, keepdim=True, out=reciprocal)
    torch.addcmul(b.eps, reciprocal, reciprocal, value=1 / x.shape[1], out=reciprocal).rsqrt_()
    return torch.mul(x, reciprocal, out=b.normed)


def add_norm_pullback(config: Config, b: Scratch, d_normed: Tensor, x: Tensor, reciprocal: Tensor) -> None:
    """Add to `b.d_x` the norm's reverse of the cotangent of xh (slots * n, D) at the saved input x (rows, D)."""
    import torch

    d_normed = b.raised.copy_(d_normed) if b.low else d_normed
    backward = torch.ops.aten.native_layer_norm_backward
    rows, shape, mask = len(x), (config.hidden,), (True, False, False)
    for d_entry, mean, d_x in zip(*(t.split(rows) for t in (d_normed, b.mean, b.d_x)), strict=True):
        d_x.add_(backward(d_entry, x, shape, mean, reciprocal, None, None, mask)[0])


def lower(b: Scratch) -> Tensor:
    """Return `b.d_x` (rows, D) in the products' dtype."""
    return b.lowered.copy_(b.d_x) if b.low else b.d_x
