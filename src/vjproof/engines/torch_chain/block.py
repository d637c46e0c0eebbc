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


def forward(config: Config, p: Block, b: Scratch, saved: BlockActivations) -> None:
    """Replace `b.stream` (rows, D), the block's input, by its output, and fill `saved`."""
    import torch

    normalise(b, saved.normed, saved.reciprocal)
    saved.qkv.put(p.w_qkv.times(saved.normed, p.b_qkv))
    attend(b, saved)
    b.stream.add_(p.w_o.times(b.context.rows(), p.b_o, b.dense))
    normalise(b, saved.normed2, saved.reciprocal2)
    saved.hidden.copy_(p.w_1.times(saved.normed2, p.b_1, b.active))
    saved.slope = None
    active = torch.ops.aten.gelu.out(saved.hidden, approximate=approximate(config), out=b.active)
    b.stream.add_(p.w_2.times(active, p.b_2, b.dense))


def linearise(config: Config, saved: BlockActivations) -> None:
    """Put GELU's slope in the place of its input, so that many cotangents need it computed once."""
    import torch

    one = torch.ones((), dtype=saved.hidden.dtype).expand_as(saved.hidden)
    backward = torch.ops.aten.gelu_backward.grad_input
    saved.slope = backward(one, saved.hidden, approximate=approximate(config), grad_input=saved.hidden)


def pullback(config: Config, p: Block, b: Scratch, saved: BlockActivations) -> None:
    """Replace `b.stream` (slots * n, D), the cotangent of the block's output, by that of its input."""
    d_hidden = gelu_pullback(config, saved, p.w_2_t.times(lower(b), out=b.active))
    add_norm_pullback(b, p.w_1_t.times(d_hidden, out=b.dense), saved.normed2, saved.reciprocal2)
    b.context.put(p.w_o_t.times(lower(b), out=b.dense))
    attend_pullback(b, saved)
    add_norm_pullback(b, p.w_qkv_t.times(b.d_qkv.rows(), out=b.dense), saved.normed, saved.reciprocal)


def attend(b: Scratch, saved: BlockActivations) -> None:
    """Compute `b.context` from the saved Q, K, V, and P where it is kept."""
    import torch

    for heads, (context,) in zip(saved.heads, b.contexts[0], strict=True):
        torch.bmm(attention_weights(b, heads), heads.value, out=context)


def attend_pullback(b: Scratch, saved: BlockActivations) -> None:
    """Compute `b.d_qkv` from `b.context`, the cotangent d_O."""
    import torch

    for place, heads in enumerate(saved.heads):
        weights = attention_weights(b, heads) if heads.weights is None else heads.weights
        for d_contexts, d_heads in zip(b.contexts, b.d_heads, strict=True):
            (d_o,), (d_query, d_key, d_value) = d_contexts[place], d_heads[place]
            d_scores = b.scores[: len(d_o)]
            torch.bmm(d_o, heads.value.transpose(1, 2), out=d_scores)
            torch.ops.aten._softmax_backward_data.out(d_scores, weights, -1, weights.dtype, grad_input=d_scores)
            torch.bmm(weights.transpose(1, 2), d_o, out=d_value)  # after a step that reads P from end to end
            torch.bmm(d_scores, heads.key, out=d_query)
            torch.bmm(d_scores.transpose(1, 2), heads.query, out=d_key)


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


def normalise(b: Scratch, out: Tensor, reciprocal: Tensor) -> None:
    """Compute xh = x / sigma of `b.stream` (rows, D), whose rows have mean 0, into `out`, and 1 / sigma (rows, 1)."""
    import torch

    torch.linalg.vector_norm(b.stream, dim=1, keepdim=True, out=reciprocal)
    torch.addcmul(b.eps, reciprocal, reciprocal, value=1 / b.stream.shape[1], out=reciprocal).rsqrt_()
    torch.mul(b.stream, reciprocal, out=out)


def add_norm_pullback(b: Scratch, d_normed: Tensor, normed: Tensor, reciprocal: Tensor) -> None:
    """Add to `b.stream` the reverse of xh (rows, D) with 1 / sigma (rows, 1), for its cotangent (slots * n, D)."""
    if b.low:
        d_normed, normed = b.raised.copy_(d_normed), b.raised2[: len(normed)].copy_(normed)
    for slot in b.slots:
        b.stream[slot].addcmul_(norm_pullback(d_normed[slot], normed, b.zero[slot], b.one[slot]), reciprocal)


def norm_pullback(d_normed: Tensor, normed: Tensor, zero: Tensor, one: Tensor) -> Tensor:
    """Return the norm's reverse (..., D) without the factor 1 / sigma; `zero` and `one` are (..., 1).

    It is PyTorch's reverse at a row that is normed already, whose mean is 0 and sigma 1.
    """
    import torch

    shape, mask = normed.shape[-1:], (True, False, False)
    return torch.ops.aten.native_layer_norm_backward(d_normed, normed, shape, zero, one, None, None, mask)[0]


def lower(b: Scratch) -> Tensor:
    """Return `b.stream` (rows, D) in the products' dtype."""
    return b.lowered.copy_(b.stream) if b.low else b.stream
