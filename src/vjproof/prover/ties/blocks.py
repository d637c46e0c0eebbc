"""Theorems about attention with its projections, the encoder block, and the tower by induction on depth."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

from vjproof.layers import gelu
from vjproof.layers.array import namespace
from vjproof.layers.lift import flat, rows_of
from vjproof.prover.claim import Claim, Fold, Pair
from vjproof.prover.symbolic import TOWER, Net, OpaqueBlocks, opaque_towers
from vjproof.prover.ties.tie import Array, Tie, equal, fold, vjp
from vjproof.vit import block, spec
from vjproof.vit.params import BlockParams


def choices() -> dict[str, dict[str, Any]]:
    """Return the declared choices that change a block: GELU form, and LayerScale on or off."""
    return {
        f"{form}{', LayerScale' if scaled else ''}": {"gelu": form, "layer_scale": scaled}
        for form, scaled in product(("erf", "tanh"), (False, True))
    }


def each_choice(claim: Callable[..., Claim]) -> dict[str, Callable[[], Claim]]:
    """Return one variant for each of `choices`."""
    return {label: partial(claim, **chosen) for label, chosen in choices().items()}


def flat_block(net: Net) -> tuple[Any, ...]:
    """Return a block's parameters and its flat input x."""
    return net.block(), net.input("x", net.flat_tokens)


def flat_tokens(net: Net) -> tuple[Any, ...]:
    """Return the shape of a flat token matrix."""
    return (net.flat_tokens,)


def tower(**chosen: Any) -> Fold:
    """Claim the seed's tower by induction: depth 0 is the identity, one more block stands before the others."""
    base = vjp(
        lambda n: (n.input("x", n.flat_tokens),), lambda n, x: spec.vit_body_kv_flat(n.config, ())(x),
        lambda n, d, x: spec.vit_tower_back_k(n.config, (), x)(d), flat_tokens, **chosen,
    )  # fmt: skip
    with opaque_towers():
        step = vjp(
            flat_block, lambda n, p, x: spec.vit_body_kv_flat(n.config, OpaqueBlocks([p]))(x),
            lambda n, d, p, x: spec.vit_tower_back_k(n.config, OpaqueBlocks([p]), x)(d), flat_tokens,
            symbol=TOWER, **chosen,
        )  # fmt: skip
    return fold(TOWER, base, step)


def _saved_block_back(net: Net, d_y: Array, p: BlockParams, x: Array) -> Array:
    """Reverse a block by `vit_block_back_v` from activations that were saved step by step."""
    n, heads, eps = net.config.tokens, net.config.heads, net.config.eps
    normed = spec.per_row_flat(n, spec.layer_norm_map(p.norm1_scale, p.norm1_bias, eps))(x)
    middle = spec.vit_attn_out_at(net.config, p, x)
    rows = spec.layer_norm_map(p.norm2_scale, p.norm2_bias, eps)(rows_of(n, middle))
    slope = gelu.forward(net.config.gelu, rows @ p.w_1 + p.b_1)[1].slope
    return spec.vit_block_back_v(n, heads, eps, p, x, middle, slope, spec.projections(n, p, normed))(d_y)


def _shared_inputs(net: Net) -> tuple[Any, ...]:
    d, rows = net.config.hidden, net.config.tokens
    saved = tuple(net.input(name, rows, d) for name in ("query", "key", "value"))
    rest = (net.input("x1", d), net.input("x2", d), net.input("s", net.config.mlp), net.input("d_y", net.flat_tokens))
    return (net.block(), saved, *rest)


def _shared(net: Net, p: BlockParams, saved: Any, x1: Array, x2: Array, s: Array, d_y: Array) -> Array:
    eps, backs = net.config.eps, ((p.norm1_scale, x1), (p.norm2_scale, x2))
    first, second = (spec.layer_norm_back(scale, eps, row) for scale, row in backs)
    return spec.vit_block_back(net.config.tokens, net.config.heads, p, first, second, s, saved)(d_y)


