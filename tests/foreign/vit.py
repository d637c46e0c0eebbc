"""A Vision Transformer as others write it: plain JAX, a pytree of parameters, each part in several spellings.

It shares no code with the library. Block parameters are a list of dictionaries, or stacked for `lax.scan`.
"""

from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np


class Sizes(NamedTuple):
    """Batch, channels, height, width, patch, heads, head width, MLP width, classes, depth."""

    batch: int = 1
    channels: int = 2
    height: int = 8
    width: int = 12
    patch: int = 4
    heads: int = 2
    head: int = 3
    mlp: int = 5
    classes: int = 4
    depth: int = 1

    @property
    def hidden(self):
        return self.heads * self.head

    @property
    def tokens(self):
        return 1 + (self.height // self.patch) * (self.width // self.patch)


TINY_224 = Sizes(1, 3, 224, 224, 16, 3, 64, 768, 1000, 12)


def block_shapes(s):
    d, h, e, m = s.hidden, s.heads, s.head, s.mlp
    return {
        "ln1": {"g": (d,), "b": (d,)},
        "query": {"w": (d, h, e), "b": (h, e)},
        "key": {"w": (d, h, e), "b": (h, e)},
        "value": {"w": (d, h, e), "b": (h, e)},
        "out": {"w": (h, e, d), "b": (d,)},
        "ln2": {"g": (d,), "b": (d,)},
        "up": {"w": (d, m), "b": (m,)},
        "down": {"w": (m, d), "b": (d,)},
    }


def shapes(s, stacked=False):
    """Shapes of all parameters: 8 + 16 for each block."""
    d, block = s.hidden, block_shapes(s)
    if stacked:
        block = jax.tree.map(lambda shape: (s.depth, *shape), block, is_leaf=lambda x: isinstance(x, tuple))
    return {
        "embed": {"w": (s.patch, s.patch, s.channels, d), "b": (d,)},
        "cls": (1, 1, d),
        "pos": (1, s.tokens, d),
        "blocks": block if stacked else [block] * s.depth,
        "ln": {"g": (d,), "b": (d,)},
        "head": {"w": (d, s.classes), "b": (s.classes,)},
    }


def structs(s, dtype=jnp.float32, stacked=False):
    """(parameters, images) as shape structs."""
    make = partial(jax.ShapeDtypeStruct, dtype=dtype)
    tree = jax.tree.map(make, shapes(s, stacked), is_leaf=lambda x: isinstance(x, tuple))
    return tree, make((s.batch, s.channels, s.height, s.width))


def centred_norm(x, p, eps=1e-6):
    mu = x.mean(-1, keepdims=True)
    return (x - mu) * jax.lax.rsqrt(((x - mu) ** 2).mean(-1, keepdims=True) + eps) * p["g"] + p["b"]


def variance_norm(x, p, eps=1e-6):
    return (x - jnp.mean(x, -1, keepdims=True)) / jnp.sqrt(jnp.var(x, -1, keepdims=True) + eps) * p["g"] + p["b"]


def standardize_norm(x, p, eps=1e-6):
    return p["g"] * jax.nn.standardize(x, axis=-1, epsilon=eps) + p["b"]


def moments_norm(x, p, eps=1e-6):
    mu, square = jnp.mean(x, -1, keepdims=True), jnp.mean(jnp.square(x), -1, keepdims=True)
    return (x - mu) * (jax.lax.rsqrt(square - jnp.square(mu) + eps) * p["g"]) + p["b"]


def shifted_softmax(z):
    e = jnp.exp(z - jax.lax.stop_gradient(z.max(-1, keepdims=True)))
    return e / e.sum(-1, keepdims=True)


def naive_softmax(z):
    e = jnp.exp(z)
    return e / e.sum(-1, keepdims=True)


def project(x, p):
    return jnp.einsum("bnd,dhe->bnhe", x, p["w"]) + p["b"]


def einsum_attention(x, p, softmax=shifted_softmax):
    q, k, v = (project(x, p[name]) for name in ("query", "key", "value"))
    weights = softmax(jnp.einsum("bqhe,bkhe->bhqk", q, k) / np.sqrt(q.shape[-1]))
    return jnp.einsum("bhqk,bkhe,hed->bqd", weights, v, p["out"]["w"]) + p["out"]["b"]


def matmul_attention(x, p, softmax=jax.nn.softmax):
    batch, n, d = x.shape
    h, e = p["query"]["b"].shape
    w = jnp.concatenate([p[name]["w"].reshape(d, h * e) for name in ("query", "key", "value")], axis=1)
    b = jnp.concatenate([p[name]["b"].reshape(h * e) for name in ("query", "key", "value")])
    qkv = (x @ w + b).reshape(batch, n, 3, h, e).transpose(2, 0, 3, 1, 4)
    q, k, v = qkv[0], qkv[1], qkv[2]
    weights = softmax((q * e**-0.5) @ k.swapaxes(-1, -2), axis=-1)
    return (weights @ v).transpose(0, 2, 1, 3).reshape(batch, n, h * e) @ p["out"]["w"].reshape(h * e, d) + p["out"][
        "b"
    ]


def library_attention(x, p):
    q, k, v = (project(x, p[name]) for name in ("query", "key", "value"))
    mixed = jax.nn.dot_product_attention(q, k, v)
    return jnp.tensordot(mixed, p["out"]["w"], axes=2) + p["out"]["b"]


def reshape_embed(images, p):
    batch, c, height, width = images.shape
    size, _, _, d = p["w"].shape
    x = images.reshape(batch, c, height // size, size, width // size, size).transpose(0, 2, 4, 3, 5, 1)
    return x.reshape(batch, -1, size * size * c) @ p["w"].reshape(-1, d) + p["b"]


def conv_embed(images, p):
    size = p["w"].shape[:2]
    x = jax.lax.conv_general_dilated(images, p["w"], size, "VALID", dimension_numbers=("NCHW", "HWIO", "NHWC"))
    return x.reshape(x.shape[0], -1, x.shape[-1]) + p["b"]


@dataclass(frozen=True)
class Spelling:
    """How the parts are written, and how the blocks are run: "loop", "scan" or "checkpoint"."""

    norm: object = centred_norm
    attention: object = einsum_attention
    gelu: object = field(default=partial(jax.nn.gelu, approximate=False))
    embed: object = reshape_embed
    blocks: str = "loop"


def block(spelling, x, p):
    x = x + spelling.attention(spelling.norm(x, p["ln1"]), p)
    return x + spelling.gelu(spelling.norm(x, p["ln2"]) @ p["up"]["w"] + p["up"]["b"]) @ p["down"]["w"] + p["down"]["b"]


def logits(spelling, params, images):
    """Return logits (B, K) of images (B, C, H, W)."""
    x = spelling.embed(images, params["embed"])
    x = jnp.concatenate([jnp.broadcast_to(params["cls"], (x.shape[0], 1, x.shape[2])), x], axis=1) + params["pos"]
    step = partial(block, spelling)
    if spelling.blocks == "scan":
        x, _ = jax.lax.scan(lambda carry, p: (step(carry, p), None), x, params["blocks"])
    else:
        step = jax.checkpoint(step) if spelling.blocks == "checkpoint" else step
        for p in params["blocks"]:
            x = step(x, p)
    return spelling.norm(x, params["ln"])[:, 0] @ params["head"]["w"] + params["head"]["b"]
