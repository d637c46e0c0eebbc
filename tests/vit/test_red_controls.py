"""Wrong reverses, each caught by the comparison that passes the right one, with the relative error it shows.

Every control mutates one step of the reverse chain and leaves the forward alone. The errors belong to this toy net:
they say which gate a mistake needs, and how a gate of 1e-4 would let the eps errors through.
"""

import numpy as np
import pytest

from tests.compare import assert_close, relative_error
from tests.nets import draw, make_config
from tests.oracles import jax_vit
from vjproof.layers import attention, gelu, layer_norm, patch_embed, softmax
from vjproof.layers.lift import compose, flat, rows_of
from vjproof.vit import model, spec

TOLERANCE = 1e-10
CONFIG = make_config(depth=2, gelu="tanh", eps=1e-5, layer_scale=True)
PARAMS, IMAGES, D_LOGITS = draw(CONFIG, 1)
ROWS, COLUMNS = CONFIG.grid


@pytest.fixture(scope="module")
def exact():
    return jax_vit.logits_and_gradient(CONFIG, PARAMS, IMAGES, D_LOGITS)[1]


def spec_gradient():
    flat_gradient = spec.vit_input_grad_k(CONFIG, PARAMS, IMAGES.ravel())(D_LOGITS[0])
    return flat_gradient.reshape(IMAGES.shape)


def swapped_key_value(original=spec.mhsa_back_flat):
    return lambda n, heads, p, *saved: original(n, heads, p._replace(w_k=p.w_v, w_v=p.w_k), *saved)


def blocks_reversed(config, blocks, v):
    if not blocks:
        return lambda d_y: d_y
    tail = blocks_reversed(config, blocks[1:], spec.block_flat(config, blocks[0])(v))
    return compose(tail, spec.vit_block_back_v_at(config, blocks[0], v))


def tail_at_the_input(config, blocks, v):
    if not blocks:
        return lambda d_y: d_y
    return compose(spec.vit_block_back_v_at(config, blocks[0], v), tail_at_the_input(config, blocks[1:], v))


def norm2_at_the_input(original=spec.vit_block_back_v):
    return lambda n, heads, eps, p, x1, x2, s, saved: original(n, heads, eps, p, x1, x1, s, saved)


def interleaved(index):
    """Return the single-head reverse on every h-th column instead of on slabs."""

    def back(heads, *matrices):
        split = [np.stack([m[:, a::heads] for a in range(heads)]) for m in matrices]
        parts = attention.pullback(attention.forward(*split[:3])[1], split[3])[index]
        return np.stack(list(parts), axis=-1).reshape(matrices[0].shape)

    return back


def patches_column_major(original=patch_embed.pullback):
    order = np.arange(ROWS * COLUMNS).reshape(ROWS, COLUMNS).T.ravel()
    return lambda weight, prefix, grid, d: original(weight, prefix, grid, d[..., np.r_[0, 1 + order], :])


def erf_slope_for_tanh(original=gelu.forward):
    return lambda form, x: (original(form, x)[0], original("erf", x)[1])


def norm_back(reciprocal):
    """Return a layer-norm reverse whose reciprocal deviation is reciprocal(variance, eps)."""

    def back(scale, eps, x):
        centred = x - np.mean(x, axis=-1, keepdims=True)
        r = reciprocal(np.mean(centred * centred, axis=-1, keepdims=True), eps)
        return lambda d_y: layer_norm.pullback(scale, layer_norm.Saved(centred * r, r), d_y)

    return back


def scale_after(scale, saved, d_y):
    return scale * layer_norm.pullback(np.ones_like(scale), saved, d_y)


def unscaled_scores(saved, d_o):
    d_weights = d_o @ np.swapaxes(saved.value, -1, -2)
    return softmax.pullback(softmax.Saved(saved.weights), d_weights)


def reversed_key_rows(original=spec.core_k_flat):
    def core(n, heads, query, key, value):
        return lambda d_o: flat(np.flip(rows_of(n, original(n, heads, query, key, value)(d_o)), axis=0))

    return core


def without_layer_scale(original=spec.vit_block_back_v):
    return lambda n, heads, eps, p, *rest: original(n, heads, eps, p._replace(scale1=None, scale2=None), *rest)


def norm_back_by(pullback):
    """Return `spec.layer_norm_back` with another pullback."""
    return lambda g, eps, x: lambda d: pullback(g, layer_norm.normalise(eps, x), d)


