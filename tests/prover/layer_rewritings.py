"""Correct rewritings of norms, products, attention and layouts."""

from tests.prover.spellings import (
    FUSED,
    LN,
    M,
    Q,
    V,
    attend,
    by_cubes,
    convolution,
    exp,
    heads,
    mean,
    norm,
    norm_back,
    scale_inside,
    shifted,
    softmax,
    t,
    textbook,
    thirds,
    three_terms,
    total,
    xp,
)
from vjproof.layers import patch_embed

# name: (shapes, left, right)
NORMS = {
    "variance by E[x^2] - mu^2": (
        LN, norm, lambda x, g, s, eps, d: g * (x - mean(x)) / xp(x).sqrt(mean(x * x) - mean(x) * mean(x) + eps) + s
    ),
    "scale inside": (LN, norm, scale_inside),
    "reverse: textbook": (LN, norm_back, textbook),
    "reverse: three terms": (LN, norm_back, three_terms),
    "reverse: r^3": (LN, norm_back, by_cubes),
    "RMS norm": (
        LN, lambda x, g, s, eps, d: g * x / xp(x).sqrt(mean(x * x) + eps),
        lambda x, g, s, eps, d: x * (1.0 / xp(x).sqrt(total(x * x) / x.shape[-1] + eps)) * g,
    ),
    "two norms' scales merged": (
        LN, lambda x, g, s, eps, d: (norm(x, g, s, eps, d) - s) * g,
        lambda x, g, s, eps, d: norm(x, g * g, s, eps, d) - s,
    ),
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
        lambda x, w: convolution(x, w),
    ),
    "residuals in another order": (V, lambda x, y, z: x + (exp(y) + (z + x)), lambda x, y, z: (x + x) + (z + exp(y))),
}
LAYERS = NORMS | PRODUCTS | ATTENTION | LAYOUT
