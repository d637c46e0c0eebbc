"""Definedness: no sign is claimed that a number contradicts, and every division and root is answered for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.kernel import documents as doc
from vjproof.kernel.program import program_from
from vjproof.kernel.signs import NONNEGATIVE, POSITIVE, conditions_of, sign_of
from vjproof.program.interpreter import run_all

X, Y = doc.given("x", ["N"]), doc.given("y", ["N"])
UNARY = ("neg", "exp", "erf", "erfc", "tanh", "logistic")
POWERS = ("2", "3", "-1", "-2", "1/2", "-1/2", "1/3", "4")


@st.composite
def programs(draw):
    """Draw a program of elementwise operations, sums and maxima over two inputs of one axis."""
    lines, vectors = [X, Y, doc.number("c", draw(st.sampled_from(["-1", "0", "1/2"])))], ["x", "y"]
    lines.append(doc.value("k", "broadcast", "c", shape=[["N"]], places=[]))
    vectors.append("k")
    for place in range(draw(st.integers(1, 7))):
        kind = draw(st.sampled_from(["add", "sub", "mul", "mul", "div", "square", "power", "max", "concat", *UNARY]))
        a, b, name = draw(st.sampled_from(vectors)), draw(st.sampled_from(vectors)), f"v{place}"
        if kind == "square":
            lines.append(doc.value(name, "mul", a, a))
        elif kind == "power":
            lines.append(doc.value(name, kind, a, exponent=draw(st.sampled_from(POWERS))))
        elif kind == "max":
            lines += [doc.value(f"m{place}", draw(st.sampled_from(["max", "sum"])), a, axes=[0]),
                      doc.value(name, "broadcast", f"m{place}", shape=[["N"]], places=[])]  # fmt: skip
        elif kind == "concat":
            lines += [doc.value(f"m{place}", "concat", a, b, axis=0),
                      doc.value(name, "slice", f"m{place}", axis=0, start=1, stop=2)]  # fmt: skip
        else:
            lines.append(
                doc.value(name, kind, a, b) if kind in ("add", "sub", "mul", "div") else doc.value(name, kind, a)
            )
        vectors.append(name)
    return program_from(doc.program(doc.N, lines, vectors[-1]))


@settings(max_examples=400)
@given(programs(), st.integers(0, 3), st.sampled_from([(), ("x",), ("x", "y")]))
def test_every_sign_holds_and_every_undefined_number_was_announced(program, seed, positive):
    random = np.random.default_rng(seed)
    inputs = {name: random.choice([-1.5, -1.0, 0.0, 0.5, 2.0], 3) for name in ("x", "y")}
    inputs |= {name: abs(inputs[name]) + 0.25 for name in positive}
    with np.errstate(all="ignore"):
        values = run_all(program, inputs, {"N": 3})
    signs, undefined = {}, False
    for name, operation in program.operations.items():
        signs[name] = sign_of(operation, signs, positive)
        array = values[name]
        if not np.isfinite(array).all():
            undefined = True
            break
        if operation.kind in ("exp", "erfc", "logistic") and not (array > 1e-30).all():
            return  # positive as a real number; float64 loses it sooner or later
        assert signs[name] != POSITIVE or (array > 0).all()
        assert signs[name] != NONNEGATIVE or (array >= 0).all()
    assert not undefined or conditions_of(program, positive) or np.max(np.abs(list(finite(values)))) > 1e100


def finite(values):
    """Yield the largest finite magnitude of each value; overflow is no definedness condition."""
    for array in values.values():
        yield np.max(np.abs(array[np.isfinite(array)]), initial=0.0)


def conditions(*lines, positive=()):
    return conditions_of(program_from(doc.program(doc.N, [X, Y, *lines], lines[-1][0])), positive)


@pytest.mark.parametrize(("kind", "exponent", "wanted"), [
    ("power", "-1", "x != 0"), ("power", "-2", "x != 0"), ("power", "1/2", "x > 0"), ("power", "1/3", "x > 0"),
    ("power", "-1/2", "x > 0"),
])  # fmt: skip
def test_powers_state_their_condition(kind, exponent, wanted):
    assert conditions(doc.value("z", kind, "x", exponent=exponent)) == [f"{wanted} in every entry"]
    assert conditions(doc.value("z", kind, "x", exponent=exponent), positive=["x"]) == []


def test_a_division_counts_even_where_it_is_multiplied_by_zero():
    lines = [doc.value("q", "div", "y", "x"), doc.value("o", "sub", "x", "x"), doc.value("z", "mul", "q", "o")]
    assert conditions(*lines) == ["x != 0 in every entry"]


def test_a_sum_of_data_is_not_positive_and_a_sum_of_exponentials_is():
    root = doc.value("z", "power", "s", exponent="1/2")
    assert conditions(doc.value("s", "sum", "x", axes=[0]), root) == ["s > 0 in every entry"]
    assert conditions(doc.value("e", "exp", "x"), doc.value("s", "sum", "e", axes=[0]), root) == []


def test_a_square_is_not_positive_and_a_square_plus_a_positive_number_is():
    root = doc.value("z", "power", "s", exponent="1/2")
    assert conditions(doc.value("s", "mul", "x", "x"), root) == ["s > 0 in every entry"]
    assert conditions(doc.value("q", "mul", "x", "x"), doc.value("s", "add", "q", "y"), root, positive=["y"]) == []
    assert conditions(doc.value("q", "mul", "x", "x"), doc.value("s", "sub", "q", "y"), root, positive=["y"]) != []


def test_the_product_of_a_number_with_its_double_name_is_no_square():
    lines = [doc.value("a", "mul", "x", "y"), doc.value("z", "power", "a", exponent="1/2")]
    assert conditions(*lines) == ["a > 0 in every entry"]
