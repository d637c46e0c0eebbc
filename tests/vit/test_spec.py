"""The seed's chain: each definition against complex step or a plain Python loop, and the whole against the model."""

import numpy as np
import pytest

from tests.backends import LIBRARIES, run
from tests.compare import assert_close
from tests.derivatives import complex_step
from tests.nets import SHAPES, draw, make_config
from tests.oracles import jax_vit
from vjproof.layers import attention, layer_norm
from vjproof.vit import model, spec

CONFIG = make_config(depth=3, layer_scale=True)
PARAMS, IMAGES, D_LOGITS = draw(CONFIG, 3)
X, BLOCK = IMAGES[0].ravel(), PARAMS.blocks[0]
N, D, M, HEADS, EPS = CONFIG.tokens, CONFIG.hidden, CONFIG.mlp, CONFIG.heads, CONFIG.eps


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape)


V, D_Y = normal(N * D, seed=1), normal(N * D, seed=2)
QUERY, KEY, VALUE, D_O = (normal(N, D, seed=3 + i) for i in range(4))


def check_vjp(back, function, x, d_y, tolerance=1e-13):
    """Compare back(d_y) with the sum over the complex-step Jacobian of `function` at x."""
    return assert_close(back(d_y), d_y @ complex_step(function, x), tolerance)


def by_head(index):
    """Return the single-head reverse on each head's slab, one head after the other, side by side again."""
    columns = []
    for head in range(HEADS):
        query, key, value, d_o = (spec.mh_slab(head, HEADS, m) for m in (QUERY, KEY, VALUE, D_O))
        columns.append(attention.pullback(attention.forward(query, key, value)[1], d_o)[index])
    return np.concatenate(columns, axis=-1)


def test_mh_slab_is_the_view_of_split_heads():
    split = attention.split_heads(QUERY, HEADS)
    for head in range(HEADS):
        assert np.array_equal(spec.mh_slab(head, HEADS, QUERY), split[head])
    assert np.array_equal(np.concatenate([spec.mh_slab(a, HEADS, QUERY) for a in range(HEADS)], axis=1), QUERY)


@pytest.mark.parametrize("index", range(3), ids="qkv")
def test_mhsa_sdpa_back_equals_the_loop_over_heads(index):
    back = (spec.mhsa_sdpa_back_q, spec.mhsa_sdpa_back_k, spec.mhsa_sdpa_back_v)[index]
    assert_close(back(HEADS, QUERY, KEY, VALUE, D_O), by_head(index), 1e-14)


@pytest.mark.parametrize("index", range(3), ids="qkv")
def test_core_flat_equals_the_loop_over_heads(index):
    core = (spec.core_q_flat, spec.core_k_flat, spec.core_v_flat)[index]
    assert_close(core(N, HEADS, QUERY, KEY, VALUE)(D_O.ravel()), by_head(index).ravel(), 1e-14)


def test_diag_back():
    assert np.array_equal(spec.diag_back(V)(D_Y), V * D_Y)


def test_dense_back():
    check_vjp(spec.dense_back(BLOCK.w_1), lambda x: x @ BLOCK.w_1 + BLOCK.b_1, normal(D), normal(M))


def test_layer_norm_back():
    forward = spec.layer_norm_map(BLOCK.norm1_scale, BLOCK.norm1_bias, EPS)
    row = V[:D]
    check_vjp(spec.layer_norm_back(BLOCK.norm1_scale, EPS, row), forward, row, D_Y[:D])


def test_row_ln_vec_flat_back_equals_the_loop_over_rows():
    rows = zip(V.reshape(N, D), D_Y.reshape(N, D), strict=True)
    want = [spec.layer_norm_back(BLOCK.norm1_scale, EPS, x)(d_y) for x, d_y in rows]
    assert_close(spec.row_ln_vec_flat_back(N, EPS, BLOCK.norm1_scale, V)(D_Y), np.concatenate(want), 1e-14)


def test_per_row_flat():
    scale = normal(D)
    want = np.concatenate([row * scale for row in V.reshape(N, D)])
    assert_close(spec.per_row_flat(N, lambda row: row * scale)(V), want, 1e-15)


def test_per_row_flat_pr():
    scales = normal(N, D)
    want = np.concatenate([row * scale for row, scale in zip(V.reshape(N, D), scales, strict=True)])
    assert_close(spec.per_row_flat_pr(N, lambda s: lambda row: s * row, scales)(V), want, 1e-15)


