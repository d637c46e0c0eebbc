"""The tower of encoder blocks and its reverse, block 0 first, as the seed's recursion on the depth.

Under CLS pooling the last block returns only the rows that the head reads; every other block returns all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from vjproof.layers.array import Array
from vjproof.layers.linear_map import LinearMap, identity
from vjproof.vit import block
from vjproof.vit.config import Config
from vjproof.vit.params import BlockParams


def forward(config: Config, blocks: Sequence[BlockParams], x: Array) -> tuple[Array, Sequence[block.SavedBlock]]:
    """Return the tower's rows (..., m, D) and each block's activations, for x (..., n, D)."""
    if not blocks:
        return x, ()
    x, activations = block.forward(config, blocks[0], x, _rows_out(config, blocks))
    x, rest = forward(config, blocks[1:], x)
    return x, (activations, *rest)


def back(
    config: Config, blocks: Sequence[BlockParams], saved: Sequence[block.SavedBlock], lead: tuple[int, ...]
) -> LinearMap:
    """Return the tower's reverse, (..., m, D) to (..., n, D): block 0's reverse is applied last."""
    if not blocks:
        return identity((*lead, config.tokens, config.hidden))
    first = LinearMap(
        (*lead, _rows_out(config, blocks) or config.tokens, config.hidden),
        (*lead, config.tokens, config.hidden),
        partial(block.pullback, blocks[0], saved[0]),
        partial(block.pushforward, blocks[0], saved[0]),
    )
    return first @ back(config, blocks[1:], saved[1:], lead) if blocks[1:] else first


def _rows_out(config: Config, blocks: Sequence[BlockParams]) -> int | None:
    """Rows that the first block returns: the head's rows where it is the last under CLS pooling, else all (None)."""
    return None if blocks[1:] or config.pooling != "cls" else config.readout
