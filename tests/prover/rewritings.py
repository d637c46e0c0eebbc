"""Correct rewritings: two ways to write one function, in the declared subset; each pair must be proved equal."""

import math

from vjproof.layers import gelu, layer_norm, patch_embed
from vjproof.layers.array import erf, erfc, logistic, namespace

V = {"x": ("B", "n"), "y": ("B", "n"), "z": ("B", "n")}
M = {"a": ("B", "n"), "b": ("n", "m"), "c": ("m", "k"), "e": ("n", "m")}
Q = {"q": ("h", "r", "c"), "k": ("h", "s", "c"), "v": ("h", "s", "c")}
LN = {"x": ("B", "n"), "g": ("n",), "s": ("n",), "eps": (), "d": ("B", "n")}
FUSED = {"x": ("B", "h*c"), "wq": ("h*c", "h*c"), "wk": ("h*c", "h*c"), "wv": ("h*c", "h*c")}
ROOT, HALF = math.sqrt(2 / math.pi), math.sqrt(0.5)


def xp(x):
    return namespace(x)


def total(x):
    return xp(x).sum(x, axis=-1, keepdims=True)


def mean(x):
    return xp(x).mean(x, axis=-1, keepdims=True)


def top(x):
    return xp(x).max(x, axis=-1, keepdims=True)


def t(x):
    return xp(x).matrix_transpose(x)


def exp(x):
    return xp(x).exp(x)


def tanh(x):
    return xp(x).tanh(x)


def softmax(x):
    return exp(x) / total(exp(x))


def shifted(x, by=top):
    e = exp(x - by(x))
    return e / total(e)


def var(x):
    return mean((x - mean(x)) * (x - mean(x)))


def reciprocal(x, eps):
    return 1.0 / xp(x).sqrt(var(x) + eps)


def norm(x, g, s, eps, d):
    return g * ((x - mean(x)) * reciprocal(x, eps)) + s


def norm_back(x, g, s, eps, d):
    return layer_norm.pullback(g, layer_norm.normalise(eps, x), d)


def textbook(x, g, s, eps, d):
    r, n = reciprocal(x, eps), x.shape[-1]
    q, xh = g * d, (x - mean(x)) * r
    return (r / n) * (n * q - total(q) - xh * total(xh * q))


def three_terms(x, g, s, eps, d):
    """Through the variance and the mean, as frameworks write it."""
    r, q, c = reciprocal(x, eps), g * d, x - mean(x)
    d_var = total(q * c) * (-0.5) * r * r * r
    d_mean = -total(q) * r + d_var * (-2.0) * mean(c)
    return q * r + d_var * 2.0 * c / x.shape[-1] + d_mean / x.shape[-1]


def attend(q, k, v, soft=softmax):
    return soft((q @ t(k)) * q.shape[-1] ** -0.5) @ v


def cubic(x):
    return ROOT * (x + 0.044715 * x * x * x)


def back_through(p, d):
    return p * (d - total(p * d))


def jacobian(x, y, z):
    """(diag p - p p^T) y, the matrix made whole."""
    p, (b, n) = softmax(x), x.shape
    column, row = xp(x).reshape(p, (b, n, 1)), xp(x).reshape(p, (b, 1, n))
    outer = xp(x).matmul(column, row)
    return p * y - xp(x).reshape(outer @ xp(x).reshape(y, (b, n, 1)), (b, n))


def thirds(x, *weights):
    joined = x @ xp(x).concat(list(weights), axis=-1)
    width = x.shape[-1]
    return joined[..., :width], joined[..., width : width + width], joined[..., width + width :]


def heads(x, h, c):
    return xp(x).permute_dims(xp(x).reshape(x, (x.shape[0], h, c)), (1, 0, 2))


