"""Balls and floats: the only place that rounds. A ball [m +/- r] holds every real x with |x - m| <= r.

A float64 is a dyadic rational, and so are a ball's midpoint and radius; sums of these are taken in integers, so that
the one rounding, upwards, is at the end.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from vjproof.errors import VjproofError
from vjproof.layers.array import Array

LEAST = -1200  # smaller magnitudes are bounded by 2 ** LEAST
MOST = 1024  # larger ones have no float64
MOST_TERMS = 8  # of an expansion
EXACT_BITS = 2300  # a sum of float64 of all magnitudes is exact


def balls_of(values: Array) -> Array:
    """Return a NumPy array of exact balls, shaped as the finite numbers `values`; VjproofError for any other."""
    import flint
    import numpy as np

    wide = exact_floats(values)
    balls = np.empty(wide.shape, dtype=object)
    balls.reshape(-1)[...] = [flint.arb(number) for number in wide.reshape(-1).tolist()]
    return balls


def exact_floats(values: Array) -> Array:
    """Return the finite numbers `values` as float64, unchanged; VjproofError for any other.

    Every float of at most 64 bits is a float64 exactly; integers must be below 2 ** 53.
    """
    import numpy as np

    given = np.asarray(values)
    wide = given.astype(np.float64) if given.dtype.kind not in "OSUc" else np.full((), np.nan)
    large = given.dtype.kind in "iu" and np.abs(wide).max(initial=0) > 2**53
    if large or given.dtype.itemsize > 8 or not np.isfinite(wide).all():
        raise VjproofError("numbers to enclose", expected="finite floats", got=f"{given.dtype} with other entries")
    return wide


def ball_parts(ball: Any) -> tuple[int, int, int, int] | None:
    """Return the mantissa and exponent of the midpoint and of the radius, exactly; None for an infinite ball."""
    if not ball.is_finite():
        return None
    (middle, power), (wide, wide_power) = ball.mid().man_exp(), ball.rad().man_exp()
    return int(middle), int(power), int(wide), int(wide_power)


def ball_from(parts: tuple[int, int, int, int] | None) -> Any:
    """Return the ball with these `ball_parts`, or one that holds them where its radius is none of the library's."""
    import flint

    if parts is None:
        return flint.arb(0, math.inf)
    return flint.arb(parts[:2], parts[2:])


def outward(ball: Any) -> tuple[float, float]:
    """Return (mid, rad) in float64 with |x - mid| <= rad for every x of the ball; VjproofError where it is infinite.

    `mid` is the float64 nearest to the ball's midpoint; `rad` holds the ball's radius and the rounding of `mid`.
    """
    (middle,), radius = expansion(ball, 1)
    return middle, radius


def expansion(ball: Any, count: int) -> tuple[tuple[float, ...], float]:
    """Return `count` float64 terms and rad with |x - their sum| <= rad for every x of the ball.

    The sum is that of real numbers; each term is the float64 nearest to what the ones before it leave. VjproofError
    where the ball is infinite.
    """
    if not ball.is_finite():
        raise VjproofError("a ball", expected="finite midpoint and radius", got="an infinite one")
    rest, terms = _dyadic(ball.mid()), []
    for _ in range(count):
        terms.append(_nearest(*rest))
        numerator, denominator = terms[-1].as_integer_ratio()
        rest = _add(rest, (-numerator, 1 - denominator.bit_length()))
    # a tiny midpoint is nearer to 0 than what stands for it
    return tuple(terms), _upward(*_add((abs(rest[0]), rest[1]), _dyadic(ball.rad())))


