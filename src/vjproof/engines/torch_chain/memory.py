"""How memory is had, and how much of it a tile takes."""

from __future__ import annotations

from typing import Any

from vjproof.vit.config import Config

Tensor = Any


def empty(dtype: Any, *shape: int) -> Tensor:
    """Return memory on the CPU, whatever the caller's default device is."""
    import torch

    return torch.empty(shape, dtype=dtype, device="cpu")


def has_short_block(config: Config) -> bool:
    """Whether the last block returns leading rows only."""
    return config.pooling == "cls" and config.depth > 0


def weight_bytes(config: Config, size: int) -> int:
    """Return the bytes of one image's attention weights, for numbers of `size` bytes."""
    return int((config.depth - has_short_block(config)) * config.heads * config.tokens**2 * size)


def image_bytes(config: Config, size: int, keep: bool) -> int:
    """Return the bytes that one image takes in a tile, for products' numbers of `size` bytes."""
    n, d, wide = config.tokens, config.hidden, max(size, 4)
    pixels = config.channels * config.height * config.width
    block = n * (2 * wide + size * (5 * d + config.mlp))
    scratch = n * (wide * (d + 3) + size * (5 * d + config.mlp)) + size * (pixels + config.patches * d)
    if size < wide:  # rows in the other dtype, and heads that stand apart
        scratch += n * d * (2 * wide + 5 * size)
    blocks = (config.depth - has_short_block(config)) * block
    return int(blocks + scratch + 2 * wide * pixels + (weight_bytes(config, size) if keep else 0))
