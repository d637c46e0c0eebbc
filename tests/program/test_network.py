"""The seed's chain and the network that runs are recorded with symbolic sizes, and compute the same numbers."""

import numpy as np
import pytest

from tests.program.symbolic import assert_network_recorded, assert_recorded
from vjproof.errors import VjproofError
from vjproof.layers import gelu
from vjproof.vit import block, model, spec

N = "1+rows*cols"
FLAT = f"({N})*h*c"
MATRIX = (N, "h*c")
IMAGE = "C*rows*P*cols*P"
IMAGES = ("B", "C", "rows*P", "cols*P")
HEADS = {"q": MATRIX, "k": MATRIX, "v": MATRIX}


def cores(config, p, q, k, v, d):
    n, h = config.tokens, config.heads
    return tuple(core(n, h, q, k, v)(d) for core in (spec.core_q_flat, spec.core_k_flat, spec.core_v_flat))


def shared_block(config, params, q, k, v, x, s, d):
    p = params.blocks[0]
    backs = (spec.layer_norm_back(scale, config.eps, x) for scale in (p.norm1_scale, p.norm2_scale))
    return spec.vit_block_back(config.tokens, config.heads, p, *backs, s, (q, k, v))(d)


def own_rows_block(config, params, q, k, v, x1, x2, s, d):
    back = spec.vit_block_back_v(config.tokens, config.heads, config.eps, params.blocks[0], x1, x2, s, (q, k, v))
    return back(d)


