"""What is claimed, recorded and not yet proved: two programs and how they are related, or an induction on depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from vjproof.kernel.certificate import check, digest
from vjproof.kernel.program import Program, Refused
from vjproof.program.recorder import Tape, program_data
from vjproof.prover.result import NOT_PROVED, PROVED, Result
from vjproof.prover.search import certify, prove_programs


@dataclass(frozen=True)
class Pair:
    """Two programs: `second` is the VJP of `forward` with respect to `wrt`, or equals it where `wrt` is empty.

    `lemmas` are claims about opaque calls, `symbol` the call that an induction hypothesis covers, `notes` what the
    certificate tells and the kernel does not read.
    """

    forward: Program
    second: Program
    wrt: tuple[str, ...] = ()
    cotangents: tuple[str, ...] = ()
    positive: tuple[str, ...] = ()
    symbol: str | None = None
    lemmas: Mapping[str, Claim] = field(default_factory=dict)
    notes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Fold:
    """The claim for every depth k: `base` at depth 0, `step` from k to k + 1 with `symbol` for the depth k."""

    symbol: str
    base: Pair
    step: Pair


Claim: TypeAlias = Pair | Fold
Known: TypeAlias = dict[str, Result]  # what was proved before, by the digest of its outline


def outline(claim: Claim) -> dict[str, Any]:
    """Return what a certificate of a claim says before anything is proved: its programs, nested as in the document."""
    if isinstance(claim, Fold):
        return {"kind": "fold", "symbol": claim.symbol, "base": outline(claim.base), "step": outline(claim.step)}
    said: dict[str, Any] = {"kind": "vjp" if claim.wrt else "equal", "positive": list(claim.positive)}
    said |= {"forward": program_data(claim.forward), "second": program_data(claim.second)}
    if claim.wrt:
        said |= {"wrt": list(claim.wrt), "cotangents": list(claim.cotangents)}
    return said | {"lemmas": {name: outline(lemma) for name, lemma in claim.lemmas.items()}}


def outline_of(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Return the outline that a certificate tells; the certificate has passed `kernel.certificate.check`."""
    claim = certificate["claim"]
    if claim["kind"] == "fold":
        return {**claim, "base": outline_of(claim["base"]), "step": outline_of(claim["step"])}
    said = {name: value for name, value in claim.items() if name != "conditions"}
    return said | {"lemmas": {name: outline_of(lemma) for name, lemma in certificate.get("lemmas", {}).items()}}


def readings(*tapes: Tape) -> dict[str, Any]:
    """Return the notes on float literals that were read as constants, each the float nearest to its constant."""
    found: list[Any] = []
    for tape in tapes:
        found += [list(reading) for reading in tape.readings if list(reading) not in found]
    return {"readings": found} if found else {}


def prove_claim(claim: Claim, known: Known | None = None) -> Result:
    """Search a proof of a claim, its lemmas first; the first part that is not proved is the answer.

    Results are looked up in `known`, and entered there.
    """
    known = {} if known is None else known
    key = digest([outline(claim), getattr(claim, "symbol", None)])
    if key not in known:
        known[key] = _fold(claim, known) if isinstance(claim, Fold) else _pair(claim, known)
    return known[key]


def _pair(claim: Pair, known: Known) -> Result:
    lemmas = {}
    for name, lemma in claim.lemmas.items():
        result = prove_claim(lemma, known)
        if not result:
            return replace(result, reason=f"lemma {name}: {result.reason}" if result.reason else "")
        lemmas[name] = result.certificate
    return prove_programs(
        claim.forward, claim.second, wrt=claim.wrt, cotangents=claim.cotangents, positive=claim.positive,
        lemmas=lemmas or None, symbol=claim.symbol, notes=claim.notes or None,
    )  # fmt: skip


def _fold(claim: Fold, known: Known) -> Result:
    base, step = (prove_claim(part, known) for part in (claim.base, claim.step))
    for part in (base, step):
        if not part:
            return part
    claimed = {"kind": "fold", "symbol": claim.symbol, "base": base.certificate, "step": step.certificate}
    certificate = certify(claimed, {}, notes=_joined(claim.base.notes, claim.step.notes))
    seconds, equalities = base.seconds + step.seconds, base.equalities + step.equalities
    try:
        statement = tuple(check(certificate))
    except Refused as refusal:
        return Result(NOT_PROVED, reason=f"induction: {refusal}", seconds=seconds)
    return Result(PROVED, statement, certificate, equalities=equalities, seconds=seconds)


def _joined(*notes: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the readings of several notes in one."""
    found = [reading for each in notes for reading in each.get("readings", [])]
    return {"readings": [r for place, r in enumerate(found) if r not in found[:place]]} if found else None
