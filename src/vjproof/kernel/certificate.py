"""Certificates: documents that hold a claim and its proof, checked with no search.

    {"claim": ..., "proof": {"landmarks": [names], "steps": [[value, role, target, order], ...]},
     "lemmas": {symbol: certificate of a fold}, "digests": see digests_of, "notes": not read here}

A claim is one of
    vjp    forward, second, wrt, cotangents, positive, conditions: second is the reverse of forward
    equal  forward, second, positive, conditions: both have the same outputs, whatever the opaque functions are
    fold   symbol, base, step (vjp certificates): induction on the depth
Claim and proof are separate: what a claim says and this kernel does not derive is refused.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from vjproof.kernel.check import Comparison
from vjproof.kernel.program import MALFORMED, Program, Refused, fits, named, program_from

MAX_BYTES = 16_000_000
EQUAL = {"kind", "forward", "second", "positive", "conditions"}
FIELDS = {"equal": EQUAL, "vjp": EQUAL | {"wrt", "cotangents"}, "fold": {"kind", "symbol", "base", "step"}}


def digest(data: Any) -> str:
    """Return the SHA-256 of a document: JSON with sorted keys and no spaces."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def digests_of(claim: Any) -> dict[str, str]:
    """Return the SHA-256 of a claim, of each of its programs (or parts, for a fold), and of this kernel's files."""
    parts = {name: digest(claim[name]) for name in ("forward", "second", "base", "step") if name in claim}
    files = sorted(Path(__file__).parent.glob("*.py"))
    kernel = hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()
    return {"claim": digest(claim), **parts, "kernel": kernel}


def check(certificate: Any, symbol: str | None = None) -> list[str]:
    """Return the lines of the statement that a certificate proves; Refused where it proves none.

    `symbol` is the opaque function whose reverse the induction hypothesis of an enclosing fold gives.
    """
    try:
        claim = certificate["claim"]
        if not {"claim", "proof", "digests"} <= set(certificate) <= {"claim", "proof", "digests", "lemmas", "notes"}:
            raise Refused("a certificate has claim, proof and digests, and may have lemmas and notes")
        if certificate["digests"] != digests_of(claim):
            raise Refused("the digests are not those of this claim and this kernel")
        if set(claim) != FIELDS[claim["kind"]]:
            raise Refused(f"a claim of kind {claim['kind']} has the fields {sorted(FIELDS[claim['kind']])}")
        if claim["kind"] == "fold":
            return _fold(claim)
        return _pair(claim, certificate["proof"], certificate.get("lemmas", {}), symbol)
    except MALFORMED as error:
        raise Refused(f"malformed certificate ({type(error).__name__})") from None


def _pair(claim: Any, proof: Any, lemmas: Any, symbol: str | None) -> list[str]:
    """Check a claim about two programs."""
    forward, second = program_from(claim["forward"]), program_from(claim["second"])
    wrt, cotangents, positive = claim.get("wrt", []), claim.get("cotangents", []), claim["positive"]
    fits(all(isinstance(names, list) for names in (wrt, cotangents, positive, proof["landmarks"], proof["steps"])))
    fits(bool(wrt) == (claim["kind"] == "vjp"))
    if not {*map(named, positive)} <= {*forward.inputs}:
        raise Refused("only inputs of the forward program are positive by hypothesis")
    comparison = Comparison(forward, second, proof["landmarks"], positive, wrt, cotangents)
    calls = [op for program in (forward, second) for op in program.operations.values() if op.kind.startswith("call")]
    symbols, assumed = sorted({op.attributes["symbol"] for op in calls}), []
    for name in symbols if wrt else ():
        if name != symbol:
            _fits(forward, name, lemmas[name]["claim"])
            assumed += [f"  [{name}] {line}" for line in check(lemmas[name])]
    if claim["conditions"] != comparison.conditions:
        raise Refused(f"the conditions are {comparison.conditions}, not those of the claim")
    for value, role, target, order in proof["steps"]:
        comparison.match(value, role, target, order)
    goals = wrt or forward.outputs
    if len(second.outputs) != len(goals):
        raise Refused("the second program has another number of outputs than the claim")
    for output, target in zip(second.outputs, goals, strict=True):
        comparison.same_output(output, "adjoint" if wrt else "value", target)
    sizes = ", ".join(name for name, size in forward.atoms.items() if size is None)
    free = f"for all functions {', '.join(symbols)}; " if symbols and not wrt else ""
    scope = (f"for all sizes >= 1 of {sizes}; " if sizes else "") + free + f"for all real {', '.join(forward.inputs)}"
    lines = [f"where {condition}" for condition in [f"{name} > 0" for name in positive] + comparison.conditions]
    if not wrt:
        return [scope, *lines, "the outputs of the second program equal those of the forward program."]
    result = "output {} of the second program is the sum over j of cotangent[j] * d forward[j] / d {}[i]."
    results = [result.format(place, name) for place, name in enumerate(wrt)]
    return [f"{scope} and the cotangents", *lines, *results, *assumed]


def _fits(program: Program, symbol: str, fold: Any) -> None:
    """Refuse unless every call of a symbol has the axes of the fold's own function, of any size."""
    start = program_from(fold["base"]["claim"]["forward"])
    core = (start.shape(fold["base"]["claim"]["wrt"][0]), start.shape(start.outputs[0]))
    for operation in program.operations.values():
        if operation.kind == "call" and operation.attributes["symbol"] == symbol:
            lead, (argument,) = operation.attributes["lead"], operation.arguments
            if (program.shape(argument)[lead:], operation.shape[lead:]) != core:
                raise Refused(f"call {operation.name} has other axes than the function of its lemma")
    fixed = [atom for atom, size in start.atoms.items() if size and program.atoms.get(atom, size) != size]
    if fold["kind"] != "fold" or fixed:
        raise Refused("a lemma is a fold, and fixes no size of an axis that is free here")


def _fold(claim: Any) -> list[str]:
    """Rule: if g_0 is the reverse of f_0 and one step keeps it so, then g_k is that of f_k at every depth k."""
    base, step, symbol = claim["base"]["claim"], claim["step"]["claim"], named(claim["symbol"])
    if (base["kind"], step["kind"]) != ("vjp", "vjp") or len(base["wrt"]) != 1 or step["wrt"] != base["wrt"]:
        raise Refused("a fold is about the reverse with respect to one array that goes through all blocks")
    start, forward = program_from(base["forward"]), program_from(step["forward"])
    ends = [(p.atoms, p.shape(base["wrt"][0]), [p.shape(output) for output in p.outputs]) for p in (start, forward)]
    if ends[0] != ends[1] or len(start.outputs) != 1:
        raise Refused("base and step have different axes, or several outputs")
    _fits(forward, symbol, {"kind": "fold", "base": claim["base"]})
    lines = [f"  [least depth] {line}" for line in check(claim["base"])]
    lines += [f"  [one block more, {symbol} for the rest] {line}" for line in check(claim["step"], symbol)]
    return [f"by induction, at every depth, for the functions that begin and go on as follows ({symbol}):", *lines]


def read(path: str | Path) -> Any:
    """Read a certificate file; Refused where it is too large or no JSON."""
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise Refused(f"larger than {MAX_BYTES} bytes")
        return json.loads(Path(path).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(f"unreadable ({type(error).__name__})") from None
