"""Values in words: readable, bounded, and right about what holds what together."""

import math

import pytest
from array_api_compat import array_namespace

from vjproof.program.recorder import Tape
from vjproof.prover import words

SPOKEN = {
    "x": lambda xp, x, w: x,
    "x + x * x": lambda xp, x, w: x + x * x,
    "(x + x) * x": lambda xp, x, w: (x + x) * x,
    "x - (x - x)": lambda xp, x, w: x - (x - x),
    "x - x - x": lambda xp, x, w: x - x - x,
    "x / (x * x)": lambda xp, x, w: x / (x * x),
    "(x + 1)^2": lambda xp, x, w: (x + 1) ** 2,
    "x^(-1/2)": lambda xp, x, w: x**-0.5,
    "-(x + x)": lambda xp, x, w: -(x + x),
    "x + -2": lambda xp, x, w: x + -2,
    "x * (-2)": lambda xp, x, w: x * -2,
    "exp(-x)": lambda xp, x, w: xp.exp(-x),
    "sum(x * x over h*c)": lambda xp, x, w: xp.sum(x * x, axis=-1),
    "sum(x over B, h*c) * (B*h*c)^(-1)": lambda xp, x, w: xp.mean(x),
    "max(x over B)": lambda xp, x, w: xp.max(x, axis=0),
    "dot(x, w over h*c)": lambda xp, x, w: x @ w,
    "transpose(w)": lambda xp, x, w: xp.matrix_transpose(w),
    "x * 1/2 * 2^(1/2)": lambda xp, x, w: x * math.sqrt(0.5),
    "f(x)": lambda xp, x, w: x.tape.call("f", x, ("M",), 1),
    "f back(x, f(x))": lambda xp, x, w: x.tape.call_back("f", x, x.tape.call("f", x, ("M",), 1), 1),
}


def spoken(function, limit=words.LONGEST):
    tape = Tape()
    x, w = tape.input("x", ("B", "h*c")), tape.input("w", ("h*c", "M"))
    program = tape.program([function(array_namespace(x), x, w)])
    return words.expression(program, program.outputs[0], limit)


@pytest.mark.parametrize("text", SPOKEN)
def test_an_expression_reads_as_it_was_written(text):
    assert spoken(SPOKEN[text]) == text


def test_a_part_of_a_union_is_named():
    tape = Tape()
    x = tape.input("x", ("1+N", "D"))
    program = tape.program([x[:1, :]])
    assert words.expression(program, program.outputs[0]) == "part(x, 1)"


@pytest.mark.parametrize("limit", [10, 40, 160])
def test_a_long_expression_is_cut_from_the_inside(limit):
    def tower(xp, x, w):
        for _ in range(60):
            x = x * x + xp.exp(x)
        return x

    text = spoken(tower, limit)
    assert len(text) <= limit
    assert "..." in text
    assert text.count("(") == text.count(")")


def test_a_statement_explains_its_conditions_and_says_each_once():
    tape = Tape()
    x = tape.input("x", ("n",))
    total = array_namespace(x).sum(x * x)
    program = tape.program([total])
    lines = [f"where {side}: {total.name} != 0 in every entry" for side in ("forward", "second")]
    lines += ["where forward: x > 0 in every entry", "where forward: gone != 0 in every entry", "where eps > 0", "end."]
    assert words.statement(lines, program, program) == [
        f"where sum(x * x over n) != 0 in every entry ({total.name} of the forward program)",
        "where x > 0 in every entry", *lines[3:],
    ]  # fmt: skip


def test_a_reason_that_names_no_value_stays_as_it_is():
    tape = Tape()
    program = tape.program([tape.input("x", ())])
    assert words.resisted("too much work", program, program) == ["too much work"]
    assert words.resisted("v9 is not shown to be the adjoint of x", program, program) == [
        "v9 is not shown to be the adjoint of x"
    ]
    (first, second) = words.resisted("x is not shown to be the adjoint of x (the numbers agree)", program, program)
    assert first == "x = x, in the second program,"
    assert second == "is not shown to be the cotangent of x (the numbers agree)"
