"""Theorems about single layers: dense, GELU, layer norm, softmax, attention, patch embed, pooling, LayerScale."""

from __future__ import annotations

from functools import partial

from vjproof.layers import attention, cls, dense, gelu, layer_norm, residual, softmax
from vjproof.prover.symbolic import Net
from vjproof.prover.ties.tie import Array, Tie, vjp
from vjproof.vit import spec

D = ("h*c",)
ROWS = ("1+r*s", "h*c")


def _inputs(**named: tuple[str, ...]):  # type: ignore[no-untyped-def]
    """Return the function that declares these inputs on a net."""
    return lambda net: tuple(net.input(name, *shape) for name, shape in named.items())


def _at(*shape: str):  # type: ignore[no-untyped-def]
    return lambda _net: shape


def _gelu(form: str) -> Tie:
    formulas = {
        "erf": "d_x = (erfc(-x / sqrt 2) / 2 + x exp(-x^2 / 2) / sqrt(2 pi)) d_y",
        "tanh": "d_x = (s + x s (1 - s) 2 u') d_y, s = (1 + tanh u) / 2, u = sqrt(2 / pi) (x + 0.044715 x^3)",
    }
    return Tie(
        f"gelu_{form}_pullback_eq_vjp",
        f"The slope times the cotangent is the VJP of GELU in its {form} form.",
        formulas[form],
        {"": partial(
            vjp, _inputs(x=("B", "M")), lambda _n, x: gelu.forward(form, x)[0],
            lambda _n, d, x: gelu.pullback(gelu.forward(form, x)[1], d), _at("B", "M"),
        )},
        hypotheses="none",
    )  # fmt: skip


def _layer_norm_reverse(net: Net, d_y: Array, x: Array, scale: Array, bias: Array) -> Array:
    return layer_norm.pullback(scale, layer_norm.forward(scale, bias, net.config.eps, x)[1], d_y)


def _layer_norm(name: str, words: str, shape: tuple[str, ...]) -> Tie:
    return Tie(
        name, words, "q = g d_y; c = q - mean q; d_x = r (c - xh mean(xh c))",
        {"": partial(
            vjp, _inputs(x=ROWS, scale=shape, bias=shape),
            lambda n, x, g, b: layer_norm.forward(g, b, n.config.eps, x)[0], _layer_norm_reverse, _at(*ROWS),
        )},
    )  # fmt: skip


def _sdpa(_n: Net, query: Array, key: Array, value: Array) -> Array:
    return attention.forward(query, key, value)[0]


def _sdpa_reverse(_n: Net, d_y: Array, *parts: Array) -> tuple[Array, Array, Array]:
    return attention.pullback(attention.forward(*parts)[1], d_y)


QUERIES, KEYS = ("h", "r", "c"), ("h", "s", "c")


