"""Rounding outwards, and that each primitive's ball holds the value at 60 digits."""

import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest

from vjproof.enclosure import balls
from vjproof.enclosure.balls import ball_constant, ball_power, balls_of, outward, radius, upper
from vjproof.enclosure.functions import FUNCTIONS
from vjproof.errors import VjproofError

TRUE = {
    "exp": mpmath.exp,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "tanh": mpmath.tanh,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
}


def exact(ball):
    """Midpoint and radius of a ball as fractions."""
    return tuple(Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (ball.mid().man_exp(), ball.rad().man_exp()))


def holds(ball, value):
    """Whether the ball, widened by the error of 60 digits, holds an mpmath number."""
    middle, wide = exact(ball)
    man, exp = value.man_exp  # without the sign
    number = Fraction(int(man)) * Fraction(2) ** int(exp) * (-1 if value < 0 else 1)
    return abs(number - middle) <= wide + abs(number) * Fraction(1, 10**58)


def assert_outward(count):
    generator = np.random.default_rng(0)
    with flint.ctx.workprec(150):
        for power in generator.integers(-1100, 1000, count):
            ball = (flint.arb(generator.standard_normal()) / 3) * flint.arb(2) ** int(power)
            middle, wide = outward(ball)
            true, own = exact(ball)
            assert abs(true - Fraction(middle)) + own <= Fraction(wide)
            assert Fraction(wide) <= (abs(true - Fraction(middle)) + own) * (1 + Fraction(1, 2**50)) + Fraction(5e-324)
            assert Fraction(upper(ball)) >= abs(true) + own
            assert Fraction(radius(ball)) >= own


def assert_primitives(count):
    generator = np.random.default_rng(1)
    with mpmath.workdps(60), flint.ctx.workprec(120):
        for scale in (1e-300, 1e-3, 1, 10, 40):
            for number in generator.standard_normal(count // 5) * scale:
                for name, function in TRUE.items():
                    assert holds(FUNCTIONS[name](flint.arb(number)), function(mpmath.mpf(float(number)))), (
                        name,
                        number,
                    )
                positive = abs(float(number))
                for exponent in (Fraction(1, 2), Fraction(-1, 2), Fraction(1, 3)):
                    true = mpmath.mpf(positive) ** (mpmath.mpf(exponent.numerator) / exponent.denominator)
                    assert holds(ball_power(flint.arb(positive), exponent), true)


def assert_products(count):
    generator = np.random.default_rng(2)
    with flint.ctx.workprec(60):
        for _ in range(count):
            x, y = generator.standard_normal((3, 4)), generator.standard_normal((4, 2))
            product = FUNCTIONS["matmul"](balls_of(x), balls_of(y))
            for i, j in np.ndindex(3, 2):
                true = sum(Fraction(x[i, k]) * Fraction(y[k, j]) for k in range(4))
                middle, wide = exact(product[i, j])
                assert abs(true - middle) <= wide


def test_rounding_is_outward():
    assert_outward(300)


def test_primitives_hold_the_value_at_60_digits():
    assert_primitives(300)


def test_products_hold_the_exact_one():
    assert_products(300)


@pytest.mark.slow
def test_the_same_on_many_numbers():
    assert_outward(10_000)
    assert_primitives(10_000)
    assert_products(1_000)


def test_rounding_the_radius_to_nearest_is_caught(monkeypatch):
    monkeypatch.setattr(balls, "_upward", balls._nearest)
    with pytest.raises(AssertionError):
        assert_outward(300)


def test_dropping_the_rounding_of_the_midpoint_is_caught(monkeypatch):
    monkeypatch.setattr(balls, "_add", lambda x, y: (0, 0) if x[0] < 0 or y[0] < 0 else y)
    with pytest.raises(AssertionError):
        assert_outward(300)


def test_floats_are_taken_exactly():
    values = np.array([0.1, 5e-324, -1.7e308, 0.0])
    assert [exact(ball) for ball in balls_of(values)] == [(Fraction(v), 0) for v in values]
    assert exact(balls_of(np.float32([0.1]))[0])[0] == Fraction(float(np.float32(0.1)))


@pytest.mark.parametrize("bad", [[math.nan], [math.inf], [1j], [2**60], ["a"]])
def test_other_numbers_are_refused(bad):
    with pytest.raises(VjproofError, match="expected finite floats"):
        balls_of(np.array(bad))


def test_an_infinite_ball_has_no_floats():
    with pytest.raises(VjproofError, match="infinite"):
        outward(flint.arb(1) / flint.arb(0))
    assert upper(flint.arb(1) / flint.arb(0)) == math.inf == radius(flint.arb(0, math.inf))


def test_constants():
    with mpmath.workdps(60), flint.ctx.workprec(100):
        assert holds(ball_constant(Fraction(2, 3), {"pi": Fraction(-1, 2)}), mpmath.mpf(2) / 3 / mpmath.sqrt(mpmath.pi))
