"""Classic wrong custom_vjp rules: each is a right rule with one mistake that has been made."""

import jax
import jax.numpy as jnp

from tests.foreign import rules
from tests.foreign.rules import ARGUMENTS, Case, ruled


def wrong(name, backward, forward=None):
    function, right_forward, _ = rules.PARTS[name]
    return Case(ruled(function, forward or right_forward, backward), ARGUMENTS[name])


def _attention(change):
    """A wrong reverse of attention; `change` is the mistake."""

    def backward(saved, d_o):
        q, k, v, o, m, z = saved
        scale = q.shape[-1] ** -0.5
        inside = 1.0 if change == "weights without scale" else scale
        p = jnp.exp(jnp.einsum("hqc,hkc->hqk", q, k) * inside - m)
        p = p if change == "weights not normalised" else p / z
        d_v = jnp.einsum("hqk,hqc->hkc", p, d_o)
        d_p = jnp.einsum("hqc,hkc->hqk", d_o, v)
        row = jnp.sum(o * d_o, axis=-1, keepdims=True)
        row = jnp.sum(p * d_p, axis=1, keepdims=True) if change == "sum over queries" else row
        row = jnp.mean(o * d_o, axis=-1, keepdims=True) if change == "mean for sum" else row
        d_s = p * d_p if change == "no row sum" else p * (d_p - row)
        d_s = d_s if change == "scale forgotten" else d_s * scale
        d_q, d_k = jnp.einsum("hqk,hkc->hqc", d_s, k), jnp.einsum("hqk,hqc->hkc", d_s, q)
        return (d_q, d_v, d_k) if change == "k and v swapped" else (d_q, d_k, d_v)

    return backward


def _layer_norm(change):
    """A wrong reverse of layer norm."""

    def backward(saved, d_y):
        hat, r, g = saved
        q = d_y if change == "g afterwards" else d_y * g
        mean, product = jnp.mean(q, axis=-1, keepdims=True), jnp.mean(hat * q, axis=-1, keepdims=True)
        d_x = r * (
            q - (0 if change == "mean kept constant" else mean) - (0 if change == "r constant" else hat * product)
        )
        d_x = d_x * g if change == "g afterwards" else d_x
        d_x = d_x * r if change == "r twice" else d_x
        d_g = jnp.sum(d_y * (hat / r if change == "not normalised" else hat), axis=0)
        return d_x, d_g, jnp.mean(d_y, axis=0) if change == "mean over the batch" else jnp.sum(d_y, axis=0)

    return backward


def _unbiased(x, g, b):
    y, (_, _, g) = rules.layer_norm_fwd(x, g, b)
    mu = jnp.mean(x, axis=-1, keepdims=True)
    r = jax.lax.rsqrt(jnp.var(x, axis=-1, keepdims=True, ddof=1) + rules.EPS)
    return y, ((x - mu) * r, r, g)


def _eps_outside(x, g, b):
    y, (_, _, g) = rules.layer_norm_fwd(x, g, b)
    mu = jnp.mean(x, axis=-1, keepdims=True)
    r = 1 / (jnp.std(x, axis=-1, keepdims=True) + rules.EPS)
    return y, ((x - mu) * r, r, g)


def _rms_eps_missing(saved, d_y):
    x, r, g = saved
    q = d_y * g
    d_x = r * (q - x * jnp.sum(q * x, axis=-1, keepdims=True) / jnp.sum(x * x, axis=-1, keepdims=True))
    return d_x, jnp.sum(d_y * x * r, axis=0)


def _rms_square(saved, d_y):
    x, r, g = saved
    q = d_y * g
    return r * q - x * r**2 * jnp.mean(q * x, axis=-1, keepdims=True), jnp.sum(d_y * x * r, axis=0)


def _gelu_erf_for_tanh(x, d_y):
    return rules.gelu_bwd(x, d_y)


def _gelu_no_density(x, d_y):
    return (d_y * 0.5 * jax.lax.erfc(-x * 0.5**0.5),)


def _gelu_short_pi(x, d_y):
    cdf = 0.5 * jax.lax.erfc(-x * 0.5**0.5)
    return (d_y * (cdf + x * jnp.exp(-0.5 * x * x) / (2 * 3.14159) ** 0.5),)


def _cubic_not_differentiated(x, d_y):
    c = (2 / jnp.pi) ** 0.5
    t = jnp.tanh(c * (x + 0.044715 * x**3))
    return (d_y * (0.5 * (1 + t) + 0.5 * x * (1 - t * t) * c * (1 + 0.044715 * x * x)),)


def _softmax_elementwise(p, d_p):
    return (p * (1 - p) * d_p,)


def _silu_as_sigmoid(saved, d_y):
    x, s = saved
    return (d_y * s * (1 - s) * x,)


def _dense_not_summed(saved, d_y):
    x, w = saved
    return d_y @ w.T, x.T @ d_y, d_y[0]


def _gated_one_branch(saved, d_y):
    _, d_w, d_v = rules.gated_bwd(saved, d_y)
    x, w, v = saved
    s = jax.nn.sigmoid(x @ w)
    return (d_y * (x @ v) * (s + x @ w * s * (1 - s))) @ w.T, d_w, d_v


def _error_not_averaged(saved, d_y):
    p, target = saved
    d_p = d_y * 2 * (p - target)
    return p * (d_p - jnp.sum(p * d_p, axis=-1, keepdims=True)), -d_p


def _attention_other_primal(q, k, v):
    o, saved = rules.attention_fwd(q, k, v)
    return o + 1e-3 * v[:, : q.shape[1]], saved


ATTENTION = ("weights without scale", "weights not normalised", "sum over queries", "mean for sum", "no row sum",
             "scale forgotten", "k and v swapped")  # fmt: skip
LAYER_NORM = ("g afterwards", "mean kept constant", "r constant", "r twice", "not normalised", "mean over the batch")
WRONG = {
    **{f"attention, {change}": wrong("attention", _attention(change)) for change in ATTENTION},
    **{f"layer norm, {change}": wrong("layer norm", _layer_norm(change)) for change in LAYER_NORM},
    "layer norm, unbiased variance": wrong("layer norm", rules.layer_norm_bwd, _unbiased),
    "layer norm, eps outside the root": wrong("layer norm", rules.layer_norm_bwd, _eps_outside),
    "rms norm, eps missing": wrong("rms norm", _rms_eps_missing),
    "rms norm, a square for a cube": wrong("rms norm", _rms_square),
    "gelu, erf slope of the tanh form": wrong("tanh gelu", _gelu_erf_for_tanh),
    "gelu, no density": wrong("gelu", _gelu_no_density),
    "gelu, a short pi": wrong("gelu", _gelu_short_pi),
    "gelu, the cube not differentiated": wrong("tanh gelu", _cubic_not_differentiated),
    "softmax, the diagonal alone": wrong("softmax", _softmax_elementwise),
    "silu, the slope of the sigmoid": wrong("silu", _silu_as_sigmoid),
    "dense, bias not summed": wrong("dense", _dense_not_summed),
    "gated, one branch": wrong("gated", _gated_one_branch),
    "squared error, not averaged": wrong("squared error", _error_not_averaged),
}
WRONG_PRIMAL = {"attention, another value": wrong("attention", rules.attention_bwd, _attention_other_primal)}
