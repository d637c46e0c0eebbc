"""The network's constants, folded once into fewer: what a dense layer can absorb is not computed per image.

y = (g xh + b) W + c = xh (diag(g) W) + (b W + c)      a norm's scale and bias go into the dense layer that follows
softmax(Q K^T / sqrt dh) = softmax((Q / sqrt dh) K^T)  the scale goes into W_q, b_q; d_Q needs none then
x + s (y W + c) = x + (y (W diag s) + s c)             LayerScale goes into the dense layer before it

xh(x) = xh(x - mean x), and every x is a sum of dense layers, so these return rows of mean 0 at once:
(y W + c) - mean = y (W C) + C c, C = I - 1 1^T / D    then no norm subtracts a mean, forward or reverse

q (k + 1 b_k^T)^T = q k^T + (q b_k) 1^T                a key's bias adds the same to a whole row, which softmax drops
P (V + 1 b_v^T) W_o + b_o = P V W_o + (b_v W_o + b_o)  a row of P sums to 1

All is folded in float64 and rounded once. The reverse through xh alone needs no g: d_xh = d_y (diag(g) W)^T; it reads
the transposes, which stand in memory of their own, since a product of two matrices as they lie is the fastest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vjproof.engines.torch_chain.matrix import Matrix, matrix
from vjproof.engines.torch_chain.memory import has_short_block
from vjproof.layers import patch_embed
from vjproof.vit.config import Config
from vjproof.vit.params import Array, BlockParams, Params

Tensor = Any


class Block(NamedTuple):
    """One block; every product is x W, and `..._t` its transpose. A short block holds tensors in place of matrices."""

    w_qkv: Any  # (D, 3 D)
    b_qkv: Tensor  # (3 D,), zero for keys and values
    w_o: Any  # (D, D)
    b_o: Tensor  # (D,)
    w_1: Any  # (D, M)
    b_1: Tensor  # (M,)
    w_2: Any  # (M, D)
    b_2: Tensor  # (D,)
    w_qkv_t: Any  # (3 D, D)
    w_o_t: Any  # (D, D)
    w_1_t: Any  # (M, D)
    w_2_t: Any  # (D, M)


class Network(NamedTuple):
    """The whole network; `short`, a last block that returns leading rows only, and what follows are not rounded low."""

    w_patch: Matrix  # (C P P, D)
    w_patch_t: Matrix  # (D, C P P)
    position: Tensor  # (N, D), with the patch bias
    prefix: Tensor  # (T, D), with its position
    blocks: tuple[Block, ...]
    short: Block | None
    tail: Params  # without blocks: the final norm and the head


def fold(config: Config, params: Params, dtype: str) -> Network:
    """Return the folded constants as torch tensors: products in `dtype`, sums at least in float32."""
    import numpy as np
    import torch

    kind = getattr(torch, dtype)
    wide = torch.float32 if dtype == "bfloat16" else kind

    def tensor(array: Array, to: Any = wide) -> Tensor:
        return torch.from_numpy(np.array(array, np.float64, order="C")).to(to)

    def double(block: BlockParams) -> Block:
        exact = BlockParams(*(None if array is None else np.asarray(array, np.float64) for array in block))
        return folded_block(config, exact)

    def full(block: BlockParams) -> Block:
        return Block(*(matrix(tensor(a, kind)) if a.ndim == 2 else tensor(a, kind) for a in double(block)))

    short = has_short_block(config)
    position = np.asarray(params.position, np.float64)
    w_patch = centred(patch_embed.flat_weight(np.asarray(params.patch_weight, np.float64)))
    return Network(
        matrix(tensor(w_patch, kind)),
        matrix(tensor(w_patch.T, kind)),
        tensor(centred(position[config.prefix :] + params.patch_bias)),
        tensor(centred(position[: config.prefix] + params.prefix)),
        tuple(full(block) for block in (params.blocks[:-1] if short else params.blocks)),
        Block(*(tensor(a) for a in double(params.blocks[-1]))) if short else None,
        Params(
            *(() if name == "blocks" else tensor(value) for name, value in zip(params._fields, params, strict=True))
        ),
    )


def folded_block(config: Config, p: BlockParams) -> Block:
    """Return one block's folded constants, for float64 NumPy arrays."""
    import numpy as np

    scale = config.head_width**-0.5
    scale1, scale2 = (1.0 if scale is None else scale for scale in (p.scale1, p.scale2))
    gain, bias = p.norm1_scale[:, None], p.norm1_bias
    w_qkv = gain * np.concatenate([p.w_q * scale, p.w_k, p.w_v], 1)
    w_o, w_1, w_2 = centred(p.w_o * scale1), p.norm2_scale[:, None] * p.w_1, centred(p.w_2 * scale2)
    b_qkv = np.zeros(w_qkv.shape[1])
    b_qkv[: config.hidden] = (bias @ p.w_q + p.b_q) * scale
    return Block(
        w_qkv, b_qkv, w_o, (bias @ p.w_v + p.b_v) @ w_o + centred(p.b_o * scale1),
        w_1, p.norm2_bias @ p.w_1 + p.b_1, w_2, centred(p.b_2 * scale2), w_qkv.T, w_o.T, w_1.T, w_2.T,
    )  # fmt: skip


def centred(rows: Array) -> Array:
    """Return rows (..., D) without their means."""
    return rows - rows.mean(-1, keepdims=True)
