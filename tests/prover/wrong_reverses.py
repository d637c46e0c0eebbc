"""The red controls of MATH.md as claims: a wrong reverse chain is recorded against the right forward."""

from contextlib import ExitStack
from unittest.mock import patch

from vjproof.layers import attention, gelu, layer_norm, patch_embed, residual, softmax
from vjproof.layers.array import namespace, permute_trailing, reshape_trailing
from vjproof.layers.lift import compose, residual_back
from vjproof.prover.ties.tie import vjp
from vjproof.vit import block, spec


def block_claim(**choices):
    """Claim that the (patched) block reverse is the VJP of the block."""
    return lambda wrong: vjp(
        lambda n: (n.block(), n.input("x", n.flat_tokens)), lambda n, p, x: spec.block_flat(n.config, p)(x),
        lambda n, d, p, x: under(wrong, lambda: spec.vit_block_back_v_at(n.config, p, x)(d)),
        lambda n: (n.flat_tokens,), **choices,
    )  # fmt: skip


def model_claim(**choices):
    return lambda wrong: vjp(
        lambda n: (n.block(), n.input("x", n.batch, n.config.tokens, n.config.hidden)),
        lambda n, p, x: block.forward(n.config, p, x)[0],
        lambda n, d, p, x: under(wrong, lambda: block.pullback(p, block.forward(n.config, p, x)[1], d)),
        lambda n: (n.batch, n.config.tokens, n.config.hidden), **choices,
    )  # fmt: skip


def tower_claim(**choices):
    """Two different blocks."""
    return lambda wrong: vjp(
        lambda n: ((n.block("a"), n.block("b")), n.input("x", n.flat_tokens)),
        lambda n, ps, x: spec.vit_body_kv_flat(n.config, ps)(x),
        lambda n, d, ps, x: under(wrong, lambda: spec.vit_tower_back_k(n.config, ps, x)(d)),
        lambda n: (n.flat_tokens,), **choices,
    )  # fmt: skip


def embed_claim(wrong):
    return vjp(
        lambda n: (n.params(()), n.input("x", n.flat_image)), lambda n, p, x: spec.vit_saved_pe(n.config, p, x),
        lambda n, d, p, x: under(wrong, lambda: spec.patch_embed_input_grad_formula(n.config, p)(d)),
        lambda n: (n.flat_tokens,),
    )  # fmt: skip


def under(replacements, run):
    """Run with attributes replaced: [(module, name, wrong version)]."""
    with ExitStack() as stack:
        for place, name, wrong in replacements:
            stack.enter_context(patch.object(place, name, wrong))
        return run()


def blocks_reversed(config, blocks, v):
    if not blocks:
        return lambda d_y: d_y
    tail = blocks_reversed(config, blocks[1:], spec.block_flat(config, blocks[0])(v))
    return compose(tail, spec.vit_block_back_v_at(config, blocks[0], v))


def tail_at_the_input(config, blocks, v):
    if not blocks:
        return lambda d_y: d_y
    return compose(spec.vit_block_back_v_at(config, blocks[0], v), tail_at_the_input(config, blocks[1:], v))


def swapped(first, second, original=spec.mhsa_back_flat):
    def back(n, heads, p, *saved):
        return original(n, heads, p._replace(**{first: getattr(p, second), second: getattr(p, first)}), *saved)

    return back


def norm_at(pick, original=spec.vit_block_back_v):
    """Return the block's reverse with the saved inputs of its norms picked from (x1, x2)."""
    return lambda n, heads, eps, p, x1, x2, s, saved: original(n, heads, eps, p, *pick(x1, x2), s, saved)


def parameters(change, original=spec.vit_block_back_v):
    return lambda n, heads, eps, p, *rest: original(n, heads, eps, change(p), *rest)


