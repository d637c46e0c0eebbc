"""Every layer's forward, pullback and pushforward is recorded, and the program computes what the layer computes."""

import pytest

from tests.program.symbolic import assert_recorded
from vjproof.layers import attention, cls, dense, gelu, layer_norm, lift, patch_embed, residual, softmax

TOKENS = "1+rows*cols"
IMAGE = ("B", "C", "rows*P", "cols*P")


CASES = {
    "dense": (lambda size, w, b, x: dense.forward(w, b, x), {"w": ("M", "K"), "b": "K", "x": ("B", "M")}),
    "dense of a vector": (lambda size, w, x: dense.forward(w, None, x), {"w": ("M", "K"), "x": ("M",)}),
    "dense pullback": (lambda size, w, d: dense.pullback(w, d), {"w": ("M", "K"), "d": ("B", "h", "K")}),
    "dense pushforward": (lambda size, w, t: dense.pushforward(w, t), {"w": ("M", "K"), "t": ("B", "M")}),
    **{
        f"gelu {form}": (
            lambda size, x, d, form=form: (
                gelu.forward(form, x), gelu.pullback(gelu.forward(form, x)[1], d),
                gelu.pushforward(gelu.forward(form, x)[1], d),
            ),
            {"x": ("B", "M"), "d": ("B", "M")},
        )
        for form in ("erf", "tanh")
    },
    "layer norm": (
        lambda size, g, b, x: layer_norm.forward(g, b, 1e-6, x), {"g": ("M",), "b": ("M",), "x": ("B", TOKENS, "M")},
    ),
    "layer norm, one row, shared scale": (
        lambda size, g, b, x: layer_norm.forward(g, b, 1e-6, x), {"g": (), "b": (), "x": ("M",)},
    ),
    "layer norm pullback": (
        lambda size, g, x, d: layer_norm.pullback(g, layer_norm.normalise(1e-5, x), d),
        {"g": ("M",), "x": ("B", "M"), "d": ("B", "M")},
    ),
    "layer norm pushforward": (
        lambda size, g, x, t: layer_norm.pushforward(g, layer_norm.normalise(1e-5, x), t),
        {"g": ("M",), "x": ("B", "M"), "t": ("B", "M")},
    ),
    "softmax": (
        lambda size, z, d: (
            softmax.forward(z), softmax.pullback(softmax.forward(z)[1], d),
            softmax.pushforward(softmax.forward(z)[1], d),
        ),
        {"z": ("B", TOKENS), "d": ("B", TOKENS)},
    ),
    "attention": (
        lambda size, q, k, v: attention.forward(q, k, v),
        {"q": ("B", "M", "c"), "k": ("B", TOKENS, "c"), "v": ("B", TOKENS, "c")},
    ),
    "attention pullback": (
        lambda size, q, k, v, d: attention.pullback(attention.forward(q, k, v)[1], d),
        {"q": ("M", "c"), "k": (TOKENS, "c"), "v": (TOKENS, "c"), "d": ("M", "c")},
    ),
    "attention pushforward": (
        lambda size, q, k, v, s, t, u: attention.pushforward(attention.forward(q, k, v)[1], s, t, u),
        {"q": ("M", "c"), "k": ("K", "c"), "v": ("K", "c"), "s": ("M", "c"), "t": ("K", "c"), "u": ("K", "c")},
    ),
    "heads": (
        lambda size, x: (
            attention.split_heads(x, size("h")), attention.merge_heads(attention.split_heads(x, size("h"))),
        ),
        {"x": ("B", TOKENS, "h*c")},
    ),
    "slice and scatter": (
        lambda size, x, d: (cls.slice_rows(x, 1), cls.scatter_rows(d, cls.rows_after(x, 1))),
        {"x": ("B", TOKENS, "M"), "d": ("B", 1, "M")},
    ),
    "slice of two rows": (lambda size, x: cls.slice_rows(x, 2), {"x": ("2+rows", "M")}),
    "mean and spread": (
        lambda size, x, d: (cls.mean_rows(x, 1), cls.spread_row(d, 1, size("rows*cols"))),
        {"x": ("B", TOKENS, "M"), "d": ("B", 1, "M")},
    ),
    "patch embedding": (
        lambda size, w, b, p, e, x: patch_embed.forward(w, b, p, e, x),
        {"w": ("M", "C", "P", "P"), "b": ("M",), "p": (1, "M"), "e": (TOKENS, "M"), "x": IMAGE},
    ),
    "patch embedding pullback": (
        lambda size, w, d: patch_embed.pullback(w, 1, (size("rows"), size("cols")), d),
        {"w": ("M", "C", "P", "P"), "d": ("B", TOKENS, "M")},
    ),
    "patch embedding pushforward": (
        lambda size, w, t: patch_embed.pushforward(w, 1, t), {"w": ("M", "C", "P", "P"), "t": IMAGE},
    ),
    "residual with LayerScale": (
        lambda size, s, w, d: (
            residual.pullback(lambda v: dense.pullback(w, v), s, d),
            residual.pushforward(lambda v: dense.pushforward(w, v), s, d),
        ),
        {"s": ("M",), "w": ("M", "M"), "d": ("B", "M")},
    ),
    "lift": (
        lambda size, w, s, x: (
            lift.per_row_flat(size("B"), lambda v: dense.forward(w, None, v))(x),
            lift.per_row_flat_pr(size("B"), lambda r: lambda v: r * v, s)(x),
            lift.batch_map_aux(size("B"), lambda r: lambda v: r * v, lift.flat(s))(x),
            lift.residual_back(lambda v: v)(x),
        ),
        {"w": ("M", "K"), "s": ("B", "M"), "x": ("B*M",)},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_program_of_a_layer_computes_the_layer(name):
    assert_recorded(*CASES[name])


def test_another_function_is_told_apart():
    function = CASES["dense"][0]
    calls = iter((0.0, 1e-9))
    with pytest.raises(AssertionError, match="relative error"):
        assert_recorded(lambda size, *arrays: function(size, *arrays) + next(calls), CASES["dense"][1])
