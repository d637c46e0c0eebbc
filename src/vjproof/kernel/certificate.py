"""Certificates: documents that hold a claim and its proof, checked with no search.

    {"claim": ..., "proof": {"landmarks": [...], "steps": [[value, role, target, order], ...]},
     "lemmas": {symbol: certificate of a fold}, "digests": {...}, "notes": not read by the kernel}

A claim is one of
    vjp    forward, second, wrt, cotangents, positive, conditions: second is the reverse of forward
    equal  forward, second, positive, conditions, definitions: both have the same outputs
    fold   symbol, base, step (certificates): induction on the depth
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from vjproof.kernel.check import Comparison, Reverse
from vjproof.kernel.program import Refused, program_from

MAX_BYTES = 64_000_000


def digest(data):
    """Return the SHA-256 of a document: JSON with sorted keys and no spaces."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def kernel_digest():
    """Return the SHA-256 of this kernel's source files, in order of their names."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def check(certificate, symbol=None):
    """Return the lines of the statement that a certificate proves; Refused where it proves none.

    `symbol` is the one opaque function that the induction hypothesis of an enclosing fold speaks of.
    """
    try:
        if not {"claim", "proof", "digests"} <= set(certificate) <= {"claim", "proof", "digests", "lemmas", "notes"}:
            raise Refused("a certificate has claim, proof, digests, and may have lemmas and notes")
        if certificate["digests"] != {"claim": digest(certificate["claim"]), "kernel": kernel_digest()}:
            raise Refused("the digests are not those of this claim and this kernel")
        claim, lemmas = certificate["claim"], certificate.get("lemmas", {})
        if claim["kind"] == "fold":
            return _fold(claim)
        return _pair(claim, certificate["proof"], lemmas, symbol)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, RecursionError) as error:
        raise Refused(f"malformed certificate ({type(error).__name__})") from None


def _pair(claim, proof, lemmas, symbol):
    """Check a claim about two programs."""
    forward, second = program_from(claim["forward"]), program_from(claim["second"])
    positive = claim["positive"]
    if not set(positive) <= set(forward.inputs):
        raise Refused("only inputs of the forward program are positive by hypothesis")
    if claim["kind"] == "vjp":
        _fields(claim, {"kind", "forward", "second", "wrt", "cotangents", "positive", "conditions"})
        assumed = _lemmas(forward, second, lemmas, symbol)
        comparison = Reverse(forward, second, proof["landmarks"], positive, claim["wrt"], claim["cotangents"])
        goals = [("adjoint", name) for name in claim["wrt"]]
    elif claim["kind"] == "equal":
        _fields(claim, {"kind", "forward", "second", "positive", "conditions", "definitions"})
        assumed = []
        definitions = {name: _definition(data, forward) for name, data in claim["definitions"].items()}
        for name, data in claim["definitions"].items():
            if name != symbol:
                lemma = lemmas[name]["claim"]
                if lemma["kind"] != "fold" or lemma["step"]["claim"].get("definitions", {}).get(name) != data:
                    raise Refused(f"the definition of {name!r} is no induction hypothesis, and no lemma shows it")
                assumed += [f"  [{name}] {line}" for line in check(lemmas[name])]
        comparison = Comparison(forward, second, proof["landmarks"], positive, definitions)
        goals = [("value", name) for name in forward.outputs]
    else:
        raise Refused("a claim is vjp, equal or fold")
    if claim["conditions"] != comparison.conditions:
        raise Refused(f"the conditions are {comparison.conditions}, not those of the claim")
    for value, role, target, order in proof["steps"]:
        comparison.match(value, role, target, tuple(order))
    if len(second.outputs) != len(goals):
        raise Refused("the second program has another number of outputs than the claim")
    for output, (role, target) in zip(second.outputs, goals, strict=True):
        comparison.same_output(output, role, target)
    return _words(claim, forward) + assumed


def _fields(claim, names):
    if set(claim) != names:
        raise Refused(f"a claim of this kind has the fields {sorted(names)}")


def _definition(data, forward):
    program = program_from(data["program"])
    shared = {name: program.shape(name) for name in program.inputs if name != data["input"]}
    if any(name not in forward.inputs or forward.shape(name) != shape for name, shape in shared.items()):
        raise Refused("a definition may use inputs of the forward program alone")
    names = {name: (f"v:{name}", range(sum(map(len, shape)))) for name, shape in shared.items()}
    return program, data["input"], names


def _calls(program):
    return [operation for operation in program.operations.values() if operation.kind == "call"]


def _lemmas(forward, second, lemmas, symbol):
    """Check that each opaque function has a reverse by a lemma or by the induction hypothesis."""
    lines = []
    for name in sorted({op.attributes["symbol"] for op in (*_calls(forward), *_calls(second))}):
        if name != symbol:
            if name not in lemmas or lemmas[name]["claim"]["kind"] != "fold":
                raise Refused(f"nothing is known of the reverse of {name!r}")
            _fits(forward, name, lemmas[name]["claim"])
            lines += [f"  [{name}] {line}" for line in check(lemmas[name])]
    return lines


def _fits(program, symbol, fold):
    """Refuse unless every call of a symbol has the axes of the fold's own function."""
    base = fold["base"]["claim"]
    core = program_from(base["forward"])
    for operation in _calls(program):
        if operation.attributes["symbol"] == symbol:
            lead, (argument,) = operation.attributes["lead"], operation.arguments
            given = (program.shape(argument)[lead:], operation.shape[lead:])
            if given != (core.shape(base["wrt"][0]), core.shape(core.outputs[0])):
                raise Refused(f"call {operation.name!r} has other axes than its lemma")
    if any(core.atoms.get(atom) not in (None, size) for atom, size in program.atoms.items()):
        raise Refused("a lemma fixes the size of an axis that is free here")


