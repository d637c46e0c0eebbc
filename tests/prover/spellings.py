"""Functions that the rewritings are made of, in the declared subset, and the shapes of their inputs."""

import math

from vjproof.layers import layer_norm
from vjproof.layers.array import namespace

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


def scale_inside(x, g, s, eps, d):
    factor = g * reciprocal(x, eps)
    return factor * x - factor * mean(x) + s


def by_cubes(x, g, s, eps, d):
    r, q, c = reciprocal(x, eps), g * d, x - mean(x)
    return r * (q - mean(q)) - r * r * r * c * mean(c * q)


def convolution(x, w):
    """Return the patch embedding with the patch's own axes in the order i, j, c."""
    d, c, p, _ = w.shape
    rows, columns = x.shape[1] // p, x.shape[2] // p
    cut = xp(x).permute_dims(xp(x).reshape(x, (c, rows, p, columns, p)), (1, 3, 2, 4, 0))
    kernel = xp(x).permute_dims(w, (2, 3, 1, 0))
    return xp(x).reshape(cut, (rows * columns, p * p * c)) @ xp(x).reshape(kernel, (p * p * c, d))
