"""Parameters of the network, with a shape per field; weights are stored [in, out], so y = x W + b.

The records are named tuples: immutable, and understood by JAX as trees without importing it here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from vjproof.vit.config import Config

Array: TypeAlias = Any


class BlockParams(NamedTuple):
    """One pre-norm encoder block; D = hidden, M = MLP width."""

    norm1_scale: Array  # (D,)
    norm1_bias: Array  # (D,)
    w_q: Array  # (D, D)
    b_q: Array  # (D,)
    w_k: Array  # (D, D)
    b_k: Array  # (D,)
    w_v: Array  # (D, D)
    b_v: Array  # (D,)
    w_o: Array  # (D, D)
    b_o: Array  # (D,)
    norm2_scale: Array  # (D,)
    norm2_bias: Array  # (D,)
    w_1: Array  # (D, M)
    b_1: Array  # (M,)
    w_2: Array  # (M, D)
    b_2: Array  # (D,)
    scale1: Array | None = None  # (D,), LayerScale on the attention branch
    scale2: Array | None = None  # (D,), LayerScale on the MLP branch


class Params(NamedTuple):
    """The whole network; T = prefix tokens, N = patches, R = rows the head reads, K = classes."""

    patch_weight: Array  # (D, C, P, P)
    patch_bias: Array  # (D,)
    prefix: Array  # (T, D)
    position: Array  # (T + N, D)
    blocks: tuple[BlockParams, ...]
    norm_scale: Array  # (D,)
    norm_bias: Array  # (D,)
    w_head: Array  # (R * D, K)
    b_head: Array  # (K,)


def shapes(config: Config) -> Params:
    """Return a `Params` that holds the shape of each tensor instead of the tensor."""
    d, m, t = config.hidden, config.mlp, config.prefix
    rows = config.readout if config.pooling == "cls" else 1
    scale = (d,) if config.layer_scale else None
    block = BlockParams(
        (d,), (d,), (d, d), (d,), (d, d), (d,), (d, d), (d,), (d, d), (d,),
        (d,), (d,), (d, m), (m,), (m, d), (d,), scale, scale,
    )  # fmt: skip
    return Params(
        (d, config.channels, config.patch, config.patch), (d,), (t, d), (config.tokens, d),
        (block,) * config.depth, (d,), (d,), (rows * d, config.classes), (config.classes,),
    )  # fmt: skip


def named_tensors(params: Params) -> Iterator[tuple[str, Array]]:
    """Yield (name, tensor) for each tensor present, blocks as `blocks.0.w_q` and so on."""
    for field, value in zip(params._fields, params, strict=True):
        if field != "blocks":
            yield field, value
            continue
        for index, block in enumerate(params.blocks):
            for name, tensor in zip(block._fields, block, strict=True):
                if tensor is not None:
                    yield f"blocks.{index}.{name}", tensor


def map_tensors(function: Callable[[Array], Array], params: Params) -> Params:
    """Return `params` with `function` applied to each tensor present."""

    def mapped(block: BlockParams) -> BlockParams:
        return BlockParams(*(None if tensor is None else function(tensor) for tensor in block))

    return Params(
        *(
            tuple(mapped(block) for block in value) if field == "blocks" else function(value)
            for field, value in zip(params._fields, params, strict=True)
        )
    )


def count(config: Config) -> int:
    """Return the number of parameters of a network with this config."""
    return sum(math.prod(shape) for _, shape in named_tensors(shapes(config)))


def random_params(config: Config, seed: int, spread: float = 1.0) -> Params:
    """Return random float64 parameters for tests and measurements; norms' scales stay near 1.

    Dense weights have standard deviation `spread / sqrt(fan in)`.
    """
    import numpy as np

    generator = np.random.default_rng(seed)

    def draw(name: str, shape: tuple[int, ...]) -> Array:
        leaf = name.rpartition(".")[2]
        if leaf.endswith("scale") or leaf in ("scale1", "scale2"):
            return 1.0 + 0.3 * generator.standard_normal(shape)
        if leaf == "patch_weight":
            return generator.standard_normal(shape) * (spread / math.sqrt(math.prod(shape[1:])))
        fan_in = shape[0] if leaf.startswith("w_") else 25
        return generator.standard_normal(shape) * (spread / math.sqrt(fan_in))

    return unflatten(config, {name: draw(name, shape) for name, shape in named_tensors(shapes(config))})


def unflatten(config: Config, tensors: dict[str, Array]) -> Params:
    """Return the `Params` whose `named_tensors` are `tensors`; raises KeyError for a missing one."""
    blocks = tuple(
        BlockParams(*(tensors.get(f"blocks.{i}.{n}") if n.startswith("scale") else tensors[f"blocks.{i}.{n}"]
                      for n in BlockParams._fields))
        for i in range(config.depth)
    )  # fmt: skip
    return Params(*(blocks if field == "blocks" else tensors[field] for field in Params._fields))