def expansions(balls: Array) -> tuple[Array, Array]:
    """Return `expansion` of an array of balls as terms (count, *shape) and radii (shape); few terms where few tell."""
    import numpy as np

    flat = balls.reshape(-1).tolist()
    known = max((ball.rel_accuracy_bits() for ball in flat if not ball.is_exact()), default=0)
    count = min(max(2, known // 53 + 2), MOST_TERMS)
    pairs = [expansion(ball, count) for ball in flat]
    terms = np.array([parts for parts, _ in pairs]).T.reshape((count, *balls.shape))
    return terms, np.array([wide for _, wide in pairs]).reshape(balls.shape)


def balls_of_expansions(terms: Array, radii: Array) -> Array:
    """Return the balls [sum of terms +/- radius]: finite terms (count, *shape), radii (shape), none negative.

    VjproofError for other numbers.
    """
    import flint
    import numpy as np

    terms, radii = exact_floats(terms), exact_floats(radii)
    if terms.shape[1:] != radii.shape or (radii < 0).any():
        raise VjproofError("an enclosure", expected="terms and radii of one shape, radii from 0 on", got="others")
    with flint.ctx.workprec(EXACT_BITS):
        total = balls_of(np.zeros(radii.shape))
        for term in terms:
            total = total + balls_of(term)
        # the library's radii have 30 bits, so that it rounds a float64 upwards
        return np.asarray(total + np.vectorize(lambda wide: flint.arb(0, wide), otypes=[object])(radii), dtype=object)


def upper(ball: Any) -> float:
    """Return a float64 that is at least |x| for every x of the ball; infinity where there is none."""
    if not ball.is_finite():
        return math.inf
    middle, radius = _dyadic(ball.mid()), _dyadic(ball.rad())
    return _upward(*_add((abs(middle[0]), middle[1]), radius))


def radius(ball: Any) -> float:
    """Return a float64 that is at least the ball's radius; infinity where there is none."""
    return upper(ball.rad()) if ball.is_finite() else math.inf


def ball_power(ball: Any, exponent: Fraction) -> Any:
    """Return a ball that holds x ** exponent."""
    import flint

    if exponent.denominator == 1:
        return ball ** int(exponent)
    if exponent.denominator == 2:
        return (ball.sqrt() if exponent > 0 else ball.rsqrt()) ** abs(exponent.numerator)
    return ball ** flint.arb(flint.fmpq(exponent.numerator, exponent.denominator))


def ball_constant(rational: Fraction, powers: dict[str, Fraction]) -> Any:
    """Return a ball that holds a rational times powers of integers and of pi."""
    import flint

    value = flint.arb(flint.fmpq(rational.numerator, rational.denominator))
    for base, exponent in powers.items():
        value *= ball_power(flint.arb.pi() if base == "pi" else flint.arb(int(base)), exponent)
    return value


def _dyadic(exact: Any) -> tuple[int, int]:
    """Return (mantissa, exponent) of an exact ball; magnitudes below 2 ** LEAST become 2 ** LEAST."""
    mantissa, exponent = (int(part) for part in exact.man_exp())
    if mantissa and exponent + mantissa.bit_length() < LEAST:
        return 1 if mantissa > 0 else -1, LEAST
    return mantissa, exponent


def _nearest(mantissa: int, exponent: int) -> float:
    if mantissa and exponent + mantissa.bit_length() > MOST:
        raise VjproofError("a value to enclose", expected="one within the range of float64", got="a larger one")
    return mantissa / (1 << -exponent) if exponent < 0 else float(mantissa << exponent)


def _add(x: tuple[int, int], y: tuple[int, int]) -> tuple[int, int]:
    least = min(x[1], y[1])
    return (x[0] << (x[1] - least)) + (y[0] << (y[1] - least)), least


def _upward(mantissa: int, exponent: int) -> float:
    """Return the least float64 found that is at least mantissa * 2 ** exponent >= 0."""
    if mantissa and exponent + mantissa.bit_length() > MOST - 1:
        return math.inf
    value = _nearest(mantissa, exponent)
    numerator, denominator = value.as_integer_ratio()
    (gap, _) = _add((numerator, 1 - denominator.bit_length()), (-mantissa, exponent))
    return value if gap >= 0 else math.nextafter(value, math.inf)
