"""Right custom_vjp rules, as people write them: the forward saves what the reverse needs, the reverse is by hand."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import ShapeDtypeStruct

EPS = 1e-5


class Case(NamedTuple):
    """A function with a rule of its own, and the shapes of its arguments."""

    function: object
    arguments: tuple


def ruled(function, forward, backward):
    """Return a new custom_vjp function."""
    rule = jax.custom_vjp(function)
    rule.defvjp(forward, backward)
    return rule


def arrays(*shapes):
    return tuple(ShapeDtypeStruct(shape, jnp.float32) for shape in shapes)


def attention(q, k, v):
    """softmax(q k^T / sqrt(c)) v, for q, k, v of shape (heads, tokens, c)."""
    s = jnp.einsum("hqc,hkc->hqk", q, k) * q.shape[-1] ** -0.5
    return jnp.einsum("hqk,hkc->hqc", jax.nn.softmax(s), v)


def attention_fwd(q, k, v):
    s = jnp.einsum("hqc,hkc->hqk", q, k) * q.shape[-1] ** -0.5
    m = jnp.max(s, axis=-1, keepdims=True)
    e = jnp.exp(s - m)
    z = jnp.sum(e, axis=-1, keepdims=True)
    o = jnp.einsum("hqk,hkc->hqc", e, v) / z
    return o, (q, k, v, o, m, z)


def attention_bwd(saved, d_o):
    """The reverse of flash attention: the weights again, and rowsum(p * d_p) as rowsum(o * d_o)."""
    q, k, v, o, m, z = saved
    scale = q.shape[-1] ** -0.5
    p = jnp.exp(jnp.einsum("hqc,hkc->hqk", q, k) * scale - m) / z
    d_v = jnp.einsum("hqk,hqc->hkc", p, d_o)
    d_p = jnp.einsum("hqc,hkc->hqk", d_o, v)
    d_s = p * (d_p - jnp.sum(o * d_o, axis=-1, keepdims=True)) * scale
    return jnp.einsum("hqk,hkc->hqc", d_s, k), jnp.einsum("hqk,hqc->hkc", d_s, q), d_v


def layer_norm(x, g, b):
    """Layer norm of the rows of x (n, d)."""
    mu = jnp.mean(x, axis=-1, keepdims=True)
    return (x - mu) / jnp.sqrt(jnp.var(x, axis=-1, keepdims=True) + EPS) * g + b


def layer_norm_fwd(x, g, b):
    mu = jnp.mean(x, axis=-1, keepdims=True)
    r = jax.lax.rsqrt(jnp.mean(jnp.square(x - mu), axis=-1, keepdims=True) + EPS)
    hat = (x - mu) * r
    return hat * g + b, (hat, r, g)


def layer_norm_bwd(saved, d_y):
    hat, r, g = saved
    q = d_y * g
    d_x = r * (q - jnp.mean(q, axis=-1, keepdims=True) - hat * jnp.mean(hat * q, axis=-1, keepdims=True))
    return d_x, jnp.sum(d_y * hat, axis=0), jnp.sum(d_y, axis=0)


def rms_norm(x, g):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + EPS) * g


def rms_norm_fwd(x, g):
    r = jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + EPS)
    return x * r * g, (x, r, g)


def rms_norm_bwd(saved, d_y):
    x, r, g = saved
    q = d_y * g
    d_x = r * q - x * r**3 * jnp.mean(q * x, axis=-1, keepdims=True)
    return d_x, jnp.sum(d_y * x * r, axis=0)


def softmax(x):
    return jax.nn.softmax(x, axis=-1)


def softmax_fwd(x):
    p = softmax(x)
    return p, p


def softmax_bwd(p, d_p):
    return (p * (d_p - jnp.sum(p * d_p, axis=-1, keepdims=True)),)


def gelu(x):
    return jax.nn.gelu(x, approximate=False)


def gelu_fwd(x):
    return gelu(x), x


def gelu_bwd(x, d_y):
    cdf = 0.5 * jax.lax.erfc(-x * 0.5**0.5)
    return (d_y * (cdf + x * jnp.exp(-0.5 * x * x) / jnp.sqrt(2 * jnp.pi)),)


def tanh_gelu(x):
    return jax.nn.gelu(x, approximate=True)


def tanh_gelu_fwd(x):
    return tanh_gelu(x), x


def tanh_gelu_bwd(x, d_y):
    c = (2 / jnp.pi) ** 0.5
    t = jnp.tanh(c * (x + 0.044715 * x**3))
    return (d_y * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 3 * 0.044715 * x * x)),)


def silu(x):
    return x * jax.nn.sigmoid(x)


def silu_fwd(x):
    s = jax.nn.sigmoid(x)
    return x * s, (x, s)


def silu_bwd(saved, d_y):
    x, s = saved
    return (d_y * s * (1 + x * (1 - s)),)


def dense(x, w, b):
    return x @ w + b


def dense_fwd(x, w, b):
    return dense(x, w, b), (x, w)


def dense_bwd(saved, d_y):
    x, w = saved
    return d_y @ w.T, x.T @ d_y, d_y.sum(0)


def squared_error(x, target):
    """The mean square of softmax(x) - target."""
    return jnp.mean(jnp.square(jax.nn.softmax(x) - target))


def squared_error_fwd(x, target):
    p = jax.nn.softmax(x)
    return jnp.mean(jnp.square(p - target)), (p, target)


def squared_error_bwd(saved, d_y):
    p, target = saved
    d_p = d_y * 2 / p.size * (p - target)
    return p * (d_p - jnp.sum(p * d_p, axis=-1, keepdims=True)), -d_p


def gated(x, w, v):
    """SwiGLU: silu(x w) * (x v)."""
    return silu(x @ w) * (x @ v)


def gated_fwd(x, w, v):
    return gated(x, w, v), (x, w, v)


def gated_bwd(saved, d_y):
    x, w, v = saved
    a, b = x @ w, x @ v
    s = jax.nn.sigmoid(a)
    d_a, d_b = d_y * b * (s + a * s * (1 - s)), d_y * a * s
    return d_a @ w.T + d_b @ v.T, x.T @ d_a, x.T @ d_b


ARGUMENTS = {
    "attention": arrays((2, 5, 3), (2, 7, 3), (2, 7, 3)),
    "layer norm": arrays((3, 7), (7,), (7,)),
    "rms norm": arrays((3, 7), (7,)),
    "softmax": arrays((3, 5)),
    "gelu": arrays((3, 5)),
    "tanh gelu": arrays((3, 5)),
    "silu": arrays((3, 5)),
    "dense": arrays((3, 5), (5, 7), (7,)),
    "squared error": arrays((3, 5), (3, 5)),
    "gated": arrays((3, 5), (5, 7), (5, 7)),
}
PARTS = {
    "attention": (attention, attention_fwd, attention_bwd),
    "layer norm": (layer_norm, layer_norm_fwd, layer_norm_bwd),
    "rms norm": (rms_norm, rms_norm_fwd, rms_norm_bwd),
    "softmax": (softmax, softmax_fwd, softmax_bwd),
    "gelu": (gelu, gelu_fwd, gelu_bwd),
    "tanh gelu": (tanh_gelu, tanh_gelu_fwd, tanh_gelu_bwd),
    "silu": (silu, silu_fwd, silu_bwd),
    "dense": (dense, dense_fwd, dense_bwd),
    "squared error": (squared_error, squared_error_fwd, squared_error_bwd),
    "gated": (gated, gated_fwd, gated_bwd),
}
RIGHT = {name: Case(ruled(*parts), ARGUMENTS[name]) for name, parts in PARTS.items()}


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def scaled(x, factor):
    """A rule with an argument that is not differentiated."""
    return x * factor


def _scaled_bwd(factor, _saved, d_y):
    return (d_y * factor,)


scaled.defvjp(lambda x, factor: (x * factor, None), _scaled_bwd)