def norm_back(reciprocal):
    """Return a layer-norm reverse whose reciprocal deviation is reciprocal(xp, variance, eps)."""

    def back(scale, eps, x):
        xp = namespace(x)
        centred = x - xp.mean(x, axis=-1, keepdims=True)
        r = reciprocal(xp, xp.mean(centred * centred, axis=-1, keepdims=True), eps)
        return lambda d_y: layer_norm.pullback(scale, layer_norm.Saved(centred * r, r), d_y)

    return back


def norm_project(formula):
    """Return the reverse of layer norm by formula(xp, saved, scale, d_y)."""
    return lambda scale, saved, d_y: formula(namespace(d_y), saved, scale, d_y)


def mean(xp, x):
    return xp.mean(x, axis=-1, keepdims=True)


def scale_after(xp, saved, scale, d_y):
    centred = d_y - mean(xp, d_y)
    return scale * (saved.reciprocal * (centred - saved.normalised * mean(xp, saved.normalised * centred)))


def no_mean(xp, saved, scale, d_y):
    q = scale * d_y
    return saved.reciprocal * (q - saved.normalised * mean(xp, saved.normalised * q))


def no_projection(xp, saved, scale, d_y):
    q = scale * d_y
    return saved.reciprocal * (q - mean(xp, q))


def unscaled_scores(saved, d_o):
    xp = namespace(d_o)
    return softmax.pullback(softmax.Saved(saved.weights), xp.matmul(d_o, xp.matrix_transpose(saved.value)))


def other_slope(form, original=gelu.forward):
    return lambda _, x: (original("tanh" if form == "erf" else "erf", x)[0], original(form, x)[1])


def slope_of(formula):
    return lambda form, x, original=gelu.forward: (original(form, x)[0], gelu.Saved(formula(form, x)))


def gate_alone(form, x):
    return 0.5 * spec.gelu.erfc(-gelu.SQRT_HALF * x)


def transposed_unpatches(d_patches, channels, rows, columns, patch_):
    """Swap the row and the column inside a patch."""
    cut = permute_trailing(reshape_trailing(d_patches, 2, (rows, columns, channels, patch_, patch_)), (2, 0, 4, 1, 3))
    return reshape_trailing(cut, 5, (channels, rows * patch_, columns * patch_))


def softmax_without(saved, d_p):
    return saved.weights * d_p


def keys_by_scores(saved, d_o):
    xp = namespace(d_o)
    d_scores = attention.pullback_scores(saved, d_o)
    return (
        xp.matmul(d_scores, saved.key),
        xp.matmul(xp.matrix_transpose(d_scores), saved.key),
        attention.pullback_value(saved, d_o),
    )


def without_first_residual(n, heads, eps, p, x1, x2, s, saved):
    """Return the block's reverse whose attention branch lacks the identity."""
    mlp = spec.per_row_flat_pr(
        n, lambda slope: compose(spec.dense_back(p.w_1), spec.diag_back(slope), spec.dense_back(p.w_2)), s
    )
    second = residual_back(compose(spec.row_ln_vec_flat_back(n, eps, p.norm2_scale, x2), mlp))
    first = compose(spec.row_ln_vec_flat_back(n, eps, p.norm1_scale, x1), spec.mhsa_back_flat(n, heads, p, *saved))
    return compose(first, second)


def outer_residual(n, heads, eps, p, x1, x2, s, saved, original=spec.vit_block_back_v):
    """Return the block's reverse with one residual around both branches."""
    with patch.object(spec, "residual_back", lambda back: back):
        return residual_back(original(n, heads, eps, p, x1, x2, s, saved))


