"""Certificates written by hand for false claims, and certificates that would exhaust the checker."""

import itertools

import pytest

from tests.kernel.bounded import outcome
from tests.kernel.documents import N, certificate, equal, fold, given, number, program, value, vjp
from vjproof.kernel.certificate import check
from vjproof.kernel.program import Refused

X, D = given("x", ["N"]), given("d", ["N"])
CALL = value("y", "call", "x", symbol="f", lead=0, shape=[["N"]])
CALL_BACK = value("g", "call_back", "x", "d", symbol="f", lead=0)
SAME = program(N, [X, value("o", "reshape", "x", shape=[["N"]])], "o")
BACK = program(N, [X, D], "d")
ONES = [number("c", "1"), value("b", "broadcast", "c", shape=[["N"]], places=[])]


def by_definition():
    """Return a claim that puts a program in the place of an unknown function; no rule gives such a thing."""
    adds = program(N, [X, *ONES, value("y", "add", "x", "b")], "y")
    claim = equal(program(N, [X, CALL], "y"), adds, definitions={"f": {"program": adds, "input": "x"}})
    same = certificate(equal(SAME, SAME))
    return certificate(claim, lemmas={"f": certificate(fold("f", same, same))})


def without_a_lemma():
    return certificate(vjp(program(N, [X, CALL], "y"), program(N, [X, D, CALL_BACK], "g")), ["y"])


def size_in_the_step(axes):
    """Return a claim about all sizes from a step that multiplies by the size of N, at the given axes."""
    times = [value("n", "size", axis=["N"], exponent="1"), value("b", "broadcast", "n", shape=[["N"]], places=[]),
             value("z", "mul", "y", "b")]  # fmt: skip
    step = vjp(program(axes, [X, CALL, *times], "z"), program(axes, [X, D, CALL_BACK], "g"))
    lemma = fold("f", certificate(vjp(SAME, BACK)), certificate(step, ["y"]))
    claim = vjp(program(N, [X, CALL], "y"), program(N, [X, D, CALL_BACK], "g"))
    return certificate(claim, ["y"], lemmas={"f": certificate(lemma)})


def positive_by_a_name_inside_another():
    inputs = [given(name) for name in ("a", "b", "ab")]
    root = [value("r", "power", "ab", exponent="1/2"), value("s", "mul", "r", "r")]
    twice = [value("s", "neg", "ab"), value("t", "neg", "s")]
    return certificate(equal(program({}, [*inputs, *root], "s"), program({}, [*inputs, *twice], "t"), "ab"))


def positive_by_the_name_of_an_input():
    """The second program gives a value of its own the name of an input that is positive by hypothesis."""
    root = [value("a", "neg", "b"), value("r", "power", "a", exponent="1/2"), value("s", "mul", "r", "r")]
    forward = program({}, [given("a"), given("b"), value("s", "neg", "b")], "s")
    return certificate(equal(forward, program({}, [given("b"), *root], "s"), "a"))


def renamed(name):
    lines = [given(name, ["N"]), value("y", "neg", name)]
    return certificate(equal(program(N, lines, "y"), program(N, lines, "y")))


FALSE = {
    "an unknown function that is given a program": by_definition(),
    "an unknown function without a lemma": without_a_lemma(),
    "a step for N = 1, a claim for every N": size_in_the_step({"N": 1}),
    "a hypothesis read from a text": positive_by_a_name_inside_another(),
    "a hypothesis on a value that only has the name": positive_by_the_name_of_an_input(),
    "a name that writes a line of the statement": renamed("x\n  and the gradient is exact for every loss; z"),
    "a name that moves the cursor": renamed("x\x1b[2K"),
    "a name that cannot be printed": renamed("\ud800"),
}  # fmt: skip


@pytest.mark.parametrize("name", FALSE)
def test_a_false_claim_is_refused(name):
    with pytest.raises(Refused):
        check(FALSE[name])


def test_the_step_for_every_size_is_refused_because_it_is_wrong():
    with pytest.raises(Refused, match="not shown"):
        check(size_in_the_step(N))


def chain(first, count, line):
    """Return lines v0, v1, ...: each is made from the one before."""
    names = [first, *(f"v{place}" for place in range(count))]
    return [line(new, old) for old, new in itertools.pairwise(names)], names[-1]


def bomb(axes, start, count, line):
    lines, last = chain(start[0], count, line)
    both = program(axes, [start, *lines], last)
    return certificate(equal(both, both))


def squares(new, old):
    return value(new, "mul", old, old)


def outer(new, old):
    return value(new, "dot", old, old, batch=[[], []], contract=[[], []])


def grow_by_exponentials():
    lines, last = [X], "x"
    for place in range(60):
        lines += [value(f"e{place}", "exp", last), value(f"a{place}", "add", f"e{place}", last),
                  value(f"s{place}", "mul", f"a{place}", f"a{place}")]  # fmt: skip
        last = f"s{place}"
    return certificate(equal(program(N, lines, last), program(N, lines, last)))


BOMBS = {
    "axes doubled by outer products": bomb(N, X, 40, outer),
    "parts doubled by concatenation": bomb(N, X, 40, lambda n, o: value(n, "concat", o, o, axis=0)),
    "squares of squares": bomb({}, number("c", "3"), 40, squares),
    "64th powers of 64th powers": bomb({}, number("c", "2"), 6, lambda n, o: value(n, "power", o, exponent="64")),
    "squares of squares of a sum": bomb(N, X, 40, lambda n, o: squares(n, o)),
    "exponentials of sums of exponentials": grow_by_exponentials(),
    "five thousand exponentials": bomb(N, X, 5000, lambda n, o: value(n, "exp", o)),
    "five thousand signs": bomb(N, X, 5000, lambda n, o: value(n, "neg", o)),
}


@pytest.mark.parametrize("name", BOMBS)
def test_the_checker_is_not_exhausted(name):
    assert outcome(BOMBS[name]).split()[0] in ("refused", "proved")
