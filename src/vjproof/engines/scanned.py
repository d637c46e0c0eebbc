"""The tower as one loop over equal blocks: a compiler sees one block, whatever the depth.

It computes what `vjproof.vit.tower` does; blocks before the last stand in one array per field, (k - 1, ...).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from vjproof.layers.linear_map import LinearMap
from vjproof.vit import block, tower
from vjproof.vit.config import Config
from vjproof.vit.params import Array, BlockParams, Params


class Blocks(NamedTuple):
    """All blocks but the last, stacked (None where there are none), and the last in a tuple (empty for depth 0)."""

    stacked: BlockParams | None
    last: tuple[BlockParams, ...]


class SavedBlocks(NamedTuple):
    """Their activations, likewise."""

    stacked: Any
    last: Any


def stack(config: Config, params: Params) -> Params:
    """Return `params` with its blocks as `Blocks` of NumPy arrays."""
    import numpy as np

    *equal, _ = params.blocks or (None,)
    fields = [None if tensors[0] is None else np.stack(tensors) for tensors in zip(*equal, strict=True)]
    blocks: Any = Blocks(BlockParams(*fields) if equal else None, params.blocks[config.depth - 1 :])
    return params._replace(blocks=blocks)


def forward(config: Config, blocks: Blocks, x: Array) -> tuple[Array, SavedBlocks]:
    """Return the tower's rows (..., m, D) and all activations, for x (..., n, D); as `tower.forward`."""
    import jax

    saved = None
    if blocks.stacked is not None:
        x, saved = jax.lax.scan(lambda x, p: block.forward(config, p, x), x, blocks.stacked)
    x, last = tower.forward(config, blocks.last, x)
    return x, SavedBlocks(saved, last)


def back(config: Config, blocks: Blocks, saved: SavedBlocks, lead: tuple[int, ...]) -> LinearMap:
    """Return the tower's reverse, (..., m, D) to (..., n, D), last block first; as `tower.back`."""
    last = tower.back(config, blocks.last, saved.last, lead)
    if blocks.stacked is None:
        return last

    def pull(d_y: Array) -> Array:
        import jax

        def step(d: Array, one: tuple[BlockParams, block.SavedBlock]) -> tuple[Array, None]:
            p, activations = one
            return block.pullback(p, activations, d), None

        d_x, _ = jax.lax.scan(step, d_y, (blocks.stacked, saved.stacked), reverse=True)
        return d_x

    def push(t_x: Array) -> Array:
        import jax

        def step(t: Array, one: tuple[BlockParams, block.SavedBlock]) -> tuple[Array, None]:
            p, activations = one
            return block.pushforward(p, activations, t), None

        t_y, _ = jax.lax.scan(step, t_x, (blocks.stacked, saved.stacked))
        return t_y

    return LinearMap(last.codomain, last.codomain, pull, push) @ last
