"""Spellings of network code that JAX lowers: (function, arguments, the argument to differentiate)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from tests.stablehlo.lowered import arrays

Entry = tuple[Callable[..., Any], tuple[Any, ...], int]


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-6) * g + b


def layer_norm_by_var(x, g, b):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(jnp.var(x, -1, keepdims=True) + 1e-5) * g + b


def attention(q, k, v):
    weights = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]))
    return jnp.einsum("bhqk,bkhd->bqhd", weights, v)


def blocks(x, w):
    return jax.lax.scan(lambda carry, one: (jnp.tanh(carry @ one), None), x, w)[0]


def collecting_blocks(x, w):
    return jax.lax.scan(lambda carry, one: (jnp.tanh(carry @ one), carry), x, w)


def counted_loop(x, w):
    return jax.lax.fori_loop(0, 3, lambda i, carry: jnp.tanh(carry @ w[i]), x)


def patches_by_reshape(x, w):
    n, c, h, v = x.shape
    cut = x.reshape(n, c, h // 4, 4, v // 3, 3).transpose(0, 2, 4, 1, 3, 5)
    return cut.reshape(n, (h // 4) * (v // 3), -1) @ w


def patches_by_convolution(x, w):
    return jax.lax.conv_general_dilated(x, w, (4, 3), "VALID")


def patches_channels_last(x, w):
    return jax.lax.conv_general_dilated(x, w, (4, 3), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def pieces(x):
    return sum(jnp.tanh(piece) * place for place, piece in enumerate(jnp.split(x, 3, -1)))


def linearised(x, w):
    y, push = jax.linearize(lambda z: jnp.tanh(z @ w), x)
    return y + push(np.sin(np.arange(x.size)).reshape(x.shape) * x)


def pushed(x, w):
    return jax.jvp(lambda z: jax.nn.softmax(z @ w), (x,), (x * x,))[1]


def _entry(function: Callable[..., Any], *shapes: tuple[int, ...], wrt: int = 0) -> Entry:
    return function, tuple(arrays(*shapes)), wrt


HEADS, KEYS = (2, 5, 3, 4), (2, 6, 3, 4)
IMAGE, KERNEL = (2, 3, 8, 9), (5, 3, 4, 3)
CORPUS: dict[str, Entry] = {
    "softmax": _entry(jax.nn.softmax, (3, 5)),
    "softmax, axis 0": _entry(lambda x: jax.nn.softmax(x, axis=0), (3, 5)),
    "gelu, erf": _entry(lambda x: jax.nn.gelu(x, approximate=False), (3, 5)),
    "gelu, tanh": _entry(jax.nn.gelu, (3, 5)),
    "silu": _entry(jax.nn.silu, (3, 5)),
    "erf": _entry(jax.lax.erf, (3, 5)),
    "standardize": _entry(lambda x: jax.nn.standardize(x, axis=-1, epsilon=1e-6), (3, 5)),
    "layer norm, x": _entry(layer_norm, (3, 5), (5,), (5,)),
    "layer norm by var, x": _entry(layer_norm_by_var, (3, 5), (5,), (5,)),
    "layer norm by var, g": _entry(layer_norm_by_var, (3, 5), (5,), (5,), wrt=1),
    "attention, q": _entry(attention, HEADS, KEYS, KEYS),
    "attention, k": _entry(attention, HEADS, KEYS, KEYS, wrt=1),
    "attention, v": _entry(attention, HEADS, KEYS, KEYS, wrt=2),
    "einsum": _entry(lambda x, w: jnp.einsum("bnd,dhe->bhne", x, w), (2, 5, 7), (7, 3, 2)),
    "matmul, w": _entry(lambda x, w: x @ w, (2, 5, 7), (7, 3), wrt=1),
    "batched matmul": _entry(lambda x, w: x @ w, (2, 3, 5, 7), (2, 3, 7, 4)),
    "scan over blocks, x": _entry(blocks, (3, 5), (4, 5, 5)),
    "scan over blocks, w": _entry(blocks, (3, 5), (4, 5, 5), wrt=1),
    "scan that collects": _entry(collecting_blocks, (3, 5), (4, 5, 5), wrt=1),
    "counted loop": _entry(counted_loop, (3, 5), (4, 5, 5)),
    "vmap": _entry(lambda x, w: jax.vmap(lambda row: jax.nn.softmax(row @ w))(x), (3, 5, 7), (7, 7)),
    "checkpoint": _entry(lambda x, w: jax.checkpoint(lambda z: jnp.tanh(jnp.tanh(z @ w) @ w))(x), (3, 7), (7, 7)),
    "linearise": _entry(linearised, (3, 7), (7, 7)),
    "jvp": _entry(pushed, (3, 7), (7, 7)),
    "patches by reshape, x": _entry(patches_by_reshape, IMAGE, (36, 5)),
    "patches by convolution, x": _entry(patches_by_convolution, IMAGE, KERNEL),
    "patches by convolution, w": _entry(patches_by_convolution, IMAGE, KERNEL, wrt=1),
    "patches, channels last, x": _entry(patches_channels_last, (2, 8, 9, 3), (4, 3, 3, 5)),
    "patches, channels last, w": _entry(patches_channels_last, (2, 8, 9, 3), (4, 3, 3, 5), wrt=1),
    "split": _entry(pieces, (2, 12)),
    "strided slices": _entry(lambda x: jnp.tanh(x[:, ::2]) * x[:, 1::2], (2, 12)),
    "strided slice, rest left": _entry(lambda x: jnp.tanh(x[:, 1::3]), (2, 11)),
    "rotary halves": _entry(lambda x: jnp.concatenate([-x[..., 3:], x[..., :3]], -1) * x, (2, 6)),
    "take": _entry(lambda x: jnp.tanh(x[:, np.array([2, 0, 3])]), (2, 6)),
    "first column": _entry(lambda x: jnp.tanh(x[:, 0]), (2, 6)),
    "column replaced": _entry(lambda x: x.at[:, 0].set(0) * x, (2, 6)),
    "column added": _entry(lambda x: x.at[:, np.array([1, 3])].add(2.0) * x, (2, 6)),
    "roll": _entry(lambda x: jnp.roll(x, 1, axis=1) * x, (2, 6)),
    "flip": _entry(lambda x: x[::-1] * x, (6,)),
    "powers": _entry(lambda x: x**3 + jnp.sqrt(x * x + 1) + (x * x + 2) ** 1.5, (2, 6)),
    "product": _entry(lambda x: jnp.prod(x, -1), (2, 4)),
    "tril": _entry(lambda x: jnp.tril(x) @ x, (4, 4)),
    "two results": _entry(lambda x: (jnp.tanh(x), x * x), (4, 3)),
    "equality settled": _entry(lambda x: jnp.where(x.sum() == 3.0, 2.0, 1.0) * x, (2, 3)),
    "tree of arguments": (lambda p: p["a"] @ p["b"], ({"a": arrays((3, 4))[0], "b": arrays((4, 5))[0]},), 0),
}
FORWARD_ONLY: dict[str, tuple[Callable[..., Any], tuple[Any, ...]]] = {
    "largest": (lambda x: jnp.max(x, -1), tuple(arrays((2, 6)))),
    "least": (lambda x: jnp.min(x, 0), tuple(arrays((2, 6)))),
    "relu": (jax.nn.relu, tuple(arrays((2, 6)))),
    "abs and clip": (lambda x: jnp.abs(x) + jnp.clip(x, -0.5, 0.25), tuple(arrays((2, 6)))),
}
