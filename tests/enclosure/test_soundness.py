"""Every primitive's balls hold the true value; the gate takes a part, the slow run all that is asked for."""

import flint
import numpy as np
import pytest

from tests.enclosure import soundness
from tests.enclosure.soundness import BINARY, POWERS, UNARY, check_arrays, check_scalars, check_wide_balls
from vjproof.enclosure import balls, functions

NAMES = [*UNARY, *POWERS, *BINARY]


@pytest.mark.parametrize("name", NAMES, ids=str)
def test_ten_thousand_scalars(name):
    check_scalars(10_000, [name])


def test_wide_balls():
    check_wide_balls(200)


def test_arrays():
    check_arrays(200)


@pytest.mark.slow
def test_two_thousand_wide_balls():
    check_wide_balls(2_000)


@pytest.mark.slow
def test_a_thousand_arrays():
    check_arrays(1_000)


@pytest.mark.parametrize("name", ["exp", "erf", "erfc", "tanh", "logistic"])
def test_a_function_that_drops_its_radius_is_caught(monkeypatch, name):
    right = functions.FUNCTIONS[name]
    monkeypatch.setitem(functions.FUNCTIONS, name, lambda x: right(x).mid())
    with pytest.raises(AssertionError):
        check_scalars(60, [name])
    with pytest.raises(AssertionError):
        check_wide_balls(60)


@pytest.mark.parametrize("exponent", [e for e in POWERS if e.denominator > 1 or e < 0], ids=str)
def test_a_power_that_drops_its_radius_is_caught(monkeypatch, exponent):
    right = balls.ball_power
    monkeypatch.setattr(soundness, "ball_power", lambda x, e: right(x, e).mid())
    with pytest.raises(AssertionError):
        check_scalars(60, [exponent])


def test_products_that_drop_their_radius_are_caught(monkeypatch):
    right = functions.matmul

    def wrong(x, y):
        with flint.ctx.workprec(40):
            return np.frompyfunc(lambda ball: ball.mid(), 1, 1)(right(x, y))

    monkeypatch.setitem(functions.FUNCTIONS, "matmul", wrong)
    with pytest.raises(AssertionError):
        check_arrays(3)


def test_floats_that_are_rounded_when_read_are_caught(monkeypatch):
    right = balls.exact_floats
    monkeypatch.setattr("vjproof.enclosure.evaluate.exact_floats", lambda x: np.float64(np.float32(right(x))))
    with pytest.raises(AssertionError):
        check_arrays(3)
