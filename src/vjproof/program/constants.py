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
_BITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # significand bits of floating-point formats
_TERM = 64  # largest numerator and denominator that are tried


def read_literal(value: float | int | Fraction, element: str = "") -> tuple[list[Any], bool]:
    """Return the constant that a literal is read as, and whether it is exactly the literal's value.

    A float is read exactly where it is a small dyadic rational; as r * sqrt(2)^i * sqrt(pi)^j, r a small
    rational, where it is the float nearest to that; else as its shortest decimal. With `element` (f16, bf16, f32,
    f64) nearest is meant in that format, square roots of small rationals and decimals of few digits are tried too,
    and what is near to none of them is its own exact value. VjproofError if not finite.
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
            if 0 < abs(rational.numerator) <= _TERM and _is_nearest(exact, rational, two_power, pi_power, element):
                powers = {"2": Fraction(two_power, 2), "pi": Fraction(pi_power, 2)}
                return [str(rational), {base: str(e) for base, e in powers.items() if e}], False
    if element:
        return _short_form(exact, element)
    decimal = Fraction(repr(value))
    return [str(decimal), {}], decimal == exact


def _short_form(exact: Fraction, element: str) -> tuple[list[Any], bool]:
    """Return the decimal, small rational or root of one that a float is nearest to, else the float itself."""
    low, high = _rounding_range(abs(exact), element)
    sign, digits = (-1 if exact < 0 else 1), _BITS[element] * 3 // 10 - (element == "f32")
    decimal = Fraction(f"{float(abs(exact)):.{digits - 1}e}")
    if low < decimal < high:
        return [str(sign * decimal), {}], decimal == abs(exact)
    most = 2 ** (_BITS[element] - 10) if _BITS[element] > 10 else 0
    rational = abs(exact).limit_denominator(max(1, min(most, 10**6)))
    if low < rational < high and rational.numerator * rational.denominator <= most:
        return [str(sign * rational), {}], False
    square = (exact * exact).limit_denominator(_TERM**2)
    root = _root(square.numerator * square.denominator) if low**2 < square < high**2 else None
    if root is not None:
        return [str(Fraction(sign, square.denominator)), root], False
    return [str(exact), {}], True


def _root(number: int) -> dict[str, str] | None:
    """Return the square root of a whole number as powers of primes below 100; None for a large number, or primes."""
    powers: dict[str, str] = {}
    if number > _TERM**2:
        return None
    for prime in range(2, 100):
        count = 0
        while number % prime == 0:
            number, count = number // prime, count + 1
        if count:
            powers[str(prime)] = str(Fraction(count, 2))
    return powers if number == 1 else None


def _rounding_range(value: Fraction, element: str) -> tuple[Fraction, Fraction]:
    """Return the bounds between which a positive normal number of a format is the nearest one."""
    mantissa, exponent = math.frexp(float(value))
    spacing = Fraction(2) ** (exponent - _BITS[element])
    return value - spacing / (4 if mantissa == 0.5 else 2), value + spacing / 2


def _is_nearest(literal: Fraction, rational: Fraction, two_power: int, pi_power: int, element: str = "") -> bool:
    if (literal > 0) != (rational > 0):
        return False
    literal, rational = abs(literal), abs(rational)
    low, high = _rounding_range(literal, element or "f64")
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