def _shared_as_rows(net: Net, p: BlockParams, saved: Any, x1: Array, x2: Array, s: Array, d_y: Array) -> Array:
    n = net.config.tokens
    rows = [namespace(x).broadcast_to(x, (n, x.shape[0])) for x in (x1, x2, s)]
    return spec.vit_block_back_v(n, net.config.heads, net.config.eps, p, flat(rows[0]), flat(rows[1]), rows[2], saved)(
        d_y
    )


def _batched(net: Net) -> tuple[Any, ...]:
    return net.block(), net.input("x", net.batch, net.config.tokens, net.config.hidden)


def _model_block(rows: int | None, **chosen: Any) -> Pair:
    return vjp(
        _batched, lambda n, p, x: block.forward(n.config, p, x, rows)[0],
        lambda n, d, p, x: block.pullback(p, block.forward(n.config, p, x, rows)[1], d),
        lambda n: (n.batch, rows or n.config.tokens, n.config.hidden), **chosen,
    )  # fmt: skip


def blocks() -> list[Tie]:
    """Return the theorems about attention with projections, blocks and towers."""
    return [
        Tie(
            "mhsa_back_flat_eq_mhsa_vjp",
            "Output projection, three cores, three projections, fan-in at X: the VJP of multi-head self-attention.",
            "u = d_Y Wo^T; d_X = d_Q(u) Wq^T + (d_K(u) Wk^T + d_V(u) Wv^T)",
            {"": partial(
                vjp, flat_block, lambda n, p, x: spec.mhsa_flat(n.config.tokens, n.config.heads, p)(x),
                lambda n, d, p, x: spec.mhsa_back_flat(
                    n.config.tokens, n.config.heads, p, *spec.projections(n.config.tokens, p, x))(d), flat_tokens,
            )}, seed="mhsaBackFlat_eq_mhsa_vjp", hypotheses="none",
        ),
        Tie(
            "vit_block_back_eq_vit_block_back_v",
            "The block reverse with one shared map per site is the per-row one with equal rows.",
            "x1, x2 and s the same in every row",
            {"": partial(equal, _shared_inputs, _shared, _shared_as_rows)}, seed="vitBlockBack",
        ),
        Tie(
            "vit_block_back_v_eq_transformer_block_v_vjp",
            "The block reverse at saved activations is the VJP of the block.",
            "residual(LN1 back . MHSA back) . residual(LN2 back . W1^T . diag s . W2^T)",
            each_choice(partial(
                vjp, flat_block, lambda n, p, x: spec.block_flat(n.config, p)(x), _saved_block_back, flat_tokens,
            )),
            seed="vitBlockBackV_eq_transformerBlockV_vjp",
        ),
        Tie(
            "vit_block_back_v_at_eq_vjp",
            "The block reverse with its slots pinned to the forward at v is the VJP at v.",
            "vit_block_back_v at Q, K, V, v, A, gelu'(dense1(LN2 A))",
            each_choice(partial(
                vjp, flat_block, lambda n, p, x: spec.block_flat(n.config, p)(x),
                lambda n, d, p, x: spec.vit_block_back_v_at(n.config, p, x)(d), flat_tokens,
            )), seed="vitBlockBackVAt_eq_vjp",
        ),
        Tie(
            "vit_tower_back_k_eq_vjp", "For every depth k, the tower's reverse at v is the VJP of the tower at v.",
            "back_(k+1) at v = block_0 back at v . back_k at block_0(v)", each_choice(tower),
            seed="vitTowerBackK_eq_vjp",
        ),
        Tie(
            "model_block_pullback_eq_vjp",
            "The block that runs (fused projections, activations saved once) and its reverse.",
            "as the seed's block, Wq, Wk, Wv side by side",
            {f"{label}, {name}": partial(_model_block, rows, **chosen)
             for label, chosen in choices().items() for name, rows in (("all rows", None), ("CLS row only", 1))},
        ),
    ]  # fmt: skip
