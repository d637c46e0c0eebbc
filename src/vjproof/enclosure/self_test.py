"""A test of the ball library's primitives against rational bounds, run once before the first enclosure."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import factorial
from typing import Any

from vjproof.enclosure.balls import ball_constant
from vjproof.errors import VjproofError

BITS = 100
TERMS = 40  # of each series: the remainder is below 2 ** -120
AT = Fraction(-3, 4)  # a dyadic place, where no function below is 0


def check_primitives(functions: Mapping[str, Any]) -> None:
    """Raise VjproofError where a primitive misses its value by rational series, or is wider than 2 ** -80."""
    import flint
    import numpy as np

    with flint.ctx.workprec(BITS):
        x, y = (flint.arb(flint.fmpq(value.numerator, value.denominator)) for value in (AT, Fraction(5, 8)))
        e, half_erf = _exp(AT), _erf_without_factor(AT)
        pi = 16 * _arctan(Fraction(1, 5)) - 4 * _arctan(Fraction(1, 239))
        root = flint.arb.pi().sqrt()
        matrix = np.array([[x, y], [y, x]], dtype=object)
        e2 = e * e
        cases = {
            "add": (x + y, AT + Fraction(5, 8)),
            "sub": (x - y, AT - Fraction(5, 8)),
            "mul": (x * y, AT * Fraction(5, 8)),
            "div": (x / y, AT / Fraction(5, 8)),
            "neg": (-x, -AT),
            "pi": (flint.arb.pi(), pi),
            "root": (functions["power"](flint.arb(2), Fraction(1, 2)) ** 2, Fraction(2)),
            "reciprocal root": (functions["power"](flint.arb(2), Fraction(-1, 2)) ** 2, Fraction(1, 2)),
            "integer power": (functions["power"](x, Fraction(-3)), AT**-3),
            "exp": (functions["exp"](x), e),
            "tanh": (functions["tanh"](x), (e2 - 1) / (e2 + 1)),
            "logistic": (functions["logistic"](x), e / (1 + e)),
            "erf": (functions["erf"](x) * root, half_erf),
            "erfc": ((1 - functions["erfc"](x)) * root, half_erf),
            "max": (functions["max"](x, y), Fraction(5, 8)),
            "matmul": (functions["matmul"](matrix, matrix)[0, 1], 2 * AT * Fraction(5, 8)),
            "constant": (ball_constant(Fraction(1, 3), {}), Fraction(1, 3)),
        }
        slack = flint.arb(0, 2.0**-100)
        for name, (ball, value) in cases.items():
            wanted = flint.arb(flint.fmpq(value.numerator, value.denominator)) + slack
            if not ball.overlaps(wanted) or not ball.rad() < flint.arb(2.0**-80):
                raise VjproofError(
                    "self-test of ball arithmetic", expected=f"{name} near {float(value)}", got=str(ball),
                    remedy="install python-flint 0.9.0 or later",
                )  # fmt: skip


def _exp(x: Fraction) -> Fraction:
    return sum((x**n / factorial(n) for n in range(TERMS)), Fraction(0))


def _erf_without_factor(x: Fraction) -> Fraction:
    """Return sqrt(pi) erf(x), by its series."""
    return 2 * sum(((-1) ** n * x ** (2 * n + 1) / (factorial(n) * (2 * n + 1)) for n in range(TERMS)), Fraction(0))


def _arctan(x: Fraction) -> Fraction:
    return sum(((-1) ** n * x ** (2 * n + 1) / (2 * n + 1) for n in range(TERMS)), Fraction(0))
