"""Spellings of one network: pairs (forward, reverse) of JAX functions, each reverse made by JAX in some way."""

from functools import partial

import jax
import jax.numpy as jnp

from tests.foreign import vit
from tests.foreign.vit import Spelling

SPELLINGS = {
    "plain": Spelling(),
    "softmax": Spelling(attention=partial(vit.einsum_attention, softmax=jax.nn.softmax)),
    "naive softmax": Spelling(attention=partial(vit.einsum_attention, softmax=vit.naive_softmax)),
    "matmul": Spelling(attention=vit.matmul_attention, norm=vit.variance_norm, embed=vit.conv_embed),
    "dot_product_attention": Spelling(attention=vit.library_attention),
    "standardize": Spelling(norm=vit.standardize_norm),
    "moments": Spelling(norm=vit.moments_norm),
    "conv": Spelling(embed=vit.conv_embed),
    "tanh": Spelling(gelu=partial(jax.nn.gelu, approximate=True)),
    "checkpoint": Spelling(blocks="checkpoint"),
    "scan": Spelling(blocks="scan"),
}


def by_vjp(function):
    """The reverse that jax.vjp makes."""

    def reverse(params, images, d_y):
        return jax.vjp(function, params, images)[1](d_y)

    return reverse


def by_grad(function):
    """The gradient of a scalar product."""

    def reverse(params, images, d_y):
        return jax.grad(lambda p, x: jnp.vdot(d_y, function(p, x)), argnums=(0, 1))(params, images)

    return reverse


def by_linearize(function):
    """The transpose of the linearised function."""

    def reverse(params, images, d_y):
        _, push = jax.linearize(function, params, images)
        return jax.linear_transpose(push, params, images)(d_y)

    return reverse


def by_jvp(function):
    """The transpose of the forward-mode derivative."""

    def reverse(params, images, d_y):
        def push(d_params, d_images):
            return jax.jvp(function, (params, images), (d_params, d_images))[1]

        return jax.linear_transpose(push, params, images)(d_y)

    return reverse


REVERSES = {"vjp": by_vjp, "grad": by_grad, "linearize": by_linearize, "jvp": by_jvp}


def mapped(spelling):
    """The network with vmap over the batch."""

    def forward(params, images):
        return jax.vmap(lambda image: vit.logits(spelling, params, image[None])[0])(images)

    return forward
