"""The limit: the matrix products of forward pass and reverse alone, in PyTorch, on memory that is already there."""

from __future__ import annotations

import math

import torch

from vjproof.classifier import Classifier
from vjproof.vit.config import Config
from vjproof.vit.params import Array

Shape = tuple[int, int, int, int]  # how many products side by side, rows, columns summed over, columns


def shapes(config: Config, batch: int) -> list[tuple[int, Shape]]:
    """Return (times, shape) of the products for `batch` images; the last block is counted for all rows or for none."""
    n, d, m, width = config.tokens, config.hidden, config.mlp, config.head_width
    rows, patches = batch * n, (batch * config.patches, config.channels * config.patch**2)
    full = config.depth - (config.pooling == "cls")
    dense = [(rows, d, 3 * d), (rows, d, d), (rows, d, m), (rows, m, d)]
    both = [*dense, *((r, b, a) for r, a, b in dense)]
    side = batch * config.heads
    attention = [(n, width, n)] * 2 + [(n, n, width)] * 4
    return [
        (1, (1, patches[0], patches[1], d)), (1, (1, patches[0], d, patches[1])),
        *((full, (1, *shape)) for shape in both), *((full, (side, *shape)) for shape in attention),
    ]  # fmt: skip


def operations(config: Config, batch: int) -> int:
    """Return the floating-point operations of those products."""
    return sum(2 * times * math.prod(shape) for times, shape in shapes(config, batch))


class Products:
    """All products once, for the number of images given."""

    def __init__(self, model: Classifier, dtype: str) -> None:
        self.config, self.dtype = model.config, getattr(torch, dtype)
        self.memory: dict[int, list[tuple[int, torch.Tensor, torch.Tensor, torch.Tensor]]] = {}

    def gradient(self, images: Array, _: Array) -> None:
        """Compute products of the sizes that B images need."""
        batch = len(images)
        if batch not in self.memory:
            self.memory[batch] = [
                (times, *(torch.rand(side, *pair, dtype=self.dtype) for pair in ((r, k), (k, c), (r, c))))
                for times, (side, r, k, c) in shapes(self.config, batch)
            ]
        for times, x, y, out in self.memory[batch]:
            for _ in range(times):
                torch.bmm(x, y, out=out) if len(x) > 1 else torch.mm(x[0], y[0], out=out[0])
