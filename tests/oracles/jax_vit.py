"""A Vision Transformer in plain JAX, with its gradient by jax.vjp."""

import jax
import jax.numpy as jnp
import numpy as np


def norm(x, scale, bias, eps):
    """Return the layer norm of x on its last axis."""
    centre = x - jnp.average(x, axis=-1)[..., None]
    return centre / jnp.sqrt(jnp.var(x, axis=-1)[..., None] + eps) * scale + bias


def attend(x, p, heads):
    """Return multi-head self-attention of x (B, n, D)."""
    width = x.shape[-1] // heads
    w_q, w_k, w_v = (w.reshape(-1, heads, width) for w in (p.w_q, p.w_k, p.w_v))
    b_q, b_k, b_v = (b.reshape(heads, width) for b in (p.b_q, p.b_k, p.b_v))
    q, k, v = (jnp.einsum("bnd,dhe->bnhe", x, w) + b for w, b in ((w_q, b_q), (w_k, b_k), (w_v, b_v)))
    weights = jax.nn.softmax(jnp.einsum("bmhe,bnhe->bhmn", q, k) / np.sqrt(width), axis=-1)
    return jnp.einsum("bhmn,bnhe,hed->bmd", weights, v, p.w_o.reshape(heads, width, -1)) + p.b_o


def logits(config, params, images):
    """Return logits (B, K) for images (B, C, H, W)."""
    patch, eps = (config.patch, config.patch), config.eps
    grid = jax.lax.conv_general_dilated(images, params.patch_weight, patch, "VALID", precision="highest")
    tokens = jnp.einsum("bdrc->brcd", grid).reshape(len(images), -1, config.hidden) + params.patch_bias
    prefix = jnp.tile(params.prefix[None], (len(images), 1, 1))
    x = jnp.hstack([prefix, tokens]) + params.position
    for p in params.blocks:
        branch = attend(norm(x, p.norm1_scale, p.norm1_bias, eps), p, config.heads)
        x = x + (branch if p.scale1 is None else branch * p.scale1)
        hidden = norm(x, p.norm2_scale, p.norm2_bias, eps) @ p.w_1 + p.b_1
        branch = jax.nn.gelu(hidden, approximate=config.gelu == "tanh") @ p.w_2 + p.b_2
        x = x + (branch if p.scale2 is None else branch * p.scale2)
    if config.pooling == "mean":
        x = jnp.average(x[:, config.prefix :], axis=1)[:, None]
    x = norm(x, params.norm_scale, params.norm_bias, eps)
    if config.pooling == "norm-mean":
        x = jnp.average(x[:, config.prefix :], axis=1)[:, None]
    rows = [x[:, r] for r in range(config.readout if config.pooling == "cls" else 1)]
    return jnp.hstack(rows) @ params.w_head + params.b_head


def logits_and_gradient(config, params, images, d_logits):
    """Return NumPy logits and input gradient in float64; 64-bit mode is on inside this call only."""

    def both(params, images, d_logits):
        values, back = jax.vjp(lambda x: logits(config, params, x), images)
        return values, *back(d_logits)

    with jax.enable_x64(True):
        # Unoptimised code compiles in half the time, and differentiates as well.
        compiled = jax.jit(both, compiler_options={"xla_backend_optimization_level": 0})
        return tuple(np.asarray(a) for a in compiled(params, images, d_logits))
