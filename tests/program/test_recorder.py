"""The tape: what is recorded, what is refused with which reason, and which axes are the same."""

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

from vjproof.errors import VjproofError
from vjproof.kernel.program import Program, program_from
from vjproof.layers import array, gelu, softmax
from vjproof.program.namespace import Namespace
from vjproof.program.recorder import Tape, program_data, record
from vjproof.program.size import Size


@pytest.fixture
def tape():
    return Tape({"N": None, "D": 7})


@pytest.fixture
def x(tape):
    return tape.input("x", ("N", "D"))


def kinds(program):
    return [operation.kind for operation in program.operations.values()]


def test_the_namespace_is_the_declared_subset():
    public = {name for name, _ in inspect.getmembers(Namespace, inspect.isfunction) if not name.startswith("_")}
    assert public == array.SUBSET | {"erf", "erfc", "logistic", "tanh"}


def test_equal_lines_are_recorded_once(tape, x):
    first, second = softmax.forward(x)[0], softmax.forward(x)[0]
    assert first is second
    assert (x * x + x * x).name != (x * x).name
    assert kinds(tape.program([x * x + x * x])) == ["input", "mul", "add"]


def test_dead_lines_are_removed_and_inputs_are_kept(tape, x):
    unused = tape.input("unused", ("D",))
    x.tape.namespace.exp(unused)
    program = tape.program([x * 2.0])
    assert kinds(program) == ["input", "input", "const", "broadcast", "mul"]
    assert program.inputs == ["x", "unused"]


def test_data_reads_back_as_the_same_program(tape, x):
    data = program_data(tape.program([*gelu.forward("tanh", x)[1], x]))
    assert program_data(program_from(data)) == data
    assert data["axes"] == {"N": None, "D": 7}


def test_shapes_of_recorded_arrays(tape, x):
    assert x.shape == (Size.of("N"), Size.of("D"))
    assert (x.ndim, x.dtype) == (2, "real")
    assert repr(x) == "RecordedArray(x: N, D)"
    assert array.namespace(x, x * 2) is tape.namespace


def test_double_steps_that_only_move_entries_are_one_line(tape, x):
    xp = tape.namespace
    assert xp.matrix_transpose(xp.matrix_transpose(x)) is x
    assert xp.reshape(xp.reshape(x, (Size.of("N*D"),)), x.shape) is x
    assert x[...] is x
    assert x[: x.shape[0], 0:] is x
    assert xp.broadcast_to(x, x.shape) is x


def test_axes_of_equal_size_are_different_axes():
    tape = Tape({"a": 5, "b": 5})
    left, right = tape.input("left", ("a",)), tape.input("right", ("b",))
    for operation in (lambda: left + right, lambda: left @ right, lambda: tape.namespace.reshape(left, right.shape)):
        with pytest.raises(VjproofError, match="same"):
            operation()
    assert left.shape != right.shape
    assert (left + left).axes == left.axes


def test_ints_cut_an_axis_of_known_parts():
    tape = Tape({"a": 3, "N": None})
    x = tape.input("x", ("2+a+N",))
    assert x[1:].shape == (Size.of("1+a+N"),)
    assert x[2:5].shape == (Size.of("a"),)
    assert x[5:].shape == (Size.of("N"),)
    assert x[: Size.of("2+a")].shape == (Size.of("2+a"),)
    for bad in (slice(3), slice(6, None), slice(-1, None), slice(Size.of("a")), slice(2, 2), slice(None, None, 2)):
        with pytest.raises(VjproofError, match="slice"):
            x[bad]


def test_literals_are_listed_with_their_readings(tape, x):
    x * 0.5 + math.sqrt(0.5) + 0.1 + 0.1
    assert tape.readings == [
        (math.sqrt(0.5).hex(), ["1/2", {"2": "1/2"}]), ((0.1).hex(), ["1/10", {}]),
    ]  # fmt: skip


def test_numbers_of_every_kind_are_operands(tape, x):
    for one in (1, 1.0, Fraction(1), np.float64(1.0), np.int64(1)):
        assert one * x is 1 * x
        assert x * one is x * 1
    assert np.float64(2.0) / x is 2 / x
    assert (x / x.shape[0]).tape.definition(x / x.shape[0])[0] == "mul"
    assert kinds(tape.program([Size.of("N") * x])).count("size") == 1


def test_opaque_calls(tape, x):
    y = tape.call("tail", x, ("N", "D"), 0)
    assert y.shape == x.shape
    row = tape.call("head", x, (2,), 1)
    assert row.shape == (Size.of("N"), 2)
    assert tape.call_back("tail", x, y, 0).shape == x.shape
    with pytest.raises(VjproofError, match="call"):
        tape.call_back("head", x, tape.input("other", ("D", 2)), 1)


