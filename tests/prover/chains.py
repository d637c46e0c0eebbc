"""The library's reverse chains as claims: leaves, attention, blocks, one tower step, whole networks."""

from functools import cache

from vjproof.prover.claim import Fold
from vjproof.prover.search import prove_programs
from vjproof.prover.ties import blocks, leaves, network

# theorem: the variant whose programs are mutated
VARIANTS = {
    "mhsa_back_flat_eq_mhsa_vjp": [""],
    "vit_block_back_v_eq_transformer_block_v_vjp": ["erf", "tanh, LayerScale"],
    "model_block_pullback_eq_vjp": ["erf, LayerScale, all rows", "tanh, CLS row only"],
    "vit_tower_back_k_eq_vjp": ["erf"],
    "vit_head_back_eq_classifier_vjp": [""],
    "vit_final_ln_back_eq_vjp": [""],
    "vit_input_grad_k_eq_vit_forward_kv_vjp": ["erf"],
    "model_pullback_eq_model_vjp": ["erf, cls", "tanh, LayerScale, mean"],
}


@cache
def chains():
    """Return {name: Pair}; a tower is an opaque function whose reverse is given by hypothesis."""
    found = {f"{tie.name} {label}".strip(): claim() for tie in leaves.leaves() for label, claim in tie.variants.items()}
    for tie in [*blocks.blocks(), *network.networks()]:
        for label in VARIANTS.get(tie.name, []):
            claim = tie.variants[label]()
            found[f"{tie.name} {label}".strip()] = claim.step if isinstance(claim, Fold) else claim
    return found


def hypothesis_of(pair):
    """Return the opaque symbol of a chain, or None."""
    return pair.symbol or next(iter(pair.lemmas), None)


def prove(pair, second):
    """Return the prover's answer for another second program."""
    return prove_programs(
        pair.forward, second, wrt=pair.wrt, cotangents=pair.cotangents, positive=pair.positive,
        symbol=hypothesis_of(pair),
    )  # fmt: skip


@cache
def proved(name):
    """Return the proof of an unchanged chain; AssertionError where it is not proved."""
    pair = chains()[name]
    result = prove(pair, pair.second)
    assert result, f"{name}: {result}"
    return result
