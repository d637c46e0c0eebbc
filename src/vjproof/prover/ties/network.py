"""Theorems about the whole network: the seed's chain, its batched form, and the chain that runs."""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import Any

from vjproof.layers import cls
from vjproof.layers.lift import compose, flat, rows_of
from vjproof.prover.claim import Fold, Pair
from vjproof.prover.symbolic import SHORT_TOWER, TOWER, Net, OpaqueBlocks, opaque_towers
from vjproof.prover.ties import blocks
from vjproof.prover.ties.tie import Array, Tie, equal, fold, vjp
from vjproof.vit import model, spec, tower
from vjproof.vit.config import POOLINGS


def _seed_net(batched: bool, **chosen: Any) -> Pair:
    """Claim the seed's whole-net gradient at every depth; the tower's theorem is its lemma."""
    lemma = blocks.tower(**chosen)
    with opaque_towers():
        return vjp(
            _flat_batch if batched else _flat_image, _forward_b if batched else _forward,
            _reverse_b if batched else _reverse,
            lambda n: (n.batch * n.config.classes if batched else n.config.classes,),
            lemmas={TOWER: lemma}, **chosen,
        )  # fmt: skip


def _flat_image(net: Net) -> tuple[Any, ...]:
    return net.params(OpaqueBlocks()), net.input("x", net.flat_image)


def _flat_batch(net: Net) -> tuple[Any, ...]:
    return net.params(OpaqueBlocks()), net.input("x", net.batch * net.flat_image)


def _forward(n: Net, p: Any, x: Array) -> Array:
    return spec.vit_forward_kv(n.config, p, x)


def _forward_b(n: Net, p: Any, x: Array) -> Array:
    return spec.batch_map(n.batch, lambda v: spec.vit_forward_kv(n.config, p, v))(x)


def _reverse(n: Net, d_y: Array, p: Any, x: Array) -> Array:
    return spec.vit_input_grad_k(n.config, p, x)(d_y)


def _reverse_b(n: Net, d_y: Array, p: Any, x: Array) -> Array:
    return spec.vit_input_grad_kb(n.batch, n.config, p, x)(d_y)


def _model_tower(pooling: str, **chosen: Any) -> Fold:
    """Claim the tower that runs, by induction; under CLS pooling its last block returns one row."""
    rows = 1 if pooling == "cls" else None

    def forward(n: Net, p: Any, x: Array) -> Array:
        return tower.forward(n.config, p, x)[0]

    def reverse(n: Net, d: Array, p: Any, x: Array) -> Array:
        return tower.back(n.config, p, tower.forward(n.config, p, x)[1], ())(d)

    def cotangent(n: Net) -> tuple[Any, ...]:
        return rows or n.config.tokens, n.config.hidden

    def starting(blocks_of: Any) -> Any:
        return lambda n: (blocks_of(n), n.input("x", n.config.tokens, n.config.hidden))

    first = starting((lambda n: (n.block(),)) if rows else (lambda _n: ()))
    base = vjp(first, forward, reverse, cotangent, pooling=pooling, **chosen)
    symbol = SHORT_TOWER if rows else TOWER
    with opaque_towers(rows):
        more = starting(lambda n: OpaqueBlocks([n.block()]))
        step = vjp(more, forward, reverse, cotangent, symbol=symbol, pooling=pooling, **chosen)
    return fold(symbol, base, step)


def _model_net(pooling: str, **chosen: Any) -> Pair:
    """Claim the reverse chain that runs, for a batch and every depth."""
    lemma = _model_tower(pooling, **chosen)
    rows = 1 if pooling == "cls" else None
    with opaque_towers(rows):
        return vjp(
            lambda n: (n.params(OpaqueBlocks()), n.input("x", n.batch, *n.config.image_shape)),
            lambda n, p, x: model.forward(n.config, p, x)[0],
            lambda n, d, p, x: model.pullback(n.config, p, model.forward(n.config, p, x)[1])(d),
            lambda n: (n.batch, n.config.classes), pooling=pooling,
            lemmas={SHORT_TOWER if rows else TOWER: lemma}, **chosen,
        )  # fmt: skip


def _same_tower(more: bool, **chosen: Any) -> Pair:
    """Claim that the model's tower returns the CLS row of the seed's tower: one block, or one block before others.

    For the others the hypothesis of the induction is used as it is recorded: the model's tower over them *is* the
    CLS row of the seed's.
    """

    def starting(net: Net) -> tuple[Any, ...]:
        block = net.block()
        return OpaqueBlocks([block]) if more else (block,), net.input("x", net.config.tokens, net.config.hidden)

    def seed(n: Net, p: Any, x: Array) -> Array:
        y = spec.vit_body_kv_flat(n.config, p)(flat(x))
        return cls.slice_rows(rows_of(n.config.tokens, y), 1)

    with opaque_towers(as_seed=True):
        return equal(starting, seed, lambda n, p, x: tower.forward(n.config, p, x)[0], **chosen)


