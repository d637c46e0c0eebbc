"""Wrong gradients made from right ones, one operation changed at a time: none is proved, and they are refuted."""

from collections import Counter

import pytest

from tests.foreign.judged import CASES, gap, pair, results, table
from vjproof.validation.gradient_claim import answer, question_of_modules

LEAST = 300


def statuses(counts):
    total = Counter()
    for (_, status), count in counts.items():
        total[status] += count
    return total


def test_mutants_of_rules_are_not_proved():
    counts = table(CASES)
    total = statuses(counts)
    assert total["refuted"] >= LEAST
    assert total["not proved"] <= 0.01 * total["refuted"]
    assert total["undefined"] <= 0.1 * total["refuted"]
    refuted = {kind for kind, status in counts if status == "refuted"}
    assert {"operands swapped", "dropped add", "literal by some ulps", "sign", "dimension numbers"} <= refuted


@pytest.mark.parametrize("name", [*CASES, "network"])
def test_the_right_ones_are_proved(name):
    """The red control: answers are due to the mutation."""
    forward, gradient = pair(name)
    assert answer(question_of_modules(forward, gradient, "all"))
    assert gap(results(gradient), results(gradient)) == 0


def test_a_few_mutants_of_a_network():
    total = statuses(table(["network"], every=45))
    assert total["refuted"] >= 10


@pytest.mark.slow
def test_mutants_of_a_network_are_not_proved():
    counts = table(["network"])
    total = statuses(counts)
    assert total["refuted"] >= LEAST
    assert total["not proved"] <= 0.01 * total["refuted"]
    assert total["undefined"] <= 0.1 * total["refuted"]
    assert {"slice start", "dimension numbers"} <= {kind for kind, status in counts if status == "refuted"}
