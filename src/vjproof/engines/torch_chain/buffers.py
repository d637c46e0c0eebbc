"""The memory of the chain, allocated once: what the forward pass saves, and what every step uses again.

Rows of all images stand in one matrix, image after image; rows of several cotangents of one image likewise.
`kind` is the dtype of products, `wide` that of sums, norms and the residual stream.
"""

from __future__ import annotations

from typing import Any

from vjproof.vit.config import Config

Tensor = Any
CACHE = 2**21  # bytes of scores that attention may work on at a time


class BlockActivations:
    """What one block saves: its input x and the middle x2 with their norms' statistics, the projections, the
    attention weights P unless they are computed again, and the MLP's hidden input.

    `parts` views the projections and weights of each image, a group of heads at a time.
    """

    def __init__(self, config: Config, images: int, kind: Any, wide: Any, keep: bool) -> None:
        n, d = config.tokens, config.hidden
        rows = images * n
        self.x, self.x2 = (empty(wide, rows, d) for _ in range(2))
        self.mean, self.reciprocal, self.mean2, self.reciprocal2 = (empty(wide, rows, 1) for _ in range(4))
        self.qkv = empty(kind, rows, 3 * d)
        self.hidden = empty(kind, rows, config.mlp)
        group = heads_together(config, kind.itemsize)
        weights = empty(kind, images, config.heads, n, n).split(group, 1) if keep else ()
        self.parts = [
            [
                (*views, weights[place][image] if keep else None)
                for place, views in enumerate(qkv_heads(projections, config.heads, group))
            ]
            for image, projections in enumerate(self.qkv.split(n))
        ]


class Activations:
    """What a tile of `images` images saves; `keep` says whether attention weights are among it."""

    def __init__(self, config: Config, images: int, kind: Any, wide: Any, keep: bool) -> None:
        self.images, self.kind, self.wide = images, kind, wide
        full = config.depth - has_short_block(config)
        self.blocks = [BlockActivations(config, images, kind, wide, keep) for _ in range(full)]
        self.out = empty(wide, images * config.tokens, config.hidden)


class Scratch:
    """What one tile uses again at every block, for `cotangents` cotangents of each of `images` images."""

    def __init__(self, config: Config, images: int, cotangents: int, kind: Any, wide: Any) -> None:
        n, d, slots = config.tokens, config.hidden, images * cotangents
        rows = slots * n
        self.cotangents, self.low = cotangents, kind != wide
        self.patches = empty(kind, slots * config.patches, config.channels * config.patch**2)
        self.embedded = empty(kind, slots * config.patches, d)
        self.normed, self.merged = (empty(kind, rows, d) for _ in range(2))
        self.normed_wide = empty(wide, rows, d) if self.low else self.normed
        self.lowered = empty(kind, rows, d) if self.low else None
        self.active = empty(kind, rows, config.mlp)
        self.d_x = empty(wide, rows, d)
        self.d_qkv = empty(kind, rows, 3 * d)
        group = heads_together(config, kind.itemsize)
        self.scores, self.d_scores = (empty(kind, group, n, n) for _ in range(2))
        self.merged_parts = [heads_of(rows, config.heads).split(group) for rows in self.merged.split(n)]
        self.d_parts = [qkv_heads(rows, config.heads, group) for rows in self.d_qkv.split(n)]


def empty(dtype: Any, *shape: int) -> Tensor:
    """Return memory on the CPU, whatever the caller's default device is."""
    import torch

    return torch.empty(shape, dtype=dtype, device="cpu")


def has_short_block(config: Config) -> bool:
    """Whether the last block returns leading rows only."""
    return config.pooling == "cls" and config.depth > 0


def heads_of(rows: Tensor, heads: int) -> Tensor:
    """View the columns of one image's rows (n, h * dh) as heads, (h, n, dh)."""
    return rows.unflatten(1, (heads, -1)).transpose(0, 1)


def qkv_heads(qkv: Tensor, heads: int, group: int) -> list[tuple[Tensor, Tensor, Tensor]]:
    """View one image's projections (n, 3 D) as queries, keys and values, (group, n, dh) each, for groups of heads."""
    query, key, value = (heads_of(part, heads).split(group) for part in qkv.chunk(3, dim=1))
    return list(zip(query, key, value, strict=True))


def heads_together(config: Config, size: int) -> int:
    """Return how many heads attention takes at a time: all, or one where all scores would not stay in the cache."""
    return config.heads if config.heads * config.tokens**2 * size <= CACHE else 1


def weight_bytes(config: Config, size: int) -> int:
    """Return the bytes of one image's attention weights, for numbers of `size` bytes."""
    return int((config.depth - has_short_block(config)) * config.heads * config.tokens**2 * size)


def image_bytes(config: Config, size: int, keep: bool) -> int:
    """Return the bytes that one image takes in a tile, for products' numbers of `size` bytes."""
    n, d, wide = config.tokens, config.hidden, max(size, 4)
    block = n * (2 * wide * (d + 2) + size * (3 * d + config.mlp))
    scratch = n * (wide * 3 * d + size * (7 * d + config.mlp)) + 2 * config.channels * config.height * config.width * 4
    return int(config.depth * block + scratch + (weight_bytes(config, size) if keep else 0))
