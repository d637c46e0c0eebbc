"""What becomes of each mutant: proved, refuted or not proved; and what the kernel alone says of it."""

from collections import Counter
from unittest.mock import patch

from tests.prover.chains import chains, hypothesis_of, prove, proved
from tests.prover.mutations import Mutations
from tests.prover.oracle import NOWHERE, SAME, compare
from vjproof.kernel.certificate import check
from vjproof.kernel.check import Comparison
from vjproof.kernel.program import Refused
from vjproof.kernel.signs import conditions_of
from vjproof.program.recorder import program_data
from vjproof.prover.search import certify

LITTLE_WORK = {"WORK": 60_000, "WORK_PER_LINE": 0}  # the right programs need less than half of it


class FalseAnswerError(AssertionError):
    """The prover or the kernel said something that numbers contradict."""


def sample(share, names=None):
    """Yield (chain, mutant): `share` mutants of each kind for each chain (None: all)."""
    for name in names or chains():
        for mutant in Mutations(chains()[name].second).sample(share):
            yield name, mutant


BIG = ("vit_tower_back_k_eq_vjp", "vit_input_grad_k_eq")


def is_leaf(name):
    """Say whether a chain is short."""
    return len(chains()[name].second.operations) < 60


def share(name):
    """Return how many mutants of each kind the gate takes: fewer of large chains."""
    return 6 if is_leaf(name) else 1 if name.startswith(BIG) else 3


def gate(names=None):
    """Yield the gate's mutants."""
    for name in names or chains():
        yield from sample(share(name), [name])


def outcome(name, mutant):
    """Return the prover's answer for a mutant, with what the oracle says where that is not `other function`."""
    pair, (kind, words, program) = chains()[name], mutant
    truth = compare(pair.second, program, pair.positive)
    if truth == NOWHERE:
        return NOWHERE
    with patch.multiple("vjproof.kernel.check", **LITTLE_WORK):
        result = prove(pair, program)
    if result.status == "proved" and truth != SAME:
        raise FalseAnswerError(f"false proof: {name}: {kind}: {words}")
    if result.status == "refuted" and truth == SAME:
        raise FalseAnswerError(f"false counterexample: {name}: {kind}: {words}: {result}")
    return f"{truth}, {result.status}" if truth == SAME else result.status


def kernel_alone(name, mutant):
    """Replay the right program's proof on a mutant, every step that the kernel accepts; say whether it is refused.

    No numbers are looked at before the kernel has answered.
    """
    pair, right, (kind, words, program) = chains()[name], proved(name), mutant
    proof = right.certificate["proof"]
    with patch.multiple("vjproof.kernel.check", **LITTLE_WORK):
        try:
            steps = accepted(pair, program, proof)
            check(renewed(pair, program, right.certificate, steps), hypothesis_of(pair))
        except Refused:
            return "refused"
    truth = compare(pair.second, program, pair.positive)
    if truth != SAME:
        raise FalseAnswerError(f"the kernel accepts a wrong program: {name}: {kind}: {words} ({truth})")
    return f"{SAME}, accepted"


def accepted(pair, program, proof):
    """Return the steps of a proof that the kernel accepts for another program."""
    comparison = Comparison(pair.forward, program, proof["landmarks"], pair.positive, pair.wrt, pair.cotangents)
    steps = []
    for value, role, target, order in proof["steps"]:
        try:
            comparison.match(value, role, target, tuple(order))
        except Refused:
            continue
        steps.append([value, role, target, order])
    return steps


def renewed(pair, program, certificate, steps):
    """Return a certificate for another second program, with that program's own conditions and new digests."""
    conditions = [f"forward: {c}" for c in conditions_of(pair.forward, pair.positive)]
    conditions += [f"second: {c}" for c in conditions_of(program, pair.positive)]
    claim = {**certificate["claim"], "second": program_data(program), "conditions": conditions}
    return certify(claim, {"landmarks": certificate["proof"]["landmarks"], "steps": steps})


def without_numbers():
    """Let the search go on where numbers have refuted the claim, so that the kernel alone stands in the way."""
    return patch("vjproof.prover.refute.refute", return_value=None)


def table(mutants, judge):
    """Return {kind: Counter of answers} of `judge` over (chain, mutant) pairs."""
    rows = {}
    for name, mutant in mutants:
        rows.setdefault(mutant[0], Counter())[judge(name, mutant)] += 1
    return rows


def written(rows):
    """Return the kill table as Markdown: a line for each kind of mistake, a column for each answer."""
    answers = sorted({answer for row in rows.values() for answer in row})
    lines = [f"| mistake | mutants | {' | '.join(answers)} |", "|---" * (len(answers) + 2) + "|"]
    for kind, row in sorted(rows.items()):
        lines.append(f"| {kind} | {row.total()} | {' | '.join(str(row[answer]) for answer in answers)} |")
    total = sum(rows.values(), Counter())
    lines.append(f"| all | {total.total()} | {' | '.join(str(total[answer]) for answer in answers)} |")
    return "\n".join(lines)
