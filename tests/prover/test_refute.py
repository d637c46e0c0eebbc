"""Counterexamples: small differences are found in balls, noise is none, maxima have a slope where they are attained."""

import flint
import numpy as np
import pytest

import vjproof
from vjproof.prover.fingerprint import Assumed, Numbers
from vjproof.prover.refute import ball_shares, refute, refute_in_balls
from vjproof.prover.result import NOT_PROVED, PROVED, REFUTED
from vjproof.prover.search import ASSUMED, prove_programs


def programs(forward, reverse, shapes):
    proof = vjproof.prove_vjp(forward, reverse, shapes)
    return proof.programs


def scaled(factor):
    return programs(lambda x: x * x, lambda d, x: factor * x * d, {"x": ("n",)})


def test_a_difference_below_float64_is_found_in_balls():
    forward, second = scaled(2 + 2**-45)
    numbers = Numbers(forward, second, ["x"], ["d_y"], [])
    assert refute(numbers, ["x"], ["d_y"], []) is None
    assert refute_in_balls(numbers, ["x"], ["d_y"]).confirmed
    assert prove_programs(forward, second, wrt=["x"], cotangents=["d_y"]).status == REFUTED


def test_equal_programs_have_no_counterexample():
    """The red control."""
    forward, second = scaled(2)
    assert refute_in_balls(Numbers(forward, second, ["x"], ["d_y"], []), ["x"], ["d_y"]) is None


def test_noise_of_a_zero_gradient_is_no_difference():
    """The gradient of the sum of a centred row is 0; in float64 it is not."""

    def forward(x):
        xp = x.__array_namespace__()
        return xp.sum(1e9 * (x - xp.mean(x, axis=-1, keepdims=True)), axis=-1)

    forward_program, second = programs(forward, lambda d, x: 0 * x, {"x": ("B", "n")})
    assert prove_programs(forward_program, second, wrt=["x"], cotangents=["d_y"]).status != REFUTED


def test_an_assumption_that_fails_is_told():
    forward, second = scaled(2)
    held = Assumed(second=False, value="x", relation="<", number=1e6)
    assert prove_programs(forward, second, wrt=["x"], cotangents=["d_y"], assumed=[held]).status == PROVED
    failed = held._replace(relation=">")
    answer = prove_programs(forward, second, wrt=["x"], cotangents=["d_y"], assumed=[failed])
    assert answer.status == NOT_PROVED
    assert answer.reason.startswith(ASSUMED)
    assert Numbers(forward, second, ["x"], ["d_y"], [], assumed=[held, failed]).broken() == failed


def test_numbers_that_are_given_are_used():
    forward, second = programs(lambda x, a: a * x, lambda d, x, a: d, {"x": ("n",), "a": ()})
    assert prove_programs(forward, second, wrt=["x"], cotangents=["d_y"]).status == REFUTED
    one = {"a": np.ones(())}
    assert prove_programs(forward, second, wrt=["x"], cotangents=["d_y"], given=one).status == NOT_PROVED


@pytest.mark.parametrize(("row", "wanted"), [([1.0, 3.0, 2.0], [0, 1, 0]), ([3.0, 3.0, 2.0], [0.5, 0.5, 0])])
def test_the_slope_of_a_maximum(row, wanted):
    x = np.array([flint.arb(number) for number in row], dtype=object)
    y = np.array([max(row)], dtype=object)
    y[0] = flint.arb(max(row))
    found = ball_shares(x, y, (0,))
    assert all(flint.arb(share).overlaps(flint.arb(truth)) for share, truth in zip(found, wanted, strict=True))
    assert [flint.arb(share).is_exact() for share in found] == [share in (0, 1) for share in wanted]
