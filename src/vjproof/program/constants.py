"""Exact constants: a rational times rational powers of integers and of pi; how a float literal is read as one.

The JSON form is that of `kernel.program.constant_from`: ["-3/4", {"2": "1/2", "pi": "-1/2"}].
"""

from __future__ import annotations

import math
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import Any

from vjproof.errors import VjproofError

PI_DIGITS = "3.14159265358979323846264338327950288419716939937510582097494"  # the next digit is 4: rounded down
_PI = (Fraction(PI_DIGITS), Fraction(PI_DIGITS) + Fraction(1, 10**59))
_DYADIC = 2**20  # a float with larger terms is not taken for an intended binary fraction
_TERM = 64  # largest numerator and denominator that are tried


def read_literal(value: float | int | Fraction) -> tuple[list[Any], bool]:
    """Return the constant that a literal is read as, and whether it is exactly the literal's value.

    A float is read exactly where it is a small dyadic rational; as r * sqrt(2)^i * sqrt(pi)^j, r a small
    rational, where it is the float nearest to that; else as its shortest decimal. VjproofError if not finite.
    """
    if isinstance(value, int | Fraction):
        return [str(Fraction(value)), {}], True
    value = float(value)
    if not math.isfinite(value):
        raise VjproofError("a literal", expected="a finite number", got=repr(value))
    exact = Fraction(value)
    if exact.denominator <= _DYADIC and abs(exact.numerator) <= _DYADIC * 2**20:
        return [str(exact), {}], True
    for pi_power in (0, 1, -1, 2, -2):
        for two_power in (0, 1):
            root = math.sqrt(2.0) ** two_power * math.sqrt(math.pi) ** pi_power
            if not 0.5 / _TERM < abs(value / root) < 2.0 * _TERM:
                continue
            rational = Fraction(value / root).limit_denominator(_TERM)
            if 0 < abs(rational.numerator) <= _TERM and _is_nearest(exact, rational, two_power, pi_power):
                powers = {"2": Fraction(two_power, 2), "pi": Fraction(pi_power, 2)}
                return [str(rational), {base: str(e) for base, e in powers.items() if e}], False
    decimal = Fraction(repr(value))
    return [str(decimal), {}], decimal == exact


def _is_nearest(literal: Fraction, rational: Fraction, two_power: int, pi_power: int) -> bool:
    if (literal > 0) != (rational > 0):
        return False
    literal, rational = abs(literal), abs(rational)
    value = float(literal)
    low = (literal + Fraction(math.nextafter(value, 0.0))) / 2
    high = (literal + Fraction(math.nextafter(value, math.inf))) / 2
    bounds = sorted(rational**2 * Fraction(2) ** two_power * pi**pi_power for pi in _PI)
    return low**2 < bounds[0] and bounds[1] < high**2


def constant_float(rational: Fraction, powers: dict[str, Fraction]) -> float:
    """Return the float nearest to rational * product of base ** exponent; a base is "pi" or a positive integer."""
    with localcontext(Context(prec=60)):
        total = Decimal(rational.numerator) / Decimal(rational.denominator)
        for base, exponent in powers.items():
            number = Decimal(PI_DIGITS) if base == "pi" else Decimal(base)
            total *= number ** (Decimal(exponent.numerator) / Decimal(exponent.denominator))
        return float(total)
