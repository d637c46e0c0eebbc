"""Definedness: what divides or takes a root is never proved away; the condition stands in the statement or it fails."""

import pytest

from vjproof.kernel.program import Refused, program_from
from vjproof.layers import softmax
from vjproof.layers.array import namespace
from vjproof.program.recorder import record
from vjproof.prover.search import prove_programs

SHAPES = {"x": ("B", "n"), "d_y": ("B", "n")}


def answer(left, right, positive=()):
    return prove_programs(record(left, SHAPES), record(right, SHAPES), positive=positive)


def root(x):
    return namespace(x).sqrt(x)


# name: (left, right, what the statement must say where the two are the same where defined; None: never proved)
CONTROLS = {
    "x d / x is d where x is not 0": (lambda x, d: x * d / x, lambda x, d: d * 1, "x != 0 in every entry"),
    "0 times a division": (lambda x, d: (d / x) * 0, lambda x, d: d * 0, "x != 0 in every entry"),
    "a difference of divisions": (lambda x, d: d + d / x - d / x, lambda x, d: d * 1, "x != 0 in every entry"),
    "1 / (1 / x)": (lambda x, d: 1 / (1 / x), lambda x, d: x * 1, "!= 0 in every entry"),
    "sqrt(x^2) is not x": (lambda x, d: root(x * x), lambda x, d: x * 1, None),
    "sqrt(x)^2 is x where x > 0": (lambda x, d: root(x) * root(x), lambda x, d: x * 1, "x > 0 in every entry"),
    "sqrt(x y) is not sqrt x sqrt y": (lambda x, d: root(x * d), lambda x, d: root(x) * root(d), "> 0 in every entry"),
    "an even root of a sum of the data": (
        lambda x, d: root(namespace(x).sum(x, axis=-1, keepdims=True)) + 0 * x,
        lambda x, d: root(namespace(x).mean(x, axis=-1, keepdims=True) * x.shape[-1]) + 0 * x, "> 0 in every entry",
    ),
    "(x - x) / (x - x)": (lambda x, d: (x - x) / (x - x), lambda x, d: 0 * x + 1, None),
    "d (x - x) / x": (lambda x, d: d * (x - x) / x, lambda x, d: 0 * d, "x != 0 in every entry"),
    "a sixth root of a square": (lambda x, d: root(root(x * x)), lambda x, d: root(x), None),
}  # fmt: skip


@pytest.mark.parametrize("name", CONTROLS)
def test_a_condition_is_stated_or_nothing_is_proved(name):
    left, right, condition = CONTROLS[name]
    result = answer(left, right)
    if condition is None:
        assert result.status != "proved"
    elif result:
        assert any(condition in line for line in result.statement)


@pytest.mark.parametrize("name", ["x d / x is d where x is not 0", "0 times a division", "sqrt(x)^2 is x where x > 0"])
def test_what_is_true_where_it_is_defined_is_proved_with_its_condition(name):
    left, right, condition = CONTROLS[name]
    assert condition in str(answer(left, right))


def test_a_hypothesis_takes_the_condition_off():
    result = answer(lambda x, d: x * d / x, lambda x, d: d * 1, positive=("x",))
    assert result
    assert not any("!= 0" in line for line in result.statement)
    assert any("x > 0" in line for line in result.statement)


def test_a_softmax_row_needs_no_condition_and_is_never_empty():
    program = record(lambda x: softmax.forward(x)[0], {"x": ("B", "K")})
    result = prove_programs(program, program)
    assert result
    assert not any("0 in every entry" in line for line in result.statement)
    data = {"axes": {"B": None, "K": 0}, "lines": [["x", "input", [], {"shape": [["B"], ["K"]]}]], "outputs": ["x"]}
    with pytest.raises(Refused, match="positive"):
        program_from(data)


def test_a_reverse_with_a_division_states_it():
    """The reverse of x y written as (x y) d / x is right only where x is not 0."""
    shapes = {"x": ("n",), "y": ("n",)}
    forward = record(lambda x, y: x * y, shapes)
    second = record(lambda x, y, d: x * y * d / x, {**shapes, "d": ("n",)})
    result = prove_programs(forward, second, wrt=("x",), cotangents=("d",))
    assert any("x != 0 in every entry" in line for line in result.statement)