def leaves() -> list[Tie]:
    """Return the theorems about single layers."""
    return [
        Tie(
            "dense_pullback_eq_vjp", "d_y W^T is the VJP of x W + b with respect to x.", "d_x = d_y W^T",
            {"": partial(
                vjp, _inputs(weight=("h*c", "M"), bias=("M",), x=("B", "h*c")),
                lambda _n, w, b, x: dense.forward(w, b, x),
                lambda _n, d, w, _b, _x: dense.pullback(w, d), _at("B", "M"),
            )}, hypotheses="none",
        ),
        _gelu("erf"),
        _gelu("tanh"),
        _layer_norm("layer_norm_pullback_eq_vjp", "The layer-norm reverse with a vector scale is its VJP.", D),
        _layer_norm("layer_norm_scalar_pullback_eq_vjp", "The same with one shared scale and bias.", ()),
        Tie(
            "row_ln_vec_flat_back_eq_vec_ln_vjp",
            "On flat vectors: the layer-norm reverse on each row, at the saved rows, is the VJP of LN on each row.",
            "row r: layer-norm reverse at X_r",
            {"": partial(
                vjp, lambda n: (n.input("x", n.flat_tokens), n.input("scale", *D), n.input("bias", *D)),
                lambda n, x, g, b: spec.per_row_flat(n.config.tokens, spec.layer_norm_map(g, b, n.config.eps))(x),
                lambda n, d, x, g, _b: spec.row_ln_vec_flat_back(n.config.tokens, n.config.eps, g, x)(d),
                lambda n: (n.flat_tokens,),
            )}, seed="rowLNVecFlatBack",
        ),
        Tie(
            "softmax_pullback_eq_vjp",
            "p (d_p - <p, d_p>) is the VJP of the row softmax shifted by the row maximum, ties included.",
            "d_z = p (d_p - sum(p d_p))",
            {"": partial(
                vjp, _inputs(x=("B", "K")), lambda _n, x: softmax.forward(x)[0],
                lambda _n, d, x: softmax.pullback(softmax.forward(x)[1], d), _at("B", "K"),
            )}, hypotheses="none",
        ),
        Tie(
            "sdpa_pullback_eq_vjp",
            "The attention reverse is its VJP with respect to Q, K and V, for any numbers of queries and keys.",
            "d_S = P (d_O V^T - rowsum(P d_O V^T)) / sqrt dh; d_Q = d_S K; d_K = d_S^T Q; d_V = P^T d_O",
            {"": partial(
                vjp, _inputs(query=QUERIES, key=KEYS, value=KEYS), _sdpa, _sdpa_reverse, _at(*QUERIES),
                wrt=("query", "key", "value"),
            )}, seed="mhsaSdpaBackQ, mhsaSdpaBackK, mhsaSdpaBackV", hypotheses="none",
        ),
        Tie(
            "patch_embed_pullback_eq_vjp",
            "Patch rows times the kernel, put back in place, is the VJP of the patch embedding; the CLS row drops out.",
            "d_image[c, P row + i, P column + j] = sum_d Wc[d, c, i, j] d_tokens[1 + p, d]",
            {"": partial(
                vjp, lambda n: (n.params(()), n.input("x", n.flat_image)),
                lambda n, p, x: spec.vit_saved_pe(n.config, p, x),
                lambda n, d, p, _x: spec.patch_embed_input_grad_formula(n.config, p)(d), lambda n: (n.flat_tokens,),
            )}, seed="patchEmbed_input_grad_formula", hypotheses="none",
        ),
        Tie(
            "cls_scatter_eq_cls_slice_vjp", "Row 0 = d_y, other rows 0, is the VJP of taking row 0.",
            "d_x[0] = d_y, d_x[r] = 0",
            {"": partial(
                vjp, lambda n: (n.input("x", n.flat_tokens),), lambda n, x: spec.cls_slice_flat(n.config.patches, x),
                lambda n, d, _x: spec.cls_scatter(n.config.patches, d), _at(*D),
            )}, seed="clsScatter", hypotheses="none",
        ),
        Tie(
            "mean_rows_pullback_eq_vjp",
            "d_y / N on each patch row, 0 on the CLS row, is the VJP of the patch rows' mean.",
            "d_x[1 + p] = d_y / N",
            {"": partial(
                vjp, _inputs(x=("B", *ROWS)), lambda n, x: cls.mean_rows(x, n.config.prefix),
                lambda n, d, _x: cls.spread_row(d, n.config.prefix, n.config.patches), _at("B", "1", "h*c"),
            )}, hypotheses="none",
        ),
        Tie(
            "layer_scale_pullback_eq_vjp",
            "A residual branch with LayerScale: d_y + back(s d_y) is the VJP of x + s GELU(x).",
            "d_x = d_y + back(s d_y)",
            {form: partial(
                vjp, _inputs(x=ROWS, scale=D),
                lambda _n, x, s, form=form: x + residual.scaled(s, gelu.forward(form, x)[0]),
                lambda _n, d, x, s, form=form: residual.pullback(
                    lambda e: gelu.pullback(gelu.forward(form, x)[1], e), s, d
                ), _at(*ROWS),
            ) for form in ("erf", "tanh")}, hypotheses="none",
        ),
    ]  # fmt: skip
