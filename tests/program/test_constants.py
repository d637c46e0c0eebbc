"""Float literals are read as the constants that were meant, and evaluate back to the same float."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vjproof.errors import VjproofError
from vjproof.kernel.program import constant_from
from vjproof.layers import gelu
from vjproof.program.constants import _PI, constant_float, read_literal

READINGS = [
    (0.5, ["1/2", {}]), (-3.0, ["-3", {}]), (0.0, ["0", {}]), (7, ["7", {}]), (Fraction(2, 3), ["2/3", {}]),
    (0.1, ["1/10", {}]), (1 / 3, ["1/3", {}]), (1e-6, ["1/1000000", {}]), (gelu.CUBIC, ["8943/200000", {}]),
    (3.0 * gelu.CUBIC, ["26829/200000", {}]), (gelu.SQRT_HALF, ["1/2", {"2": "1/2"}]),
    (-gelu.SQRT_HALF, ["-1/2", {"2": "1/2"}]), (gelu.INVERSE_SQRT_TWO_PI, ["1/2", {"2": "1/2", "pi": "-1/2"}]),
    (2.0 * gelu.SQRT_TWO_OVER_PI, ["2", {"2": "1/2", "pi": "-1/2"}]), (math.pi, ["1", {"pi": "1"}]),
    (2 / math.sqrt(math.pi), ["2", {"pi": "-1/2"}]), (0.7071067, ["7071067/10000000", {}]),
]  # fmt: skip


@pytest.mark.parametrize(("literal", "constant"), READINGS)
def test_a_literal_is_read_as_the_constant_that_was_meant(literal, constant):
    assert read_literal(literal)[0] == constant


@pytest.mark.parametrize("literal", [gelu.SQRT_HALF, math.pi, 1 / 3])
def test_the_neighbouring_float_is_not_read_as_that_constant(literal):
    above = math.nextafter(literal, math.inf)
    assert read_literal(above)[0] == [str(Fraction(repr(above))), {}]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_reading_rounds_to_its_literal_and_says_whether_it_is_exact(literal):
    constant, exact = read_literal(literal)
    read = constant_from(constant)
    assert read is not None
    assert constant_float(*read) == literal
    assert exact == (read[1] == {} and read[0] == Fraction(literal))


FORMATS = {"f16": np.float16, "f32": np.float32, "f64": np.float64}
SHORT = [
    (2**-0.5, ["1/2", {"2": "1/2"}]), (2 / math.sqrt(math.pi), ["2", {"pi": "-1/2"}]), (1e-5, ["1/100000", {}]),
    (0.044715, ["8943/200000", {}]), (0.134145, ["26829/200000", {}]), (1 / 197, ["1/197", {}]),
    (-(12**-0.5), ["-1/12", {"2": "1", "3": "1/2"}]), (768**-0.5, ["1/768", {"2": "4", "3": "1/2"}]),
]  # fmt: skip


@pytest.mark.parametrize(("number", "constant"), SHORT)
@pytest.mark.parametrize("element", ["f32", "f64"])
def test_a_literal_of_a_format_is_read_as_the_constant_that_was_meant(number, constant, element):
    literal = float(FORMATS[element](number))
    assert read_literal(literal, element) == (constant, False)
    beside = float(np.nextafter(FORMATS[element](number), FORMATS[element](1)))
    assert read_literal(beside, element)[0] != constant


@pytest.mark.parametrize("element", FORMATS)
@given(data=st.data())
def test_every_reading_of_a_format_rounds_to_its_literal(element, data):
    width = int(element[1:])
    literal = data.draw(st.floats(width=width, allow_nan=False, allow_infinity=False))
    constant, exact = read_literal(literal, element)
    read = constant_from(constant)
    assert read is not None
    assert float(FORMATS[element](constant_float(*read))) == literal
    assert exact == (read[1] == {} and read[0] == Fraction(literal))


def test_a_number_that_is_near_to_no_constant_is_its_own_value():
    literal = float(np.float32(0.7310585))
    assert read_literal(literal, "f32") == ([str(Fraction(literal)), {}], True)


def test_numbers_that_are_not_finite_are_refused():
    for literal in (math.inf, math.nan):
        with pytest.raises(VjproofError, match="finite"):
            read_literal(literal)


def test_the_bounds_of_pi_enclose_it():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(80):
        low, high = (mpmath.mpf(bound.numerator) / bound.denominator for bound in _PI)
        assert low < mpmath.pi < high


def test_constants_are_rounded_once():
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(50):
        want = float(mpmath.mpf(-3) / 7 * mpmath.sqrt(2) * mpmath.pi ** mpmath.mpf(-1.5) * mpmath.cbrt(5))
    powers = {"2": Fraction(1, 2), "pi": Fraction(-3, 2), "5": Fraction(1, 3)}
    assert constant_float(Fraction(-3, 7), powers) == want
