"""Programs that are malformed, ill-shaped or too large are refused when they are read, never anything else."""

import pytest

from tests.kernel.documents import N, given, number, program, value
from vjproof.kernel.program import Refused, program_from

X = given("x", ["N"])
M = given("m", ["N"], ["N"])
W = given("w", [[[], ["N"]]], ["K"])
AXES = {"N": None, "K": 3}


def read(*lines, outputs=None, axes=None):
    lines = [X, M, W, *lines]
    return program_from(program(AXES if axes is None else axes, lines, *(outputs or [lines[-1][0]])))


GOOD = {
    "reshape keeps the factors": value("y", "reshape", "m", shape=[["N", "N"]]),
    "transpose": value("y", "transpose", "w", order=[1, 0]),
    "slice of a union": value("y", "slice", "w", axis=0, start=1, stop=2),
    "concat": value("y", "concat", "x", "x", axis=0),
    "dot": value("y", "dot", "m", "x", batch=[[], []], contract=[[1], [0]]),
    "size": value("y", "size", axis=["N", "K"], exponent="-1/2"),
    "const": value("y", "const", value=["-3/4", {"2": "1/2", "pi": "-1"}]),
}
BAD = {
    "unknown kind": value("y", "sin", "x"),
    "unknown argument": value("y", "neg", "z"),
    "argument of its own": value("y", "neg", "y"),
    "defined twice": value("x", "neg", "m"),
    "too many arguments": value("y", "neg", "x", "x"),
    "no argument": value("y", "neg"),
    "argument that is no text": ["y", "neg", [0], {}],
    "extra attribute": value("y", "neg", "x", axis=0),
    "shapes differ": value("y", "add", "x", "m"),
    "reshape to other factors": value("y", "reshape", "x", shape=[["K"]]),
    "reshape transposes": value("y", "reshape", "w", shape=[["K"], [[[], ["N"]]]]),
    "reshape to an unknown axis": value("y", "reshape", "x", shape=[["Z"]]),
    "transpose no permutation": value("y", "transpose", "w", order=[0, 0]),
    "transpose too short": value("y", "transpose", "w", order=[0]),
    "transpose by truth values": value("y", "transpose", "w", order=[1.0, 0.0]),
    "broadcast drops an axis": value("y", "broadcast", "m", shape=[["N"]], places=[0]),
    "broadcast to another axis": value("y", "broadcast", "x", shape=[["K"]], places=[0]),
    "broadcast twice to a place": value("y", "broadcast", "m", shape=[["N"]], places=[0, 0]),
    "slice of a part that is none": value("y", "slice", "w", axis=0, start=1, stop=3),
    "empty slice": value("y", "slice", "w", axis=0, start=1, stop=1),
    "slice from true": value("y", "slice", "w", axis=0, start=True, stop=2),
    "slice of a missing axis": value("y", "slice", "w", axis=2, start=0, stop=1),
    "negative axis": value("y", "sum", "x", axes=[-1]),
    "sum of an axis twice": value("y", "sum", "x", axes=[0, 0]),
    "contraction of different axes": value("y", "dot", "x", "w", batch=[[], []], contract=[[0], [1]]),
    "contraction and batch": value("y", "dot", "m", "m", batch=[[0], [0]], contract=[[0], [1]]),
    "concat along a missing axis": value("y", "concat", "x", "x", axis=1),
    "concat of other rows": value("y", "concat", "w", "m", axis=0),
    "exponent zero": value("y", "power", "x", exponent="0"),
    "exponent by zero": value("y", "power", "x", exponent="1/0"),
    "exponent as a number": value("y", "power", "x", exponent=2),
    "decimal exponent": value("y", "power", "x", exponent="0.5"),
    "huge exponent": value("y", "power", "x", exponent="65"),
    "fine exponent": value("y", "power", "x", exponent="1/65"),
    "exponent of another alphabet": value("y", "power", "x", exponent="\u0662"),
    "exponent with a line end": value("y", "power", "x", exponent="2\n"),
    "huge constant": number("y", "1" * 1001),
    "constant over zero": number("y", "1/0"),
    "constant of a composite base": value("y", "const", value=["1", {"4": "1/2"}]),
    "constant with exponent zero": value("y", "const", value=["1", {"2": "0"}]),
    "lead too long": value("y", "call", "x", symbol="f", lead=2, shape=[["N"]]),
    "symbol that is no text": value("y", "call", "x", symbol=1, lead=0, shape=[["N"]]),
    "reverse of another lead": value("y", "call_back", "x", "w", symbol="f", lead=1),
    "union of one part": value("y", "broadcast", "x", shape=[[[["N"]]]], places=[]),
    "axis that is no list": value("y", "size", axis="N", exponent="1"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_a_line_that_fits_is_read(name):
    assert read(GOOD[name]).outputs == ("y",)


@pytest.mark.parametrize("name", BAD)
def test_a_line_that_does_not_fit_is_refused(name):
    with pytest.raises(Refused):
        read(BAD[name])


@pytest.mark.parametrize("size", [0, -1, 2**53, 1.0, True, "3", [3]])
def test_an_axis_has_a_positive_size_or_none(size):
    """An empty axis would make a softmax row a division by zero."""
    with pytest.raises(Refused, match="positive"):
        program_from(program({"N": size}, [X], "x"))


@pytest.mark.parametrize("document", [
    None, [], "x", {}, {"axes": {}, "lines": []}, program({}, {}, "x"), program([], [X], "x"), program(N, [X]),
    program(N, [X], "y"), program(N, [X], 0), program(N, [["x", "input", []]], "x"), program(N, [None], "x"),
    {**program(N, [X], "x"), "more": 1}, program(N, [[None, "input", [], {}]], "x"),
])  # fmt: skip
def test_documents_of_another_form_are_refused(document):
    with pytest.raises(Refused):
        program_from(document)


def test_unions_inside_unions_are_flattened():
    nested = given("y", [[[[[], ["N"]]], ["K"]]])
    flat = given("z", [[[], ["N"], ["K"]]])
    both = program_from(program(AXES, [nested, flat], "y"))
    assert both.shape("y") == both.shape("z")


def test_nesting_is_bounded():
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises((Refused, RecursionError)):
        program_from(program(N, [["y", "input", [], {"shape": [deep]}]], "y"))
