"""Rounding outwards, the reading of floats, and balls as exact numbers."""

import math
from fractions import Fraction

import flint
import mpmath
import numpy as np
import pytest

from tests.enclosure.soundness import exact, holds
from vjproof.enclosure import balls
from vjproof.enclosure.balls import (
    ball_constant,
    ball_from,
    ball_parts,
    balls_of,
    balls_of_expansions,
    expansion,
    expansions,
    outward,
    radius,
    upper,
)  # fmt: skip
from vjproof.enclosure.working_precision import TooWideError, shortened, working_bits
from vjproof.errors import VjproofError


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


def assert_expansions(count):
    generator = np.random.default_rng(3)
    given = np.empty(count, dtype=object)
    with flint.ctx.workprec(400):
        given[:] = [
            flint.arb(generator.standard_normal()) / 3 * flint.arb(2) ** int(power)
            + flint.arb(0, 2.0 ** max(int(power - less), -1074))
            for power, less in generator.integers((-1100, 40), (1000, 500), (count, 2))
        ]
    for ball in given:
        terms, wide = expansion(ball, 4)
        true, own = exact(ball)
        assert abs(true - sum(map(Fraction, terms))) + own <= Fraction(wide)
    terms, radii = expansions(given)
    again = balls_of_expansions(terms, radii)
    assert all(b.contains(a) for a, b in zip(given, again, strict=True))
    for ball, parts, wide in zip(again, terms.T, radii, strict=True):
        assert exact(ball)[0] == sum(map(Fraction, parts))
        assert Fraction(wide) <= exact(ball)[1] <= Fraction(wide) * (1 + Fraction(1, 2**28)) + Fraction(1, 2**1074)


def test_expansions_hold_the_ball_and_are_read_exactly():
    assert_expansions(200)


def test_an_expansion_without_what_its_terms_leave_is_caught(monkeypatch):
    monkeypatch.setattr(balls, "_upward", lambda mantissa, exponent: 0.0)
    with pytest.raises(AssertionError):
        assert_expansions(20)


def test_parts_of_a_ball_are_exact():
    with flint.ctx.workprec(300):
        for ball in (flint.arb(1) / 3, flint.arb(0), flint.arb(-7, 1e-300), flint.arb("1e-5000")):
            assert exact(ball_from(ball_parts(ball))) == exact(ball)
    assert ball_parts(flint.arb(1) / 0) is None
    assert not ball_from(None).is_finite()


@pytest.mark.parametrize(
    ("terms", "radii"), [([[1.0]], [-1.0]), ([[math.nan]], [1.0]), ([[1.0]], [math.inf]), ([[1.0, 2.0]], [1.0])]
)
def test_other_expansions_are_refused(terms, radii):
    with pytest.raises(VjproofError):
        balls_of_expansions(np.array(terms), np.array(radii))


def test_rounding_is_outward():
    assert_outward(300)


@pytest.mark.slow
def test_the_same_on_many_numbers():
    assert_outward(10_000)
    assert_expansions(3_000)


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


def test_shortened_balls_hold_the_longer_ones_and_are_short():
    given = np.empty(50, dtype=object)
    with flint.ctx.workprec(600):
        given[:] = [flint.arb(k + 1) / 7 for k in range(50)]
    with flint.ctx.workprec(80):
        short = shortened(given, 80)
        same = shortened(short, 80)
    assert all(b.contains(a) for a, b in zip(given, short, strict=True))
    assert max(int(ball.mid().man_exp()[0]).bit_length() for ball in short) <= 80
    assert same is short


def test_a_line_takes_the_bits_that_its_arguments_are_worth():
    with flint.ctx.workprec(600):
        rough = np.array([flint.arb(1, 2.0**-100)], dtype=object)
        fine = np.array([flint.arb(1, 2.0**-300)], dtype=object)
        exact_one = np.array([flint.arb(1)], dtype=object)
    assert working_bits("exp", [exact_one], 600) == 600
    assert 100 < working_bits("mul", [rough, fine], 600) < 150
    assert 300 < working_bits("add", [rough, fine], 600) < 350
    assert working_bits("dot", [fine, exact_one], 200) == 200
    infinite = np.array([flint.arb(1) / 0], dtype=object)
    with pytest.raises(TooWideError):
        working_bits("exp", [infinite], 600)
    assert working_bits("exp", [infinite], 600, strict=False) == 600
