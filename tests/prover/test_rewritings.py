"""Few lost proofs: every correct rewriting is proved; each pair with one side scaled is refuted."""

import pytest

from tests.prover.oracle import SAME, compare
from tests.prover.rewritings import REWRITINGS
from vjproof.program.recorder import record
from vjproof.prover.search import prove_programs

LOST = {  # correct and not proved, each with what the normal form lacks
    "slope of gelu by erf": "sqrt(2 pi) rounded twice is not the float nearest to it, so it is read as a decimal",
    "concatenation of functions": "a function of a concatenation is not the concatenation of the function",
}


def lost(names):
    """Return parameters, the lost ones as strict expected failures."""
    marks = {name: [pytest.mark.xfail(reason=LOST[name], strict=True)] if name in LOST else [] for name in names}
    return [pytest.param(name, marks=marks[name]) for name in names]


def programs(name):
    shapes, left, right = REWRITINGS[name]
    return record(left, shapes), record(right, shapes)


def positive(program):
    return tuple(name for name in program.inputs if name == "eps")


def test_there_are_sixty_rewritings():
    assert len(REWRITINGS) >= 60


@pytest.mark.parametrize("name", lost(REWRITINGS))
def test_a_rewriting_is_proved(name):
    left, right = programs(name)
    assert compare(left, right, positive(left)) == SAME
    result = prove_programs(left, right, positive=positive(left))
    assert result, str(result)


@pytest.mark.parametrize("name", REWRITINGS)
def test_a_rewriting_that_is_scaled_is_refuted(name):
    """The red control: almost right is not right."""
    shapes, left, right = REWRITINGS[name]

    def scaled(*arrays):
        outputs = right(*arrays)
        several = outputs if isinstance(outputs, tuple) else (outputs,)
        return (*several[:-1], several[-1] * 1.001)

    first = record(left, shapes)
    assert prove_programs(first, record(scaled, shapes), positive=positive(first)).status == "refuted"
