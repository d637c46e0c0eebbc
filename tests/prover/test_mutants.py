"""No false proof: systematic mutants of the reverse chains, and of the kernel's input alone, are never proved."""

import pytest

from tests.prover import kill
from tests.prover.chains import chains, proved
from tests.prover.oracle import OTHER, compare
from tests.prover.wrong_reverses import WRONG
from vjproof.prover.claim import prove_claim

CHAINS = list(chains())
LEAVES = [name for name in CHAINS if len(chains()[name].second.operations) < 60]
BIG = ("vit_tower_back_k_eq_vjp", "vit_input_grad_k_eq")


def share(name):
    """Return how many mutants of each kind the gate takes: fewer of large chains."""
    return 6 if name in LEAVES else 1 if name.startswith(BIG) else 3


def gate(names=CHAINS):
    """Yield the gate's mutants."""
    for name in names:
        yield from kill.sample(share(name), [name])


def test_the_gate_has_five_hundred_mutants():
    assert len(list(gate())) >= 500


@pytest.mark.parametrize("name", CHAINS)
def test_no_mutant_that_changes_the_function_is_proved(name):
    assert proved(name)
    answers = kill.table(gate([name]), kill.outcome)
    counts = {answer for counter in answers.values() for answer in counter}
    assert "refuted" in counts
    assert counts <= {"refuted", "not proved", "nowhere defined", "same function, proved", "same function, not proved"}


@pytest.mark.parametrize("name", CHAINS)
def test_the_kernel_alone_refuses_every_mutant_that_changes_the_function(name):
    """The right proof is replayed on the mutant; nothing looks at numbers before the kernel has answered."""
    answers = kill.table(kill.sample(1, [name]), kill.kernel_alone)
    assert {answer for counter in answers.values() for answer in counter} <= {"refused", "same function, accepted"}


def test_the_replay_accepts_the_right_programs():
    """The red control of the test above: refusals are due to the mutation."""
    for name in CHAINS:
        assert kill.kernel_alone(name, ("none", "unchanged", chains()[name].second)) == "same function, accepted"


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_reverse_of_the_library_is_refuted(name):
    claim, replacements = WRONG[name]
    pair, right = claim(replacements), claim([])
    assert compare(right.second, pair.second, pair.positive) == OTHER
    result = prove_claim(pair)
    assert result.status == "refuted"
    assert result.counterexample is not None


@pytest.mark.parametrize("name", [name for name in WRONG if "blocks" not in name and "tail" not in name])
def test_the_reverse_that_was_made_wrong_is_proved_when_it_is_right(name):
    assert prove_claim(WRONG[name][0]([]))


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_no_mutant_at_all_is_proved(name):
    kill.table(kill.sample(None, [name]), kill.outcome)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_the_search_without_numbers_proves_no_mutant(name):
    with kill.without_numbers():
        kill.table(kill.sample(2, [name]), kill.outcome)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_the_kernel_alone_refuses_many_mutants(name):
    kill.table(kill.sample(8, [name]), kill.kernel_alone)