def _fold(claim):
    """Rule: from f_0 and the step f_k -> f_(k+1) with the hypothesis on f_k, the claim for every depth k."""
    _fields(claim, {"kind", "symbol", "base", "step"})
    base, step, symbol = claim["base"]["claim"], claim["step"]["claim"], claim["symbol"]
    if base["kind"] != step["kind"] or base["kind"] not in ("vjp", "equal"):
        raise Refused("base and step claim the same kind of thing")
    if base["kind"] == "vjp":
        if len(base["wrt"]) != 1 or step["wrt"] != base["wrt"] or step["cotangents"] != base["cotangents"]:
            raise Refused("a fold is about one array that goes through all blocks")
        forward, start = program_from(step["forward"]), program_from(base["forward"])
        _fits(forward, symbol, claim)
        ends = [(p.shape(base["wrt"][0]), [p.shape(output) for output in p.outputs]) for p in (forward, start)]
        if ends[0] != ends[1] or len(start.outputs) != 1:
            raise Refused("base and step have different axes")
    lines = [f"  [depth 0] {line}" for line in check(claim["base"])]
    lines += [f"  [depth k + 1, {symbol} = depth k] {line}" for line in check(claim["step"], symbol)]
    return [f"By induction, for every depth k, with {symbol!r} for the function of depth k:", *lines]


def _words(claim, forward):
    symbolic = [name for name, size in forward.atoms.items() if size is None]
    free = f"for all sizes >= 1 of {', '.join(symbolic)}; " if symbolic else ""
    given = [f"{name} > 0" for name in claim["positive"]] + claim["conditions"]
    lines = [f"{free}for all real values of {', '.join(forward.inputs)}" + (" and the cotangent" if claim["kind"] == "vjp" else "")]
    lines += [f"where {condition}" for condition in given]
    if claim["kind"] == "equal":
        return [*lines, "the outputs of the second program equal those of the forward program."]
    return [
        *lines,
        *(f"output {place} of the second program is sum over j of cotangent[j] * d forward[j] / d {name}[i]."
          for place, name in enumerate(claim["wrt"])),
    ]  # fmt: skip


def read(path):
    """Read a certificate file; Refused where it is too large or no JSON object."""
    file = Path(path)
    try:
        if file.stat().st_size > MAX_BYTES:
            raise Refused(f"larger than {MAX_BYTES} bytes")
        data = json.loads(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise Refused(f"unreadable ({type(error).__name__})") from None
    if not isinstance(data, dict):
        raise Refused("not a JSON object")
    return data