REFUSED = {
    "a condition": (lambda xp, x: 1 if x else 0, "no branches"),
    "a comparison": (lambda xp, x: 1 if x > 0 else 0, "no branches"),
    "equality": (lambda xp, x: x == x, "no branches"),
    "float": (lambda xp, x: float(x), "no numbers"),
    "math": (lambda xp, x: math.exp(x), "no numbers"),
    "int": (lambda xp, x: int(x), "no numbers"),
    "len": (lambda xp, x: len(x), "symbol"),
    "iteration": (lambda xp, x: list(x), "symbol"),
    "unpacking": (lambda xp, x: [*x], "symbol"),
    "membership": (lambda xp, x: 1 in x, "no branches"),
    "assignment": (lambda xp, x: x.__setitem__(0, 1), "once"),
    "a power of 0": (lambda xp, x: x**0, "not 0"),
    "an exponent that is no small fraction": (lambda xp, x: x**0.1, "Fraction\\(1, 3\\)"),
    "an array as exponent": (lambda xp, x: x**x, "exponents are fractions"),
    "a power of a number": (lambda xp, x: 2**x, "xp.exp"),
    "abs": (lambda xp, x: abs(x), "not recordable"),
    "an unknown function": (lambda xp, x: xp.sin(x), "xp.sin is not recordable.*subset"),
    "a method": (lambda xp, x: x.sum(), "x.sum is not recordable.*subset"),
    "an attribute": (lambda xp, x: x.T, "x.T is not recordable"),
    "NumPy's function": (lambda xp, x: np.exp(x), "numpy.exp is not recordable"),
    "NumPy's reduction": (lambda xp, x: np.sum(x), "numpy.sum is not recordable"),
    "conversion": (lambda xp, x: np.asarray(x), "not recordable"),
    "an array of numbers": (lambda xp, x: x + np.ones(7), "make an array of numbers an input"),
    "an array of numbers, first": (lambda xp, x: np.ones(7) + x, "make an array of numbers an input"),
    "a text": (lambda xp, x: x + "1", "operand"),
    "a truth value": (lambda xp, x: x + True, "operand"),
    "none": (lambda xp, x: x * None, "operand"),
    "an infinite literal": (lambda xp, x: x * math.inf, "finite"),
    "an index": (lambda xp, x: x[0], "index 0 is not recordable"),
    "a new axis": (lambda xp, x: x[None], "not recordable"),
    "a mask": (lambda xp, x: x[[0, 1]], "not recordable"),
    "too many slices": (lambda xp, x: x[:, :, :], "at most 2 slices"),
    "two dots": (lambda xp, x: x[..., ...], "one \\.\\.\\."),
    "exp of a number": (lambda xp, x: xp.exp(1.0), "operands are recorded arrays"),
    "a matrix of numbers": (lambda xp, x: x @ np.ones((7, 2)), "matmul"),
    "an axis out of range": (lambda xp, x: xp.sum(x, axis=2), "axis argument"),
    "an axis twice": (lambda xp, x: xp.sum(x, axis=(0, -2)), "each axis once"),
    "no permutation": (lambda xp, x: xp.permute_dims(x, (0, 0)), "permutation"),
    "a reshape to a guess": (lambda xp, x: xp.reshape(x, (-1,)), "size of an axis"),
    "an empty axis": (lambda xp, x: xp.zeros((0, 3), dtype=x.dtype), "never empty"),
    "a reshape that mixes": (lambda xp, x: xp.reshape(x, ("D", "N")), "same factors"),
    "a broadcast that drops": (lambda xp, x: xp.broadcast_to(x, ("D",)), "broadcast_to"),
    "an unknown axis": (lambda xp, x: xp.broadcast_to(x, ("Q", "N", "D")), "neither a declared axis"),
    "a concat of nothing": (lambda xp, x: xp.concat([]), "at least one"),
    "a ragged concat": (lambda xp, x: xp.concat([x, xp.matrix_transpose(x)], axis=0), "same axes"),
    "matmul of scalars": (lambda xp, x: xp.sum(x) @ x, "one axis or more"),
    "transpose of a vector": (lambda xp, x: xp.matrix_transpose(xp.sum(x, axis=0)), "two axes"),
    "wrong inner axis": (lambda xp, x: x @ x, "same axis to sum over"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_a_program_cannot_say_is_refused_with_the_reason(name):
    code, reason = REFUSED[name]
    with pytest.raises(VjproofError, match=reason) as refused:
        record(lambda x: code(x.tape.namespace, x), {"x": ("N", "D")})
    assert "\n" not in str(refused.value)


def test_declarations_that_do_not_fit_are_refused(tape, x):
    other = Tape().input("x", ("N", "D"))
    for declare, reason in (
        (lambda: tape.input("x", ("N",)), "taken"),
        (lambda: tape.input("2x", ("N",)), "name"),
        (lambda: tape.axis("D", 8), "as declared, 7"),
        (lambda: tape.axis("a b"), "name"),
        (lambda: tape.axis("E", 0), "positive"),
        (lambda: tape.program([]), "at least one"),
        (lambda: tape.program([other]), "this tape"),
        (lambda: x + other, "one tape"),
        (lambda: tape.line("slice", [x], {"axis": 5, "start": 0, "stop": 1}), "slice line"),
        (lambda: tape.line("nonsense", [x]), "nonsense line"),
        (lambda: record(lambda x: 1.0, {"x": ("N",)}), "outputs"),
    ):
        with pytest.raises(VjproofError, match=reason):
            declare()


def test_record_takes_lists_and_nested_results():
    program = record(lambda a, b: (a, [a + b, (b,)]), [("N",), ("N",)])
    assert isinstance(program, Program)
    assert program.inputs == ["x0", "x1"]
    assert len(program.outputs) == 3
    assert record(lambda x: x, {"x": ("N",)}, {"N": 4}).atoms == {"N": 4}