def test_batch_map():
    want = np.concatenate([example[:D] for example in IMAGES.reshape(3, -1)])
    assert np.array_equal(spec.batch_map(3, lambda x: x[..., :D])(IMAGES.ravel()), want)


def test_batch_map_aux():
    want = np.concatenate([2.0 * a * x for a, x in zip(V.reshape(N, D), D_Y.reshape(N, D), strict=True)])
    assert_close(spec.batch_map_aux(N, lambda a: lambda x: 2.0 * a * x, V)(D_Y), want, 1e-15)


def test_mhsa_back_flat_is_the_vjp_of_mhsa():
    back = spec.mhsa_back_flat(N, HEADS, BLOCK, *spec.projections(N, BLOCK, V))
    check_vjp(back, spec.mhsa_flat(N, HEADS, BLOCK), V, D_Y)


def test_vit_block_back_is_vit_block_back_v_where_all_rows_share_their_maps():
    block = BLOCK._replace(scale1=None, scale2=None)
    row1, row2, slope, saved = V[:D], V[D : 2 * D], normal(M), (QUERY, KEY, VALUE)
    shared = [
        spec.layer_norm_back(scale, EPS, row)
        for scale, row in ((block.norm1_scale, row1), (block.norm2_scale, row2))
    ]  # fmt: skip
    got = spec.vit_block_back(N, HEADS, block, *shared, slope, saved)(D_Y)
    rows = (np.tile(row1, N), np.tile(row2, N), np.tile(slope, (N, 1)))
    assert_close(got, spec.vit_block_back_v(N, HEADS, EPS, block, *rows, saved)(D_Y), 1e-14)


@pytest.mark.parametrize("layer_scale", [False, True])
@pytest.mark.parametrize("gelu", ["erf", "tanh"])
def test_vit_block_back_v_at_slots(layer_scale, gelu):
    """vit_block_back_v with slots filled by the model's own saved activations."""
    config = make_config(depth=2, layer_scale=layer_scale, gelu=gelu)
    params, images, _ = draw(config, 1)
    block, v = params.blocks[0], spec.vit_saved_pe(config, params, images[0].ravel())
    _, saved = model.forward(config, params, images[0])
    slots = saved.blocks[0]
    qkv = [attention.merge_heads(part) for part in slots.attention[:3]]
    attended = spec.vit_attn_out_at(config, block, v)
    back = spec.vit_block_back_v(N, HEADS, EPS, block, v, attended, slots.gelu.slope, qkv)
    assert_close(spec.vit_block_back_v_at(config, block, v)(D_Y), back(D_Y), 1e-13)


def test_vit_block_back_v_at_is_the_vjp_of_the_block():
    check_vjp(spec.vit_block_back_v_at(CONFIG, BLOCK, V), spec.block_flat(CONFIG, BLOCK), V, D_Y)


