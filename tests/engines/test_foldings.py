"""What the torch engine rewrites, as theorems: for all sizes, over the real numbers."""

import pytest
from array_api_compat import array_namespace

from vjproof import prove_equal, prove_vjp
from vjproof.layers import attention, dense, layer_norm, softmax

ROWS = {"x": ("B", "n", "D")}
NORM = ROWS | {"g": ("D",), "b": ("D",), "w": ("D", "M"), "c": ("M",), "eps": ()}
SCALED = {"x": ("B", "n", "M"), "w": ("M", "D"), "c": ("D",), "s": ("D",)}
HEADS = {"q": ("h", "m", "e"), "k": ("h", "n", "e"), "v": ("h", "n", "e")}
BIASED = {"q": ("m", "e"), "k": ("n", "e"), "v": ("n", "e"), "b_k": ("e",), "b_v": ("e",), "w": ("e", "D"), "c": ("D",)}
SHORT = {"x": ("n", "D"), "q": ("m", "e"), "w_k": ("D", "e"), "b_k": ("e",), "w_v": ("D", "e"), "b_v": ("e",)}


def t(x):
    return array_namespace(x).matrix_transpose(x)


def column(g):
    return array_namespace(g).reshape(g, (g.shape[0], 1))


def weights(x, q, w_k):
    return softmax.forward(((q * q.shape[-1] ** -0.5) @ t(w_k)) @ t(x))[0]


def short(x, q, w_k, b_k, w_v, b_v):
    return (weights(x, q, w_k) @ x) @ w_v + b_v


def short_back(d_o, x, q, w_k, b_k, w_v, b_v):
    """The cotangents of the rows x, through keys and values, and of the queries."""
    scale = q.shape[-1] ** -0.5
    p, through_values = weights(x, q, w_k), d_o @ t(w_v)
    d_scores = softmax.pullback(softmax.Saved(p), through_values @ t(x))
    d_x = t(p) @ through_values + t(d_scores) @ ((q * scale) @ t(w_k))
    return d_x, ((d_scores @ x) @ w_k) * scale


def literal(x, q, w_k, b_k, w_v, b_v):
    return attention.forward(q, dense.forward(w_k, b_k, x), dense.forward(w_v, b_v, x))


def scores_first(q, k, v):
    return softmax.forward((q * q.shape[-1] ** -0.5) @ t(k))[0] @ v


def centred(x):
    return x - array_namespace(x).mean(x, axis=-1, keepdims=True)


def by_length(eps, x):
    """The norm of rows whose mean is 0."""
    xp = array_namespace(x)
    return x / xp.sqrt(xp.mean(x * x, axis=-1, keepdims=True) + eps)


FOLDINGS = {
    "a norm's scale and bias in the dense layer after it": (
        NORM,
        lambda x, g, b, w, c, eps: dense.forward(w, c, layer_norm.forward(g, b, eps, x)[0]),
        lambda x, g, b, w, c, eps: layer_norm.normalise(eps, x).normalised @ (column(g) * w) + (b @ w + c),
    ),
    "the reverse of that": (
        {"d": ("n", "M"), "g": ("D",), "w": ("D", "M")},
        lambda d, g, w: g * dense.pullback(w, d),
        lambda d, g, w: dense.pullback(column(g) * w, d),
    ),
    "LayerScale in the dense layer before it": (
        SCALED, lambda x, w, c, s: s * dense.forward(w, c, x), lambda x, w, c, s: dense.forward(w * s, s * c, x)
    ),
    "the softmax scale on the queries": (HEADS, lambda q, k, v: attention.forward(q, k, v)[0], scores_first),
    "no bias for keys, and the values' in the dense layer after them": (
        BIASED,
        lambda q, k, v, b_k, b_v, w, c: dense.forward(w, c, attention.forward(q, k + b_k, v + b_v)[0]),
        lambda q, k, v, b_k, b_v, w, c: attention.forward(q, k, v)[0] @ w + (b_v @ w + c),
    ),
    "a norm of centred rows subtracts no mean": (
        {"x": ("B", "n", "D"), "eps": ()},
        lambda x, eps: layer_norm.normalise(eps, x).normalised,
        lambda x, eps: by_length(eps, centred(x)),
    ),
    "centring in the dense layer before it": (
        {"x": ("n", "M"), "w": ("M", "D"), "c": ("D",)},
        lambda x, w, c: centred(dense.forward(w, c, x)),
        lambda x, w, c: dense.forward(centred(w), centred(c), x),
    ),
    "a reverse through centred constants loses no mean": (
        {"d": ("n", "D"), "w": ("M", "D")},
        lambda d, w: dense.pullback(centred(w), d),
        lambda d, w: dense.pullback(centred(w), centred(d)),
    ),
    "few queries, no keys and no values": (SHORT, lambda *a: literal(*a)[0], short),
}  # fmt: skip


@pytest.mark.parametrize("name", FOLDINGS)
def test_the_rewriting_is_a_theorem(name):
    shapes, left, right = FOLDINGS[name]
    assert prove_equal(left, right, shapes, positive=["eps"] if "eps" in shapes else []).status == "proved"


def test_its_reverse_is_a_theorem():
    assert prove_vjp(short, short_back, SHORT, wrt=["x", "q"], cotangent="d_o").status == "proved"


def test_a_wrong_rewriting_is_refuted():
    """The red control: values without their bias."""

    def wrong(x, q, w_k, b_k, w_v, b_v):
        return short(x, q, w_k, b_k, w_v, b_v) - b_v

    assert prove_equal(lambda *a: literal(*a)[0], wrong, SHORT).status == "refuted"


def test_centring_the_other_axis_is_refuted():
    shapes, left, _ = FOLDINGS["centring in the dense layer before it"]

    def wrong(x, w, c):
        return dense.forward(t(centred(t(w))), centred(c), x)

    assert prove_equal(left, wrong, shapes).status == "refuted"
