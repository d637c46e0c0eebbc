"""The search for a proof: numbers suggest landmarks and equal values, the kernel accepts or refuses each."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vjproof.kernel.certificate import check, digests_of
from vjproof.kernel.check import Comparison
from vjproof.kernel.program import Program, Refused
from vjproof.program.recorder import program_data
from vjproof.prover.candidates import Target, Values, targets_of
from vjproof.prover.fingerprint import Assumed, Numbers
from vjproof.prover.result import NOT_PROVED, PROVED, REFUTED, Result

PASSIVE = ("const", "size", "broadcast", "reshape", "transpose", "input")
LANDMARK_KINDS = ("dot", "add", "call")
MOST_EXHAUSTED = 2  # attempts that may end above the kernel's bound on work
ASSUMED = "an assumption fails at the points that were tried"


def prove_programs(
    forward: Program,
    second: Program,
    *,
    wrt: Sequence[str] = (),
    cotangents: Sequence[str] = (),
    positive: Sequence[str] = (),
    lemmas: Mapping[str, Any] | None = None,
    symbol: str | None = None,
    notes: Mapping[str, Any] | None = None,
    assumed: Sequence[Assumed] = (),
    given: Mapping[str, Any] | None = None,
) -> Result:
    """Return whether `second` is the VJP of `forward` with respect to `wrt`, or equals it where `wrt` is empty.

    `cotangents` are the inputs of `second` that stand for the outputs' cotangents; `positive` inputs are > 0 by
    hypothesis; `lemmas` are certificates for opaque calls, `symbol` the call that an induction hypothesis covers.
    `assumed` is what the programs were made under: where it fails at a random point nothing is proved or refuted.
    `given` are numbers of inputs: a proof holds for any, a counterexample is to have these.
    """
    import numpy as np

    began = time.perf_counter()
    from vjproof.prover.refute import refute, refute_in_balls

    numbers = Numbers(forward, second, wrt, cotangents, positive, assumed=assumed, given=given)
    if not _finite(numbers):
        numbers = Numbers(forward, second, wrt, cotangents, positive, seed=1, assumed=assumed, given=given)
        if not any(np.isfinite(numbers.other[output]).any() for output in second.outputs):
            reason = "the second program is nowhere defined at the points that were tried"
            return Result(NOT_PROVED, reason=reason, seconds=time.perf_counter() - began)
    if broken := numbers.broken():
        reason = f"{ASSUMED}: {broken.value} {broken.relation} {broken.number:.9g}"
        return Result(NOT_PROVED, reason=reason, seconds=time.perf_counter() - began)
    counterexample = refute(numbers, wrt, cotangents, positive)
    if counterexample is not None:
        return Result(REFUTED, counterexample=counterexample, seconds=time.perf_counter() - began)
    kind = "vjp" if wrt else "equal"
    reason = "no landmark resisted, and no proof was found"
    values = Values(numbers, second, numbers.other)
    exhausted = 0
    for landmarks in _landmark_sets(numbers, values):
        if exhausted == MOST_EXHAUSTED:
            break
        try:
            attempt = _Attempt(numbers, values, landmarks, positive, wrt, cotangents)
            reason = attempt.resisted or reason
            attempt.finish()
        except Refused as refusal:
            reason = attempt.resisted if "attempt" in locals() and attempt.resisted else str(refusal)
            exhausted += str(refusal) == "too much work"
            continue
        claim: dict[str, Any] = {"kind": kind, "forward": program_data(forward), "second": program_data(second)}
        claim |= {"positive": list(positive), "conditions": attempt.comparison.conditions}
        claim |= {"wrt": list(wrt), "cotangents": list(cotangents)} if wrt else {}
        certificate = certify(claim, {"landmarks": landmarks, "steps": attempt.steps}, lemmas, notes)
        try:
            statement = check(certificate, symbol)
        except Refused as refusal:
            return Result(NOT_PROVED, reason=str(refusal), seconds=time.perf_counter() - began)
        count = len(attempt.steps) + len(attempt.comparison.definition) + len(second.outputs)
        return Result(PROVED, tuple(statement), certificate, None, "", count, time.perf_counter() - began)
    counterexample = refute_in_balls(numbers, wrt, cotangents)
    status = NOT_PROVED if counterexample is None else REFUTED
    return Result(status, counterexample=counterexample, reason=reason, seconds=time.perf_counter() - began)


def certify(
    claim: Mapping[str, Any],
    proof: Mapping[str, Any],
    lemmas: Mapping[str, Any] | None = None,
    notes: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the certificate document of a claim and its proof, with the digests of claim, programs and kernel."""
    certificate: dict[str, Any] = {"claim": dict(claim), "proof": dict(proof)}
    certificate["digests"] = digests_of(claim)
    if lemmas:
        certificate["lemmas"] = dict(lemmas)
    if notes:
        certificate["notes"] = dict(notes)
    return certificate