# name: (shapes, left, right)
ALGEBRA = {
    "sums in another order": (V, lambda x, y, z: (x + y) + z, lambda x, y, z: z + (y + x)),
    "products in another order": (V, lambda x, y, z: (x * y) * z, lambda x, y, z: x * (z * y)),
    "distributed": (V, lambda x, y, z: x * (y + z), lambda x, y, z: x * y + x * z),
    "square of a difference": (V, lambda x, y, z: (x - y) * (x - y), lambda x, y, z: x * x - 2 * x * y + y * y),
    "difference of squares": (V, lambda x, y, z: (x - y) * (x + y), lambda x, y, z: x * x - y * y),
    "minus as a product": (V, lambda x, y, z: x - y, lambda x, y, z: x + (-1.0) * y),
    "signs moved": (V, lambda x, y, z: -(x - y) * z, lambda x, y, z: (y - x) * z),
    "division as a product": (V, lambda x, y, z: x / (1 + exp(y)), lambda x, y, z: x * (1 / (1 + exp(y)))),
    "1 / (Z Z)": (
        V,
        lambda x, y, z: x / (total(exp(y)) * total(exp(y))),
        lambda x, y, z: x / total(exp(y)) / total(exp(y)),
    ),
    "one fraction": (V, lambda x, y, z: x / total(exp(y)) + y / total(exp(y)), lambda x, y, z: (x + y) / total(exp(y))),
    "a scale taken out of a quotient": (
        V,
        lambda x, y, z: (3.0 * x) / (3.0 * total(exp(y))),
        lambda x, y, z: x / total(exp(y)),
    ),
    "scalars merged": (V, lambda x, y, z: 0.5 * (4.0 * (x * 0.25)), lambda x, y, z: 0.5 * x),
    "mean as a sum over the size": (V, lambda x, y, z: mean(x) * y, lambda x, y, z: total(x) / x.shape[-1] * y),
    "mean of a mean": (V, lambda x, y, z: mean(mean(x) + y), lambda x, y, z: mean(x) + mean(y)),
    "centred data have mean 0": (V, lambda x, y, z: y + mean(x - mean(x)), lambda x, y, z: y + 0 * x),
    "a sum of a constant": (V, lambda x, y, z: total(mean(x) + 0 * x) + 0 * x, lambda x, y, z: total(x) + 0 * x),
    "E[x^2] - mu^2": (V, lambda x, y, z: var(x) + 0 * x, lambda x, y, z: mean(x * x) - mean(x) * mean(x) + 0 * x),
    "covariance": (
        V,
        lambda x, y, z: mean((x - mean(x)) * (y - mean(y))) + 0 * x,
        lambda x, y, z: mean(x * y) - mean(x) * mean(y) + 0 * x,
    ),
    "root of a product": (
        V,
        lambda x, y, z: xp(x).sqrt(exp(x) * exp(y)),
        lambda x, y, z: xp(x).sqrt(exp(x)) * xp(x).sqrt(exp(y)),
    ),
    "root as an exponential": (V, lambda x, y, z: xp(x).sqrt(exp(x)), lambda x, y, z: exp(0.5 * x)),
    "exponential of a sum": (V, lambda x, y, z: exp(x + y), lambda x, y, z: exp(x) * exp(y)),
    "exponential of a difference": (V, lambda x, y, z: exp(x - y), lambda x, y, z: exp(x) / exp(y)),
}
FUNCTIONS = {
    "erfc for 1 - erf": (V, lambda x, y, z: erfc(x), lambda x, y, z: 1 - erf(x)),
    "erf is odd": (V, lambda x, y, z: erf(-x), lambda x, y, z: -erf(x)),
    "erfc of the negative": (V, lambda x, y, z: erfc(-x), lambda x, y, z: 2 - erfc(x)),
    "tanh by the logistic": (V, lambda x, y, z: tanh(x), lambda x, y, z: 2 * logistic(2 * x) - 1),
    "tanh by exponentials": (V, lambda x, y, z: tanh(x), lambda x, y, z: (exp(x) - exp(-x)) / (exp(x) + exp(-x))),
    "tanh is odd": (V, lambda x, y, z: tanh(-x), lambda x, y, z: -tanh(x)),
    "logistic by exp(-x)": (V, lambda x, y, z: logistic(x), lambda x, y, z: 1 / (1 + exp(-x))),
    "logistic by exp(x)": (V, lambda x, y, z: logistic(x), lambda x, y, z: exp(x) / (1 + exp(x))),
    "logistic of the negative": (V, lambda x, y, z: logistic(-x), lambda x, y, z: 1 - logistic(x)),
    "slope of tanh: 1 - t^2": (
        V,
        lambda x, y, z: 1 - tanh(x) * tanh(x),
        lambda x, y, z: 4 / ((exp(x) + exp(-x)) * (exp(x) + exp(-x))),
    ),
    "slope of tanh: factors": (V, lambda x, y, z: 1 - tanh(x) * tanh(x), lambda x, y, z: (1 - tanh(x)) * (1 + tanh(x))),
    "slope of tanh: logistic": (
        V,
        lambda x, y, z: 1 - tanh(x) * tanh(x),
        lambda x, y, z: 4 * logistic(2 * x) * (1 - logistic(2 * x)),
    ),
    "slope of the logistic": (
        V,
        lambda x, y, z: logistic(x) * (1 - logistic(x)),
        lambda x, y, z: exp(-x) / ((1 + exp(-x)) * (1 + exp(-x))),
    ),
    "gelu by 1 + erf": (V, lambda x, y, z: gelu.forward("erf", x)[0], lambda x, y, z: 0.5 * x * (1 + erf(x * HALF))),
    "gelu by x / sqrt 2": (
        V,
        lambda x, y, z: gelu.forward("erf", x)[0],
        lambda x, y, z: x * (1 + erf(x / math.sqrt(2.0))) / 2,
    ),
    "gelu by tanh": (V, lambda x, y, z: gelu.forward("tanh", x)[0], lambda x, y, z: 0.5 * x * (1 + tanh(cubic(x)))),
    "slope of gelu by erf": (
        V,
        lambda x, y, z: gelu.forward("erf", x)[1].slope,
        lambda x, y, z: 0.5 * (1 + erf(HALF * x)) + x * exp(-x * x / 2) / math.sqrt(2 * math.pi),
    ),
    "slope of gelu by tanh": (
        V,
        lambda x, y, z: gelu.forward("tanh", x)[1].slope,
        lambda x, y, z: (
            0.5 * (1 + tanh(cubic(x)))
            + 0.5 * x * (1 - tanh(cubic(x)) * tanh(cubic(x))) * ROOT * (1 + 3 * 0.044715 * x * x)
        ),
    ),
    "silu": (V, lambda x, y, z: x * logistic(x), lambda x, y, z: x / (1 + exp(-x))),
    "slope of silu": (
        V,
        lambda x, y, z: logistic(x) + x * logistic(x) * (1 - logistic(x)),
        lambda x, y, z: logistic(x) * (1 + x * (1 - logistic(x))),
    ),
}
SOFTMAX = {
    "shifted by the row's maximum": (V, lambda x, y, z: softmax(x), lambda x, y, z: shifted(x)),
    "shifted by the row's mean": (V, lambda x, y, z: softmax(x), lambda x, y, z: shifted(x, mean)),
    "shifted by a maximum and a mean": (V, lambda x, y, z: shifted(x), lambda x, y, z: shifted(x, mean)),
    "one row's constant added": (V, lambda x, y, z: softmax(x + mean(y)), lambda x, y, z: softmax(x)),
    "normalised once more": (V, lambda x, y, z: softmax(x) / total(softmax(x)), lambda x, y, z: softmax(x)),
    "reciprocal first": (V, lambda x, y, z: softmax(x), lambda x, y, z: exp(x) * (1 / total(exp(x)))),
    "reverse by diag p - p p^T": (V, lambda x, y, z: back_through(softmax(x), y), jacobian),
    "reverse shifted and not": (
        V,
        lambda x, y, z: back_through(shifted(x), y),
        lambda x, y, z: softmax(x) * y - softmax(x) * total(softmax(x) * y),
    ),
    "reverse from exponentials": (
        V,
        lambda x, y, z: back_through(softmax(x), y),
        lambda x, y, z: exp(x) * (y / total(exp(x)) - total(exp(x) * y) / (total(exp(x)) * total(exp(x)))),
    ),
    "rows of probabilities sum to 1": (V, lambda x, y, z: total(softmax(x)) * y, lambda x, y, z: 1.0 * y),
}
NORMS = {
    "variance by E[x^2] - mu^2": (
        LN, norm, lambda x, g, s, eps, d: g * (x - mean(x)) / xp(x).sqrt(mean(x * x) - mean(x) * mean(x) + eps) + s
    ),
    "scale inside": (LN, norm, lambda x, g, s, eps, d: (g * reciprocal(x, eps)) * x - (g * reciprocal(x, eps)) * mean(x) + s),
    "reverse: textbook": (LN, norm_back, textbook),
    "reverse: three terms": (LN, norm_back, three_terms),
    "reverse: r^3": (LN, norm_back, lambda x, g, s, eps, d: reciprocal(x, eps) * (g * d - mean(g * d)) - reciprocal(x, eps)
                     * reciprocal(x, eps) * reciprocal(x, eps) * (x - mean(x)) * mean((x - mean(x)) * g * d)),
    "RMS norm": (
        LN, lambda x, g, s, eps, d: g * x / xp(x).sqrt(mean(x * x) + eps),
        lambda x, g, s, eps, d: x * (1.0 / xp(x).sqrt(total(x * x) / x.shape[-1] + eps)) * g,
    ),
    "two norms' scales merged": (LN, lambda x, g, s, eps, d: (norm(x, g, s, eps, d) - s) * g, lambda x, g, s, eps, d: norm(
        x, g * g, s, eps, d) - s),
}  # fmt: skip
PRODUCTS = {
    "(A B) C": (M, lambda a, b, c, e: (a @ b) @ c, lambda a, b, c, e: a @ (b @ c)),
    "A (B + E)": (M, lambda a, b, c, e: a @ (b + e), lambda a, b, c, e: a @ b + a @ e),
    "(B^T A^T)^T": (M, lambda a, b, c, e: a @ b, lambda a, b, c, e: t(t(b) @ t(a))),
    "a scale on either side": (M, lambda a, b, c, e: (2.0 * a) @ b, lambda a, b, c, e: a @ (b * 2.0)),
    "a product as a sum": (
        M,
        lambda a, b, c, e: a @ b,
        lambda a, b, c, e: xp(a).sum(xp(a).reshape(a, (*a.shape, 1)) * b, axis=1),
    ),
    "trace of a product": (
        M,
        lambda a, b, c, e: xp(a).sum(b * e) + 0 * a,
        lambda a, b, c, e: (
            xp(a).sum(xp(a).reshape(b, (b.shape[0] * b.shape[1],)) * xp(a).reshape(e, (b.shape[0] * b.shape[1],)))
            + 0 * a
        ),
    ),
    "qkv in one product": (FUSED, lambda x, wq, wk, wv: (x @ wq, x @ wk, x @ wv), thirds),
    "reverse of qkv in one product": (
        FUSED,
        lambda x, wq, wk, wv: (x @ t(wq)) + (x @ t(wk)) + (x @ t(wv)),
        lambda x, wq, wk, wv: xp(x).concat([x, x, x], axis=-1) @ t(xp(x).concat([wq, wk, wv], axis=-1)),
    ),
}
ATTENTION = {
    "scale on the queries": (Q, attend, lambda q, k, v: softmax((q * q.shape[-1] ** -0.5) @ t(k)) @ v),
    "scale on the keys": (Q, attend, lambda q, k, v: softmax(q @ t(k * q.shape[-1] ** -0.5)) @ v),
    "half the scale on each": (
        Q,
        attend,
        lambda q, k, v: softmax((q * q.shape[-1] ** -0.25) @ t(k * q.shape[-1] ** -0.25)) @ v,
    ),
    "normalised after the product": (
        Q,
        attend,
        lambda q, k, v: (exp((q @ t(k)) * q.shape[-1] ** -0.5) @ v) / total(exp((q @ t(k)) * q.shape[-1] ** -0.5)),
    ),
    "shifted": (Q, attend, lambda q, k, v: attend(q, k, v, shifted)),
    "transposed layout": (Q, attend, lambda q, k, v: t(t(v) @ t(softmax((q @ t(k)) * q.shape[-1] ** -0.5)))),
    "keys shifted by a common row": (
        Q,
        attend,
        lambda q, k, v: attend(q, k - xp(k).mean(k, axis=-2, keepdims=True), v),
    ),
    "batch folded into rows": (
        {"x": ("B", "r", "n"), "w": ("n", "m")},
        lambda x, w: x @ w,
        lambda x, w: xp(x).reshape(
            xp(x).reshape(x, (x.shape[0] * x.shape[1], x.shape[2])) @ w, (*x.shape[:2], w.shape[1])
        ),
    ),
    "heads split before and after": (
        {"x": ("N", "n"), "w": ("n", "h*c"), "u": ("h", "c")},
        lambda x, w, u: heads(x @ w, *u.shape),
        lambda x, w, u: xp(x).matmul(x, xp(x).permute_dims(xp(x).reshape(w, (w.shape[0], *u.shape)), (1, 0, 2))),
    ),
}
LAYOUT = {
    "slice of a concatenation": (
        V,
        lambda x, y, z: xp(x).concat([x, y], axis=-1)[..., : x.shape[-1]],
        lambda x, y, z: 1 * x,
    ),
    "concatenation of functions": (
        V,
        lambda x, y, z: exp(xp(x).concat([x, y], axis=-1)),
        lambda x, y, z: xp(x).concat([exp(x), exp(y)], axis=-1),
    ),
    "sum over a concatenation": (
        V,
        lambda x, y, z: total(xp(x).concat([x, y], axis=-1)) * z,
        lambda x, y, z: (total(x) + total(y)) * z,
    ),
    "concatenations nested": (
        V,
        lambda x, y, z: xp(x).concat([xp(x).concat([x, y], axis=-1), z], axis=-1),
        lambda x, y, z: xp(x).concat([x, xp(x).concat([y, z], axis=-1)], axis=-1),
    ),
    "product with a concatenation": (
        {"x": ("B", "n"), "y": ("B", "m"), "w": ("n", "k"), "u": ("m", "k")},
        lambda x, y, w, u: xp(x).concat([x, y], axis=-1) @ xp(x).concat([w, u], axis=0),
        lambda x, y, w, u: x @ w + y @ u,
    ),
    "transposed twice": (V, lambda x, y, z: t(t(x) + t(y)), lambda x, y, z: x + y),
    "sum in two steps": (
        {"x": ("B", "r", "n")},
        lambda x: xp(x).sum(x, axis=(1, 2)),
        lambda x: xp(x).sum(xp(x).sum(x, axis=1), axis=1),
    ),
    "patches by a product of four axes": (
        {"x": ("C", "r*P", "s*P"), "w": ("D", "C", "P", "P")},
        lambda x, w: patch_embed.patches(x, w.shape[-1]) @ patch_embed.flat_weight(w),
        lambda x, w: _conv(x, w),
    ),
    "residuals in another order": (V, lambda x, y, z: x + (exp(y) + (z + x)), lambda x, y, z: (x + x) + (z + exp(y))),
}
REWRITINGS = ALGEBRA | FUNCTIONS | SOFTMAX | NORMS | PRODUCTS | ATTENTION | LAYOUT


def _conv(x, w):
    """Return the patch embedding with the patch's own axes in the order i, j, c."""
    d, c, p, _ = w.shape
    rows, columns = x.shape[1] // p, x.shape[2] // p
    cut = xp(x).permute_dims(xp(x).reshape(x, (c, rows, p, columns, p)), (1, 3, 2, 4, 0))
    kernel = xp(x).permute_dims(w, (2, 3, 1, 0))
    return xp(x).reshape(cut, (rows * columns, p * p * c)) @ xp(x).reshape(kernel, (p * p * c, d))
