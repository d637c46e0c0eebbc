"""Sizes: exact operators, refusals where a result does not hold for every size, and numbers as a check."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vjproof.errors import VjproofError
from vjproof.program.axes import MOST_UNITS, format_axis, parse_axis
from vjproof.program.size import Size, SizeFactor

N, M, H, C = map(Size.of, "NMhc")
VALUES = {"N": 11, "M": 13, "h": 3, "c": 5}


def number(size):
    return eval(repr(size), dict(VALUES))


def axes(depth=2):
    leaf = st.sampled_from([*VALUES, "1", "3"]).map(Size.of)
    pairs = lambda inner: st.tuples(st.sampled_from("+*"), inner, inner)  # noqa: E731
    return st.recursive(leaf, lambda inner: pairs(inner).map(lambda p: p[1] + p[2] if p[0] == "+" else p[1] * p[2]),
                        max_leaves=6)  # fmt: skip


@given(axes(), axes())
def test_sums_and_products_count_what_they_say(a, b):
    assert number(a + b) == number(a) + number(b)
    assert number(a * b) == number(a) * number(b)
    assert (a * b) // a == b or number((a * b) // a) == number(b)
    assert number((a * b) // b) == number(a)
    difference = (a + b) - b
    assert number(difference) == number(a)


@given(axes())
def test_text_reads_back_as_the_same_axis(a):
    assert parse_axis(format_axis(a.axis)) == a.axis
    assert Size.of(repr(a)) == a
    assert hash(Size.of(repr(a))) == hash(a)


def test_the_operators_of_layer_code():
    assert (1 + N) - 1 == N
    assert (1 + N) - N == 1
    assert N - N == 0
    assert (H * C) // H == C
    assert (N * M) // M == N
    assert (H * C) // (H * C) == 1
    assert 0 + N == N == N + 0 == N - 0
    assert 0 * N == 0
    assert 2 - Size.of(1) == 1
    assert repr((1 + N) * H * C) == "(1+N)*h*c"
    assert ((1 + N) * H * C) // (1 + N) == H * C


def test_an_int_is_a_union_of_units():
    assert Size.of(1) == 1
    assert Size.of(3) == 3 == Size.of(1) + 2
    assert hash(Size.of(3)) == hash(3)
    assert N != 1
    assert (1 + N) != (N + 1)
    assert N != M
    assert N != "N"


@pytest.mark.parametrize(
    "operation",
    [
        lambda: N - M, lambda: N - 1, lambda: (1 + N + M) - N, lambda: N // M, lambda: (H * C) // N, lambda: N // 0,
        lambda: 1 // N, lambda: int(N), lambda: float(N), lambda: range(N), lambda: Size.of(0), lambda: Size.of(-1),
        lambda: Size.of(MOST_UNITS + 1), lambda: Size.of(2.0), lambda: Size.of(True), lambda: N**0, lambda: N**0.123,
        lambda: N ** float("nan"), lambda: Size.of("N+"), lambda: Size.of("0*N"), lambda: (2 / N) ** 2,
    ],
)  # fmt: skip
def test_what_does_not_hold_for_every_size_is_refused(operation):
    with pytest.raises(VjproofError):
        operation()


@pytest.mark.parametrize("operation", [lambda: N + 1.5, lambda: N < M, lambda: N % 2, lambda: N - "a", lambda: "a" * N])
def test_other_operators_do_not_exist(operation):
    with pytest.raises((TypeError, VjproofError)):
        operation()


def value(factor):
    total = 1.0
    for axis, exponent in factor.powers:
        total *= number(Size(axis)) ** float(exponent)
    for literal in factor.numbers:
        total *= float(literal)
    return total


def test_powers_of_sizes_multiply():
    n, m = VALUES["N"], VALUES["M"]
    assert value(N**-0.5) == pytest.approx(n**-0.5)
    assert value(2 / N) == pytest.approx(2 / n)
    assert value(N / M * 0.25 * (N * M) ** Fraction(1, 3)) == pytest.approx(n / m * 0.25 * (n * m) ** (1 / 3))
    assert value(N * (1 / M) / 4) == pytest.approx(n / m / 4)
    assert value((N / M) ** -2) == pytest.approx((m / n) ** 2)
    assert value(3 / (N / M)) == pytest.approx(3 * m / n)
    assert (N / N).powers == ()
    assert isinstance(N / M / M, SizeFactor)


@pytest.mark.parametrize("text", ["", "N*", "*", "(N", "N)", "N M)", "1.5", "N-M", "(" * 30 + "N" + ")" * 30, "99999",
                                  "4096+4096", "N" * 5000 + "+N", "é", "N\x00"])  # fmt: skip
def test_malformed_axes_are_refused(text):
    with pytest.raises(VjproofError, match="axis"):
        parse_axis(text)
