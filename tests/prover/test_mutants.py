"""No false proof: systematic mutants of the reverse chains, and of the kernel's input alone, are never proved."""

from collections import Counter
from pathlib import Path

import pytest

from tests.prover import kill
from tests.prover.chains import chains, proved
from tests.prover.oracle import OTHER, compare
from tests.prover.wrong_reverses import WRONG
from vjproof.prover.claim import prove_claim

CHAINS = list(chains())
LEAVES = [name for name in CHAINS if kill.is_leaf(name)]
TABLE = Path(__file__).parents[2] / "docs" / "mutants.md"


def test_the_gate_has_five_hundred_mutants():
    assert len(list(kill.gate())) >= 500


def test_the_kill_table_counts_the_mutants_of_the_gate():
    """The answers in the table are those of the tests below; `tools/mutants.py` writes it."""
    counts = Counter(kind for _, (kind, _, _) in kill.gate())
    rows = [
        line.strip("| ").split(" | ")
        for line in TABLE.read_text(encoding="utf-8").splitlines()
        if line.startswith("| ")
    ]
    assert {row[0]: int(row[1]) for row in rows[1:]} == {**counts, "all": counts.total()}
    assert all(sum(map(int, row[2:])) == int(row[1]) for row in rows[1:])
    proved_ = [answer for answer in rows[0] if answer.endswith("proved") and answer != "not proved"]
    assert all("same function" in answer for answer in proved_)


@pytest.mark.parametrize("name", CHAINS)
def test_no_mutant_that_changes_the_function_is_proved(name):
    assert proved(name)
    answers = kill.table(kill.gate([name]), kill.outcome)
    counts = {answer for counter in answers.values() for answer in counter}
    assert "refuted" in counts
    assert counts <= {"refuted", "not proved", "nowhere defined", "same function, proved", "same function, not proved"}


@pytest.mark.parametrize("name", LEAVES)
def test_the_kernel_alone_refuses_every_mutant_that_changes_the_function(name):
    """The right proof is replayed on the mutant; nothing looks at numbers before the kernel has answered."""
    answers = kill.table(kill.sample(1, [name]), kill.kernel_alone)
    assert {answer for counter in answers.values() for answer in counter} <= {"refused", "same function, accepted"}


@pytest.mark.parametrize("name", CHAINS)
def test_the_replay_accepts_the_right_programs(name):
    """The red control of the test above: refusals are due to the mutation."""
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
