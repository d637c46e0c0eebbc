"""All named theorems: found by name, recorded, proved."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from functools import cache

from vjproof.errors import VjproofError, excerpt
from vjproof.prover.claim import Claim, Known, prove_claim
from vjproof.prover.result import NOT_PROVED, Result
from vjproof.prover.theorem import Theorem
from vjproof.prover.ties import blocks, leaves, network
from vjproof.prover.ties.tie import Tie


@cache
def theorems() -> Mapping[str, Tie]:
    """Return every named theorem, in the order in which they build on each other."""
    ties = [*leaves.leaves(), *blocks.blocks(), *network.networks()]
    named = {tie.name: tie for tie in ties}
    if len(named) < len(ties):
        raise ValueError("two theorems have one name")
    return named


def find(name: str) -> Tie:
    """Return the theorem of this name; VjproofError, with the closest names, where there is none."""
    tie = theorems().get(name)
    if tie is None:
        close = get_close_matches(name[:100], theorems(), n=3, cutoff=0.5)
        raise VjproofError(
            f"theorem {excerpt(name, 60)!r}", expected="a name that vjproof prove --list tells", got="another",
            remedy=f"did you mean {' or '.join(close)}?" if close else "",
        )  # fmt: skip
    return tie


def record_variant(name: str, variant: str) -> Claim:
    """Return the claim of one variant, recorded from the installed code; VjproofError where there is none."""
    tie = find(name)
    if variant not in tie.variants:
        raise VjproofError(
            f"{name}, variant {excerpt(variant, 40)!r}", expected=f"one of {list(tie.variants)}", got="another"
        )
    return tie.variants[variant]()


def prove_variant(name: str, variant: str, known: Known | None = None) -> Result:
    """Return the answer to one variant; code that cannot be recorded is not proved. `known`: see `prove_claim`."""
    try:
        return prove_claim(record_variant(name, variant), known)
    except VjproofError as problem:
        return Result(NOT_PROVED, reason=str(problem))


def joined(name: str, results: Mapping[str, Result]) -> Theorem:
    """Return the theorem of this name with the answers to its variants."""
    tie = find(name)
    return Theorem(tie.name, tie.words, tie.formula, tie.hypotheses, tie.seed, dict(results))


def prove(name: str) -> Theorem:
    """Prove the theorem of this name, for all sizes, depths, inputs and cotangents, in each of its variants.

    VjproofError, with the closest names, where there is none. The names are those of `vjproof prove --list`.
    """
    known: Known = {}
    return joined(name, {variant: prove_variant(name, variant, known) for variant in find(name).variants})