def _finite(numbers: Numbers) -> bool:
    import numpy as np

    arrays = [*numbers.values.values(), *numbers.other.values()]
    return all(np.isfinite(array).all() for array in arrays)


def _landmark_sets(numbers: Numbers, values: Values) -> Iterator[list[str]]:
    """Yield sets of landmarks to try: values whose adjoint (or value) the second program computes.

    A landmark that the second program does not compute, such as a product before its bias is added, stands in the way
    of the values after it: the first set has only those of which it computes both value and adjoint.
    """
    operations = numbers.forward.operations

    def computed(role: str, name: str) -> bool:
        array = numbers.adjoints[name] if role == "adjoint" else numbers.values[name]
        return any(
            True
            for target in targets_of(numbers, role, name, array)
            for value in values.like(target)
            for _ in values.orders(value, target)
        )

    candidates = [name for name, operation in operations.items() if operation.kind in LANDMARK_KINDS]
    found = {name for name in candidates if computed("adjoint" if name in numbers.adjoints else "value", name)}
    called = {name for op in operations.values() if op.kind == "call" for name in (*op.arguments, op.name)}
    both = {name for name in found if computed("value", name)}
    dots = {name for name in found if operations[name].kind == "dot"}
    tried: list[set[str]] = []
    for chosen in (both | called, found | called, dots | called, called):
        if chosen not in tried:
            tried.append(chosen)
            yield [name for name in operations if name in chosen]


class _Attempt:
    """One run through the second program, naming what the kernel accepts."""

    def __init__(
        self,
        numbers: Numbers,
        values: Values,
        landmarks: list[str],
        positive: Sequence[str],
        wrt: Sequence[str],
        cotangents: Sequence[str],
    ) -> None:
        self.numbers, self.wrt = numbers, wrt
        self.steps: list[list[Any]] = []
        self.resisted = ""
        self.comparison = Comparison(numbers.forward, numbers.second, landmarks, positive, wrt, cotangents)
        may_be: dict[str, list[Target]] = {}
        for target in self._targets(landmarks):
            for value in values.like(target):
                may_be.setdefault(value, []).append(target)
        for value, operation in numbers.second.operations.items():
            if operation.kind != "input":
                self._name(value, operation.kind, values, may_be.get(value, []))

    def _targets(self, landmarks: list[str]) -> list[Target]:
        """Return what a value may be: landmarks and adjoints; a mere output would hide how it is made.

        So would the adjoint of an input, which no other adjoint needs.
        """
        numbers = self.numbers
        found = [target for name in landmarks for target in targets_of(numbers, "value", name, numbers.values[name])]
        for name in self.comparison.adjoint:
            if name in numbers.adjoints and name not in numbers.forward.inputs:
                found += targets_of(numbers, "adjoint", name, numbers.adjoints[name])
        return found

    def _name(self, value: str, kind: str, values: Values, targets: list[Target]) -> None:
        """Name a value; one that only moves entries is named as a landmark of its own kind, or not at all."""
        for target in targets:
            if kind in PASSIVE and (target.role, self._kind(target)) != ("value", kind):
                continue
            for order in values.orders(value, target):
                try:
                    self.comparison.match(value, target.role, target.name, order)
                except Refused as refusal:
                    self.resisted = self.resisted or f"{refusal} (the numbers agree)"
                else:
                    self.steps.append([value, target.role, target.name, order])
                    return

    def _kind(self, target: Target) -> str:
        return str(self.numbers.forward.operations[target.name].kind)

    def finish(self) -> None:
        """Raise Refused unless the outputs of the second program are what is claimed."""
        goals = [("adjoint", name) for name in self.wrt] or [("value", name) for name in self.numbers.forward.outputs]
        if len(goals) != len(self.numbers.second.outputs):
            raise Refused("the second program has another number of outputs than the claim")
        for output, (role, target) in zip(self.numbers.second.outputs, goals, strict=True):
            self.comparison.same_output(output, role, target)