def test_vit_attn_out_at_equals_the_loop_over_tokens():
    scale, bias = BLOCK.norm1_scale, BLOCK.norm1_bias
    rows = np.array([layer_norm.forward(scale, bias, EPS, row)[0] for row in V.reshape(N, D)])
    heads = []
    for head in range(HEADS):
        slabs = (rows @ w + b for w, b in zip(BLOCK[2:8:2], BLOCK[3:8:2], strict=True))
        query, key, value = (spec.mh_slab(head, HEADS, slab) for slab in slabs)
        weights = np.exp(query @ key.T / np.sqrt(D // HEADS))
        heads.append(weights / weights.sum(axis=1, keepdims=True) @ value)
    branch = np.concatenate(heads, axis=1) @ BLOCK.w_o + BLOCK.b_o
    assert_close(spec.vit_attn_out_at(CONFIG, BLOCK, V), V + (BLOCK.scale1 * branch).ravel(), 1e-13)


@pytest.mark.parametrize("depth", range(4))
def test_vit_tower_back_k_is_the_vjp_of_the_tower(depth):
    blocks = PARAMS.blocks[:depth]
    back = spec.vit_tower_back_k(CONFIG, blocks, V)
    check_vjp(back, spec.vit_body_kv_flat(CONFIG, blocks), V, D_Y)


def test_the_tower_runs_block_0_first():
    want = V
    for block in PARAMS.blocks:
        want = spec.block_flat(CONFIG, block)(want)
    assert np.array_equal(spec.vit_body_kv_flat(CONFIG, PARAMS.blocks)(V), want)


def test_cls_scatter_is_the_adjoint_of_the_slice():
    d_y = normal(D)
    check_vjp(lambda d: spec.cls_scatter(N - 1, d), lambda x: spec.cls_slice_flat(N - 1, x), V, d_y)
    assert np.array_equal(spec.cls_scatter(N - 1, d_y), np.concatenate([d_y, np.zeros((N - 1) * D)]))


def test_vit_head_back_is_the_vjp_of_the_classifier():
    check_vjp(spec.vit_head_back(CONFIG, PARAMS), lambda x: spec.classifier_flat(CONFIG, PARAMS, x), V, D_LOGITS[0])


def test_vit_final_ln_is_reversed_by_row_ln_vec_flat_back():
    back = spec.row_ln_vec_flat_back(N, EPS, PARAMS.norm_scale, V)
    check_vjp(back, spec.vit_final_ln(CONFIG, PARAMS), V, D_Y)


def test_patch_embed_input_grad_formula_is_the_vjp_of_the_embedding():
    back = spec.patch_embed_input_grad_formula(CONFIG, PARAMS)
    check_vjp(back, lambda x: spec.vit_saved_pe(CONFIG, PARAMS, x), X, D_Y)


def test_saved_stages_one_by_one_and_batched():
    one = spec.vit_saved_body(CONFIG, PARAMS, X)
    assert np.array_equal(one, spec.vit_body_kv_flat(CONFIG, PARAMS.blocks)(spec.vit_saved_pe(CONFIG, PARAMS, X)))
    stages = ((spec.vit_saved_pe, spec.vit_saved_pe_b), (spec.vit_saved_body, spec.vit_saved_body_b))
    for single, batched in stages:
        want = np.concatenate([single(CONFIG, PARAMS, image.ravel()) for image in IMAGES])
        assert_close(batched(3, CONFIG, PARAMS, IMAGES.ravel()), want, 1e-13)


def test_vit_forward_kv_equals_the_model():
    values = [spec.vit_forward_kv(CONFIG, PARAMS, image.ravel()) for image in IMAGES]
    assert_close(values, model.logits(CONFIG, PARAMS, IMAGES), 1e-13)


@pytest.mark.parametrize("layer_scale", [False, True])
@pytest.mark.parametrize("gelu", ["erf", "tanh"])
@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_vit_input_grad_k_equals_the_model(depth, gelu, layer_scale):
    config = make_config(SHAPES[depth % 5], depth=depth, gelu=gelu, layer_scale=layer_scale)
    params, images, d_logits = draw(config, 1, seed=depth)
    gradient = spec.vit_input_grad_k(config, params, images.ravel())(d_logits[0])
    assert_close(gradient, model.logits_and_gradient(config, params, images, d_logits)[1].ravel(), 1e-13)


def test_vit_input_grad_k_is_the_sum_over_partial_derivatives():
    check_vjp(
        spec.vit_input_grad_k(CONFIG, PARAMS, X), lambda x: spec.vit_forward_kv(CONFIG, PARAMS, x), X, D_LOGITS[0]
    )


def test_vit_input_grad_kb_equals_k_example_by_example():
    singles = [
        spec.vit_input_grad_k(CONFIG, PARAMS, x.ravel())(d) for x, d in zip(IMAGES, D_LOGITS, strict=True)
    ]  # fmt: skip
    got = spec.vit_input_grad_kb(3, CONFIG, PARAMS, IMAGES.ravel())(D_LOGITS.ravel())
    assert_close(got, np.concatenate(singles), 1e-13)
    want = jax_vit.logits_and_gradient(CONFIG, PARAMS, IMAGES, D_LOGITS)[1]
    assert_close(got, want.ravel(), 1e-12)


def test_at_the_last_blocks_output_the_patch_tokens_have_exactly_zero_gradient():
    saved = spec.vit_saved_body(CONFIG, PARAMS, X)
    final_ln = spec.row_ln_vec_flat_back(N, EPS, PARAMS.norm_scale, saved)
    d_tokens = final_ln(spec.vit_head_back(CONFIG, PARAMS)(D_LOGITS[0])).reshape(N, D)
    assert np.array_equal(d_tokens[1:], np.zeros((N - 1, D)))
    assert np.all(d_tokens[0] != 0)


@pytest.mark.parametrize("library", LIBRARIES)
def test_every_library_computes_the_same(library):
    config = make_config(depth=2)

    def everything(params, x, d_logits):
        back = spec.vit_input_grad_kb(2, config, params, x)
        return spec.vit_saved_body_b(2, config, params, x), back(d_logits)

    params, images, d_logits = draw(config, 2)
    args = (params, images.ravel(), d_logits.ravel())
    for got, want in zip(run(library, everything, *args), everything(*args), strict=True):
        assert_close(got, want, 1e-12)