# name: (what is replaced by what, relative error on this net)
SPEC_CONTROLS = {
    "scale applied after the norm's reverse": ([(spec, "layer_norm_back", norm_back_by(scale_after))], 1.3),
    "W_k and W_v swapped": ([(spec, "mhsa_back_flat", swapped_key_value())], 2.3),
    "blocks reversed": ([(spec, "vit_tower_back_k", blocks_reversed)], 1.3),
    "tail saved at block 0's input": ([(spec, "vit_tower_back_k", tail_at_the_input)], 0.76),
    "LN2 saved at the block's input": ([(spec, "vit_block_back_v", norm2_at_the_input())], 0.73),
    "interleaved head slabs": ([(spec, f"mhsa_sdpa_back_{n}", interleaved(i)) for i, n in enumerate("qkv")], 3.2),
    "patch rows and columns swapped": ([(patch_embed, "pullback", patches_column_major())], 1.5),
    "erf slope with tanh forward": ([(gelu, "forward", erf_slope_for_tanh())], 4.8e-4),
    "eps = 0": ([(spec, "layer_norm_back", norm_back(lambda v, eps: 1 / np.sqrt(v)))], 1.0e-4),
    "eps outside the root": ([(spec, "layer_norm_back", norm_back(lambda v, eps: 1 / (np.sqrt(v) + eps)))], 2.3e-5),
    "residual dropped": ([(spec, "residual_back", lambda back: back)], 0.90),
    "attention scale dropped": ([(attention, "pullback_scores", unscaled_scores)], 1.0),
    "norm scale dropped": (
        [(spec, "layer_norm_back", norm_back_by(lambda _, saved, d: layer_norm.pullback(1.0, saved, d)))], 0.58
    ),
    "LayerScale dropped": ([(spec, "vit_block_back_v", without_layer_scale())], 0.40),
    "rows of d_K in reverse order": ([(spec, "core_k_flat", reversed_key_rows())], 2.5),
}  # fmt: skip


def test_the_right_chain_passes(exact):
    assert_close(spec_gradient(), exact, TOLERANCE)


@pytest.mark.parametrize("name", SPEC_CONTROLS)
def test_a_wrong_step_of_the_spec_is_caught(name, exact, monkeypatch):
    replacements, shown = SPEC_CONTROLS[name]
    for place, attribute, wrong in replacements:
        monkeypatch.setattr(place, attribute, wrong)
    check_red(spec_gradient(), exact, shown)


def check_red(gradient, exact, shown):
    """Require that the comparison refuses `gradient`, whose error must be near the one that is written down."""
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(gradient, exact, TOLERANCE)
    assert 0.8 * shown < relative_error(gradient, exact) < 1.25 * shown


def test_a_gate_of_1e_3_would_miss_the_eps_errors(exact, monkeypatch):
    for name in ("eps = 0", "eps outside the root", "erf slope with tanh forward"):
        with monkeypatch.context() as patch:
            for place, attribute, wrong in SPEC_CONTROLS[name][0]:
                patch.setattr(place, attribute, wrong)
            assert_close(spec_gradient(), exact, 1e-3)


def at_every_block(change):
    """Return (params, saved) with `change` applied to each block's parameters and saved activations."""

    def changed(params, saved):
        pairs = [change(p, s) for p, s in zip(params.blocks, saved.blocks, strict=True)]
        blocks, activations = zip(*pairs, strict=True)
        return params._replace(blocks=blocks), saved._replace(blocks=activations)

    return changed


def rescaled(saved_norm):
    """Return a saved norm whose reciprocal deviation was taken without eps."""
    r = saved_norm.reciprocal
    without = 1 / np.sqrt(1 / r**2 - CONFIG.eps)
    return saved_norm._replace(reciprocal=without, normalised=saved_norm.normalised * (without / r))


def norm1_for_norm2(p, saved):
    rows = saved.norm2.normalised.shape[-2]
    return p, saved._replace(norm2=layer_norm.Saved(*(part[..., :rows, :] for part in saved.norm1)))


# name: (what the reverse of the model is given instead, relative error on this net)
MODEL_CONTROLS = {
    "W_k and W_v swapped": (at_every_block(lambda p, s: (p._replace(w_k=p.w_v, w_v=p.w_k), s)), 2.3),
    "blocks reversed": (lambda params, saved: (params._replace(blocks=params.blocks[::-1]), saved), 2.3),
    "LN2 saved where LN1 is": (at_every_block(norm1_for_norm2), 0.73),
    "eps = 0": (at_every_block(lambda p, s: (p, s._replace(norm1=rescaled(s.norm1), norm2=rescaled(s.norm2)))), 1e-4),
    "LayerScale dropped": (at_every_block(lambda p, s: (p._replace(scale1=None, scale2=None), s)), 0.40),
    "norm scales dropped": (at_every_block(lambda p, s: (p._replace(norm1_scale=1.0, norm2_scale=1.0), s)), 0.82),
    "classes in reverse order": (lambda params, s: (params._replace(w_head=params.w_head[:, ::-1]), s), 1.2),
}


@pytest.mark.parametrize("name", MODEL_CONTROLS)
def test_a_wrong_input_of_the_models_reverse_is_caught(name, exact):
    change, shown = MODEL_CONTROLS[name]
    _, saved = model.forward(CONFIG, PARAMS, IMAGES)
    assert_close(model.pullback(CONFIG, PARAMS, saved)(D_LOGITS), exact, TOLERANCE)
    wrong = model.pullback(CONFIG, *change(PARAMS, saved))(D_LOGITS)
    check_red(wrong, exact, shown)
