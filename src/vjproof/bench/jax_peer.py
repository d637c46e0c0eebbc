"""JAX as its users write it: the network in jax.numpy, its gradient by jax.vjp, all of it compiled."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from vjproof.classifier import Classifier
from vjproof.vit.config import Config
from vjproof.vit.params import Array, BlockParams, Params


def norm(x: Array, scale: Array, bias: Array, eps: float) -> Array:
    """Return the layer norm on the last axis."""
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + eps) * scale + bias


def attend(x: Array, p: Any, heads: int) -> Array:
    """Return multi-head self-attention of x (B, n, D)."""
    qkv = x @ p["w_qkv"] + p["b_qkv"]
    query, key, value = jnp.unstack(qkv.reshape(*x.shape[:2], 3, heads, -1), axis=2)
    context = jax.nn.dot_product_attention(query, key, value)
    return context.reshape(x.shape) @ p["w_o"] + p["b_o"]


def logits(config: Config, params: Any, images: Array) -> Array:
    """Return logits (B, K) for images (B, C, H, W)."""
    outer, blocks = params
    grid = jax.lax.conv_general_dilated(images, outer["patch_weight"], (config.patch,) * 2, "VALID")
    x = grid.reshape(*grid.shape[:2], -1).transpose(0, 2, 1) + outer["patch_bias"]
    prefix = jnp.broadcast_to(outer["prefix"], (len(x), *outer["prefix"].shape))
    x = jnp.concatenate([prefix, x], axis=1) + outer["position"]
    for p in blocks:
        x = x + attend(norm(x, p["norm1_scale"], p["norm1_bias"], config.eps), p, config.heads)
        hidden = norm(x, p["norm2_scale"], p["norm2_bias"], config.eps) @ p["w_1"] + p["b_1"]
        x = x + jax.nn.gelu(hidden, approximate=config.gelu == "tanh") @ p["w_2"] + p["b_2"]
    return norm(x, outer["norm_scale"], outer["norm_bias"], config.eps)[:, 0] @ outer["w_head"] + outer["b_head"]


def _fused(p: BlockParams) -> dict[str, Array]:
    fields = {name: value for name, value in p._asdict().items() if value is not None}
    return fields | {
        "w_qkv": np.concatenate([p.w_q, p.w_k, p.w_v], 1), "b_qkv": np.concatenate([p.b_q, p.b_k, p.b_v])
    }  # fmt: skip


def _tree(params: Params) -> tuple[dict[str, Array], list[dict[str, Array]]]:
    outer = {name: value for name, value in params._asdict().items() if name != "blocks"}
    return jax.tree.map(jnp.asarray, outer), [jax.tree.map(jnp.asarray, _fused(p)) for p in params.blocks]


class JaxPeer:
    """The compiled VJP."""

    def __init__(self, model: Classifier) -> None:
        self.params = _tree(model.params)
        forward = partial(logits, model.config)

        def gradient(params: Any, images: Array, d_logits: Array) -> Array:
            return jax.vjp(lambda x: forward(params, x), images)[1](d_logits)[0]

        def rows(params: Any, image: Array, d_logits: Array) -> Array:
            back = jax.vjp(lambda x: forward(params, x), image)[1]
            return jax.vmap(lambda d: back(d[None])[0][0])(d_logits)

        self._gradient, self._rows = jax.jit(gradient), jax.jit(rows)

    def gradient(self, images: Array, d_logits: Array) -> Array:
        """Return the input gradient (B, C, H, W) for images (B, C, H, W) and cotangents (B, K)."""
        return np.asarray(self._gradient(self.params, images, d_logits))

    def rows(self, image: Array, d_logits: Array) -> Array:
        """Return the gradients (T, C, H, W) at one image (1, C, H, W), (T, K): one forward pass, `jax.vmap`."""
        return np.asarray(self._rows(self.params, image, d_logits))