def _same_net(**chosen: Any) -> Pair:
    """Claim that the network that runs is the seed's network, given that its tower is."""

    def seed(n: Net, p: Any, x: Array) -> Array:
        return spec.vit_forward_kv(n.config, p, x.tape.namespace.reshape(x, (n.batch, n.flat_image)))

    with opaque_towers(as_seed=True):
        return equal(
            lambda n: (n.params(OpaqueBlocks()), n.input("x", n.batch, *n.config.image_shape)), seed,
            lambda n, p, x: model.forward(n.config, p, x)[0], **chosen,
        )  # fmt: skip


def _batch_map_comp() -> Pair:
    """Claim batch_map (g . f) = batch_map g . batch_map f for unknown functions f and g of one example."""

    def f(x: Array) -> Array:
        return x.tape.call("f", x, ("M",), x.ndim - 1)

    def g(x: Array) -> Array:
        return x.tape.call("g", x, ("K",), x.ndim - 1)

    return equal(
        lambda n: (n.input("x", n.batch * n.config.channels),),
        lambda n, x: spec.batch_map(n.batch, compose(g, f))(x),
        lambda n, x: compose(spec.batch_map(n.batch, g), spec.batch_map(n.batch, f))(x),
    )


def networks() -> list[Tie]:
    """Return the theorems about whole networks."""
    seed = "patch_embed back . tower back . final norm back . CLS scatter . Wcls^T"
    return [
        Tie(
            "vit_head_back_eq_classifier_vjp", "W^T, then the CLS scatter, is the VJP of the classifier on row 0.",
            "d_x[0] = Wcls d_logits",
            {"": partial(
                vjp, lambda n: (n.params(()), n.input("x", n.flat_tokens)),
                lambda n, p, x: spec.classifier_flat(n.config, p, x),
                lambda n, d, p, _x: spec.vit_head_back(n.config, p)(d), lambda n: (n.config.classes,),
            )}, seed="vitHeadBack_eq_classifier_vjp", hypotheses="none",
        ),
        Tie(
            "vit_final_ln_back_eq_vjp", "The final norm's reverse on each row, at the tower's output, is its VJP.",
            "row_ln_vec_flat_back gF at the tower's output",
            {"": partial(
                vjp, lambda n: (n.params(()), n.input("x", n.flat_tokens)),
                lambda n, p, x: spec.vit_final_ln(n.config, p)(x),
                lambda n, d, p, x: spec.row_ln_vec_flat_back(n.config.tokens, n.config.eps, p.norm_scale, x)(d),
                blocks.flat_tokens,
            )}, seed="vitFinalLNBack_eq_vjp",
        ),
        Tie(
            "vit_input_grad_k_eq_vit_forward_kv_vjp",
            "The seed's five-stage chain is the VJP of the whole network with respect to the image, at every depth.",
            seed, blocks.each_choice(partial(_seed_net, False)), seed="vitInputGradK_eq_vitForwardKV_vjp",
        ),
        Tie(
            "vit_input_grad_k_correct",
            "Entry i of the chain is the sum over j of d logits[j] / d image[i] times the cotangent's entry j.",
            "vit_input_grad_k(x)(dy)[i] = sum_j pdiv(vit_forward_kv, x, i, j) dy[j]",
            {"erf": partial(_seed_net, False, gelu="erf")}, seed="vitInputGradK_correct",
        ),
        Tie(
            "batch_map_comp", "Mapping a composite over the batch is composing the maps over the batch.",
            "batch_map (g . f) = batch_map g . batch_map f", {"": _batch_map_comp}, seed="batchMap_comp",
            hypotheses="none",
        ),
        Tie(
            "vit_input_grad_kb_eq_batch_map_vit_forward_kv_vjp",
            "The batched chain, each stage lifted over the batch, is the VJP of the batched network; B is a variable.",
            f"each lifted over B: {seed}", blocks.each_choice(partial(_seed_net, True)),
            seed="vitInputGradKB_eq_batchMap_vitForwardKV_vjp",
        ),
        Tie(
            "model_pullback_eq_model_vjp",
            "The chain that runs is the VJP of the network that runs, for a batch, at every depth.",
            "head back, pooling back, final norm back, tower back (last block from the CLS row), patch embed back",
            {f"{label}, {pooling}": partial(_model_net, pooling, **chosen)
             for (label, chosen), pooling in product(blocks.choices().items(), POOLINGS)},
        ),
        Tie(
            "model_forward_eq_vit_forward_kv",
            "The network that runs is the seed's network, at every depth >= 1: so their gradients are equal too. Three "
            "claims: one block; one block before others, by the hypothesis of the induction; and the network.",
            "model.forward(x) = vit_forward_kv(x)",
            {f"{label}, {part}": partial(prove, **chosen) for label, chosen in blocks.choices().items()
             for part, prove in (("one block", partial(_same_tower, False)),
                                 ("one block more", partial(_same_tower, True)), ("network", _same_net))},
        ),
    ]  # fmt: skip