# name: (claim, what the reverse is recorded with)
WRONG = {
    "blocks reversed": (tower_claim(), [(spec, "vit_tower_back_k", blocks_reversed)]),
    "tail saved at block 0's input": (tower_claim(), [(spec, "vit_tower_back_k", tail_at_the_input)]),
    "LN2 saved at the block's input": (block_claim(), [(spec, "vit_block_back_v", norm_at(lambda a, b: (a, a)))]),
    "LN1 saved after attention": (block_claim(), [(spec, "vit_block_back_v", norm_at(lambda a, b: (b, b)))]),
    "saved norms swapped": (block_claim(), [(spec, "vit_block_back_v", norm_at(lambda a, b: (b, a)))]),
    "W_k and W_v swapped": (block_claim(), [(spec, "mhsa_back_flat", swapped("w_k", "w_v"))]),
    "W_q and W_k swapped": (block_claim(), [(spec, "mhsa_back_flat", swapped("w_q", "w_k"))]),
    "W_q and W_o swapped": (block_claim(), [(spec, "mhsa_back_flat", swapped("w_q", "w_o"))]),
    "norm scales swapped": (block_claim(), [(spec, "vit_block_back_v", parameters(
        lambda p: p._replace(norm1_scale=p.norm2_scale, norm2_scale=p.norm1_scale)))]),
    "patch row and column swapped": (embed_claim, [(patch_embed, "unpatches", transposed_unpatches)]),
    "erf slope with tanh forward": (block_claim(gelu="tanh"), [(gelu, "forward", other_slope("erf"))]),
    "tanh slope with erf forward": (block_claim(gelu="erf"), [(gelu, "forward", other_slope("tanh"))]),
    "slope is the gate alone": (block_claim(), [(gelu, "forward", slope_of(gate_alone))]),
    "scale applied after the norm's reverse": (block_claim(), [(layer_norm, "pullback", norm_project(scale_after))]),
    "norm reverse without its mean": (block_claim(), [(layer_norm, "pullback", norm_project(no_mean))]),
    "norm reverse without its projection": (block_claim(), [(layer_norm, "pullback", norm_project(no_projection))]),
    "eps = 0": (block_claim(), [(spec, "layer_norm_back", norm_back(lambda xp, v, eps: 1.0 / xp.sqrt(v)))]),
    "eps outside the root": (
        block_claim(), [(spec, "layer_norm_back", norm_back(lambda xp, v, eps: 1.0 / (xp.sqrt(v) + eps)))]
    ),
    "eps twice": (
        block_claim(), [(spec, "layer_norm_back", norm_back(lambda xp, v, eps: 1.0 / xp.sqrt(v + eps + eps)))]
    ),
    "eps squared": (
        block_claim(), [(spec, "layer_norm_back", norm_back(lambda xp, v, eps: 1.0 / xp.sqrt(v + eps * eps)))]
    ),
    "residuals dropped": (block_claim(), [(spec, "residual_back", lambda back: back)]),
    "attention's residual dropped": (block_claim(), [(spec, "vit_block_back_v", without_first_residual)]),
    "one residual around both": (block_claim(), [(spec, "vit_block_back_v", outer_residual)]),
    "attention scale dropped": (block_claim(), [(attention, "pullback_scores", unscaled_scores)]),
    "softmax reverse without its row sum": (block_claim(), [(softmax, "pullback", softmax_without)]),
    "d_K from K": (block_claim(), [(attention, "pullback", keys_by_scores)]),
    "LayerScale dropped": (block_claim(layer_scale=True), [(residual, "scaled", lambda _, branch: branch)]),
    "LayerScales swapped": (block_claim(layer_scale=True), [(spec, "vit_block_back_v", parameters(
        lambda p: p._replace(scale1=p.scale2, scale2=p.scale1)))]),
    "model: scale after the norm": (model_claim(), [(layer_norm, "pullback", norm_project(scale_after))]),
    "model: erf slope with tanh forward": (model_claim(gelu="tanh"), [(gelu, "forward", other_slope("erf"))]),
    "model: attention scale dropped": (model_claim(), [(attention, "pullback_scores", unscaled_scores)]),
    "model: LayerScale dropped": (model_claim(layer_scale=True), [(residual, "scaled", lambda _, branch: branch)]),
}  # fmt: skip