CASES = {
    "diag_back": (lambda c, p, s, d: spec.diag_back(s)(d), {"s": ("M",), "d": ("M",)}),
    "dense_back": (lambda c, p, d: spec.dense_back(p.w_head)(d), {"d": ("K",)}),
    "row_ln_vec_flat_back": (
        lambda c, p, x, d: spec.row_ln_vec_flat_back(c.tokens, c.eps, p.norm_scale, x)(d), {"x": (FLAT,), "d": (FLAT,)},
    ),
    "mhsa_sdpa_back": (
        lambda c, p, *a: tuple(
            f(c.heads, *a) for f in (spec.mhsa_sdpa_back_q, spec.mhsa_sdpa_back_k, spec.mhsa_sdpa_back_v)
        ),
        {**HEADS, "d": MATRIX},
    ),
    "core_q_flat, core_k_flat, core_v_flat": (cores, {**HEADS, "d": (FLAT,)}),
    "mhsa_back_flat": (
        lambda c, p, q, k, v, d: spec.mhsa_back_flat(c.tokens, c.heads, p.blocks[0], q, k, v)(d),
        {**HEADS, "d": (FLAT,)},
    ),
    "mhsa_flat": (lambda c, p, x: spec.mhsa_flat(c.tokens, c.heads, p.blocks[0])(x), {"x": (FLAT,)}),
    "vit_block_back": (shared_block, {**HEADS, "x": ("h*c",), "s": ("M",), "d": (FLAT,)}),
    "vit_block_back_v": (own_rows_block, {**HEADS, "x1": (FLAT,), "x2": (FLAT,), "s": (N, "M"), "d": (FLAT,)}),
    "vit_attn_out_at": (lambda c, p, x: spec.vit_attn_out_at(c, p.blocks[0], x), {"x": (FLAT,)}),
    "vit_block_back_v_at": (
        lambda c, p, x, d: spec.vit_block_back_v_at(c, p.blocks[0], x)(d), {"x": (FLAT,), "d": (FLAT,)},
    ),
    "block_flat": (lambda c, p, x: spec.block_flat(c, p.blocks[0])(x), {"x": (FLAT,)}),
    "vit_body_kv_flat": (lambda c, p, x: spec.vit_body_kv_flat(c, p.blocks)(x), {"x": (FLAT,)}),
    "vit_tower_back_k": (
        lambda c, p, x, d: spec.vit_tower_back_k(c, p.blocks, x)(d), {"x": (FLAT,), "d": (FLAT,)},
    ),
    "cls_scatter and slice": (
        lambda c, p, x, d: (spec.cls_scatter(c.patches, d), spec.cls_slice_flat(c.patches, x)),
        {"x": (FLAT,), "d": ("h*c",)},
    ),
    "patch_embed_input_grad_formula": (
        lambda c, p, d: spec.patch_embed_input_grad_formula(c, p)(d), {"d": (FLAT,)},
    ),
    "vit_saved_pe, vit_saved_body": (
        lambda c, p, x: (spec.vit_saved_pe(c, p, x), spec.vit_saved_body(c, p, x)), {"x": (IMAGE,)},
    ),
    "classifier and vit_head_back": (
        lambda c, p, x, d: (spec.classifier_flat(c, p, x), spec.vit_head_back(c, p)(d)), {"x": (FLAT,), "d": ("K",)},
    ),
    "vit_final_ln": (lambda c, p, x: spec.vit_final_ln(c, p)(x), {"x": (FLAT,)}),
    "vit_forward_kv": (spec.vit_forward_kv, {"x": (IMAGE,)}),
    "vit_input_grad_k": (lambda c, p, x, d: spec.vit_input_grad_k(c, p, x)(d), {"x": (IMAGE,), "d": ("K",)}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_the_program_of_a_definition_computes_it(name):
    assert_network_recorded(*CASES[name])


@pytest.mark.parametrize("choices", [{"gelu": "tanh"}, {"layer_scale": True}, {"depth": 1}, {"depth": 3}])
def test_the_choices_of_a_network_are_recorded(choices):
    assert_network_recorded(*CASES["vit_input_grad_k"], **choices)


def test_the_batched_chain_is_recorded():
    def size(config):
        channels, height, width = config.image_shape
        return channels * height * width

    def function(config, params, x, d):
        batch = x.shape[0] // size(config)
        saved = spec.vit_saved_pe_b(batch, config, params, x), spec.vit_saved_body_b(batch, config, params, x)
        return (*saved, spec.vit_input_grad_kb(batch, config, params, x)(d))

    assert_network_recorded(function, {"x": (f"B*{IMAGE}",), "d": ("B*K",)})


@pytest.mark.parametrize("head", [0, 1, 2])
def test_a_slab_is_recorded_where_heads_are_counted(head):
    sizes = {"n": 5, "c": 4}
    assert_recorded(lambda size, x: spec.mh_slab(head, 3, x), {"x": ("n", "3*c")}, sizes)


POOLINGS = [("cls", 1, 1), ("cls", 2, 2), ("cls", 1, 3), ("mean", 1, 1), ("norm-mean", 1, 1)]


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("pooling", POOLINGS, ids=str)
def test_the_network_that_runs_is_recorded(pooling, depth):
    gelu_form, layer_scale = ("erf", False) if depth == 1 else ("tanh", True)
    assert_network_recorded(
        model.logits_and_gradient, {"x": IMAGES, "d": ("B", "K")},
        depth=depth, pooling=pooling, gelu=gelu_form, layer_scale=layer_scale,
    )  # fmt: skip


def test_the_forward_derivative_is_recorded():
    def pushforward(config, params, x, t):
        _, saved = model.forward(config, params, x)
        return model.pullback(config, params, saved).transpose(t)

    assert_network_recorded(pushforward, {"x": IMAGES, "t": IMAGES})


def test_a_block_alone_is_recorded():
    def function(config, params, x, d):
        y, saved = block.forward(config, params.blocks[0], x, 1)
        return y, block.pullback(params.blocks[0], saved, d), saved.gelu.slope

    assert_network_recorded(function, {"x": ("B", N, "h*c"), "d": ("B", 1, "h*c")}, depth=1)


def test_a_network_without_prefix_rows_has_an_empty_axis_and_is_refused():
    with pytest.raises(VjproofError, match="never empty"):
        assert_network_recorded(model.logits_and_gradient, {"x": IMAGES, "d": ("B", "K")}, pooling=("mean", 1, 0))


def test_a_wrong_chain_is_told_apart(monkeypatch):
    function, extra = CASES["vit_input_grad_k"]
    right, calls = gelu.pullback, []

    def drifting(saved, d_y):
        calls.append(isinstance(d_y, np.ndarray))
        return right(saved, d_y) * (1.0 + 1e-9 * calls[-1])

    monkeypatch.setattr(gelu, "pullback", drifting)
    with pytest.raises(AssertionError, match="relative error"):
        assert_network_recorded(function, extra)
    assert set(calls) == {False, True}
