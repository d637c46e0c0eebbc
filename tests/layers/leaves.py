"""Every layer with its value, pullback and pushforward in one shape, so that one test serves them all."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from vjproof.layers import attention, cls, dense, gelu, layer_norm, patch_embed, residual, softmax


@dataclass(frozen=True)
class Leaf:
    """`value(params, *inputs)`; `back(params, inputs, d_y)` and `push(params, inputs, tangents)` at those inputs."""

    name: str
    params: tuple
    inputs: tuple
    value: Callable
    back: Callable[..., tuple]
    push: Callable[..., Any]
    analytic: bool = True  # whether every library function in it takes complex numbers


def leaves(seed=0):
    """Yield every layer at inputs of odd shapes."""
    draw = np.random.default_rng(seed).standard_normal
    yield Leaf(
        "dense", (draw((5, 4)), draw(4)), (draw((2, 3, 5)),),
        lambda p, x: dense.forward(*p, x),
        lambda p, xs, d_y: (dense.pullback(p[0], d_y),),
        lambda p, xs, ts: dense.pushforward(p[0], *ts),
    )  # fmt: skip
    for name, shape in (("layer-norm-vector", (7,)), ("layer-norm-shared", (1,))):
        yield Leaf(
            name, (1 + draw(shape) / 3, draw(shape)), (draw((2, 3, 7)),),
            lambda p, x: layer_norm.forward(*p, 1e-5, x)[0],
            lambda p, xs, d_y: (layer_norm.pullback(p[0], layer_norm.normalise(1e-5, *xs), d_y),),
            lambda p, xs, ts: layer_norm.pushforward(p[0], layer_norm.normalise(1e-5, *xs), *ts),
        )  # fmt: skip
    for form in ("erf", "tanh"):
        yield Leaf(
            f"gelu-{form}", (), (2 * draw((2, 3, 7)),),
            lambda p, x, form=form: gelu.forward(form, x)[0],
            lambda p, xs, d_y, form=form: (gelu.pullback(gelu.forward(form, *xs)[1], d_y),),
            lambda p, xs, ts, form=form: gelu.pushforward(gelu.forward(form, *xs)[1], *ts),
            analytic=form == "erf",
        )  # fmt: skip
    yield Leaf(
        "softmax", (), (2 * draw((2, 3, 5)),),
        lambda p, x: softmax.forward(x)[0],
        lambda p, xs, d_y: (softmax.pullback(softmax.forward(*xs)[1], d_y),),
        lambda p, xs, ts: softmax.pushforward(softmax.forward(*xs)[1], *ts),
    )  # fmt: skip
    yield Leaf(
        "attention", (), (draw((2, 4, 3)), draw((2, 5, 3)), draw((2, 5, 3))),
        lambda p, *qkv: attention.forward(*qkv)[0],
        lambda p, qkv, d_o: attention.pullback(attention.forward(*qkv)[1], d_o),
        lambda p, qkv, ts: attention.pushforward(attention.forward(*qkv)[1], *ts),
    )  # fmt: skip
    yield Leaf(
        "heads", (), (draw((2, 5, 6)),),
        lambda p, x: attention.split_heads(x, 3),
        lambda p, xs, d_y: (attention.merge_heads(d_y),),
        lambda p, xs, ts: attention.split_heads(*ts, 3),
    )  # fmt: skip
    yield Leaf(
        "patch-embed", (draw((5, 2, 3, 3)), draw(5), draw((2, 5)), draw((8, 5))), (draw((2, 2, 6, 9)),),
        lambda p, x: patch_embed.forward(*p, x),
        lambda p, xs, d_y: (patch_embed.pullback(p[0], 2, (2, 3), d_y),),
        lambda p, xs, ts: patch_embed.pushforward(p[0], 2, *ts),
    )  # fmt: skip
    yield Leaf(
        "leading-rows", (), (draw((2, 5, 3)),),
        lambda p, x: cls.slice_rows(x, 2),
        lambda p, xs, d_y: (cls.scatter_rows(d_y, 3),),
        lambda p, xs, ts: cls.slice_rows(*ts, 2),
    )  # fmt: skip
    yield Leaf(
        "mean-pooling", (), (draw((2, 8, 3)),),
        lambda p, x: cls.mean_rows(x, 1),
        lambda p, xs, d_y: (cls.spread_row(d_y, 1, 7),),
        lambda p, xs, ts: cls.mean_rows(*ts, 1),
    )  # fmt: skip
    for name, scale in (("residual", ()), ("layer-scale", (draw(5),))):
        yield Leaf(
            name, (draw((5, 5)), *scale), (draw((2, 3, 5)),),
            lambda p, x: x + residual.scaled((*p, None)[1], dense.forward(p[0], None, x)),
            lambda p, xs, d_y: (residual.pullback(lambda d: dense.pullback(p[0], d), (*p, None)[1], d_y),),
            lambda p, xs, ts: residual.pushforward(lambda t: dense.pushforward(p[0], t), (*p, None)[1], *ts),
        )  # fmt: skip


LEAVES = list(leaves())
