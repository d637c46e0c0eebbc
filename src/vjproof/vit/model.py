"""The network that runs: activations saved once, and its reverse as a product of linear maps.

The head reads only R leading rows under CLS pooling, so the last block returns those rows alone, and its reverse
starts from them. `vit/spec.py` states the chain without that shortcut; both compute the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from vjproof.layers import cls, dense, layer_norm, patch_embed
from vjproof.layers.array import Array, namespace
from vjproof.layers.linear_map import LinearMap, compose, identity
from vjproof.vit import block, tower
from vjproof.vit.config import Config
from vjproof.vit.params import Params


class Saved(NamedTuple):
    """All that the reverse needs: one record per block, and the final norm's."""

    blocks: Sequence[block.SavedBlock]
    norm: layer_norm.Saved


def forward(config: Config, params: Params, images: Array, blocks: Any = tower) -> tuple[Array, Saved]:
    """Return logits (..., K) and the saved activations for images (..., C, H, W), already pre-processed.

    `blocks` runs the blocks: `vit.tower`, or what has its two functions and computes the same.
    """
    x = patch_embed.forward(params.patch_weight, params.patch_bias, params.prefix, params.position, images)
    x, saved = blocks.forward(config, params.blocks, x)
    if config.pooling == "cls":
        x = cls.slice_rows(x, config.readout)
    elif config.pooling == "mean":
        x = cls.mean_rows(x, config.prefix)
    x, norm = layer_norm.forward(params.norm_scale, params.norm_bias, config.eps, x)
    if config.pooling == "norm-mean":
        x = cls.mean_rows(x, config.prefix)
    flat = namespace(x).reshape(x, (*x.shape[:-2], x.shape[-2] * x.shape[-1]))
    return dense.forward(params.w_head, params.b_head, flat), Saved(saved, norm)


def logits(config: Config, params: Params, images: Array) -> Array:
    """Return logits (..., K) for images (..., C, H, W), already pre-processed."""
    return forward(config, params, images)[0]


def pullback(config: Config, params: Params, saved: Saved, blocks: Any = tower) -> LinearMap:
    """Return the map from a cotangent of the logits (..., K) to one of the images (..., C, H, W)."""
    lead = saved.norm.normalised.shape[:-2]
    pool, norm = pool_back(config, lead), final_norm_back(params, saved, lead)
    pooled_norm = norm @ pool if config.pooling == "norm-mean" else pool @ norm
    return compose(
        patch_embed_back(config, params, lead),
        blocks.back(config, params.blocks, saved.blocks, lead),
        pooled_norm,
        head_back(config, params, lead),
    )


def logits_and_gradient(config: Config, params: Params, images: Array, d_logits: Array) -> tuple[Array, Array]:
    """Return logits (..., K) and the input gradient (..., C, H, W) of <d_logits, logits> at the images."""
    values, saved = forward(config, params, images)
    return values, pullback(config, params, saved)(d_logits)


def head_back(config: Config, params: Params, lead: tuple[int, ...]) -> LinearMap:
    """Return the classifier's reverse, (..., K) to the rows that it reads, (..., R, D)."""
    rows = config.readout if config.pooling == "cls" else 1
    shape = (*lead, rows, config.hidden)
    return LinearMap(
        (*lead, config.classes),
        shape,
        lambda d: namespace(d).reshape(dense.pullback(params.w_head, d), shape),
        lambda t: dense.pushforward(params.w_head, namespace(t).reshape(t, (*lead, rows * config.hidden))),
    )


def final_norm_back(params: Params, saved: Saved, lead: tuple[int, ...]) -> LinearMap:
    """Return the final norm's reverse on the rows that were normalised."""
    shape = (*lead, *saved.norm.normalised.shape[-2:])
    scale = params.norm_scale
    return LinearMap(
        shape,
        shape,
        partial(layer_norm.pullback, scale, saved.norm),
        partial(layer_norm.pushforward, scale, saved.norm),
    )


def pool_back(config: Config, lead: tuple[int, ...]) -> LinearMap:
    """Return the pooling's reverse, from the pooled rows to the rows that leave the tower."""
    d, out = config.hidden, (*lead, config.tokens, config.hidden)
    if config.pooling != "cls":
        return LinearMap(
            (*lead, 1, d),
            out,
            lambda v: cls.spread_row(v, config.prefix, config.patches),
            lambda t: cls.mean_rows(t, config.prefix),
        )
    pooled = (*lead, config.readout, d)
    if config.depth > 0:
        return identity(pooled)
    return LinearMap(
        pooled,
        out,
        lambda v: cls.scatter_rows(v, config.prefix - config.readout + config.patches),
        lambda t: cls.slice_rows(t, config.readout),
    )


def patch_embed_back(config: Config, params: Params, lead: tuple[int, ...]) -> LinearMap:
    """Return the patch embedding's reverse, tokens (..., T + N, D) to images (..., C, H, W)."""
    weight = params.patch_weight
    return LinearMap(
        (*lead, config.tokens, config.hidden),
        (*lead, *config.image_shape),
        partial(patch_embed.pullback, weight, config.prefix, config.grid),
        partial(patch_embed.pushforward, weight, config.prefix),
    )
