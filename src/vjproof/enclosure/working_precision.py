"""How many bits one line of a program is worth: what its arguments' radii leave a meaning, and some more.

A ball whose radius has taken 400 of its 640 bits gains nothing from 640 bits of arithmetic. Any precision is sound,
because every operation rounds outwards; this choice only trades time for width.
"""

from __future__ import annotations

from collections.abc import Sequence

from vjproof.errors import VjproofError
from vjproof.layers.array import Array

GUARD = 32  # bits beyond those that mean something
SAMPLES = 128  # balls that are looked at, of a whole array
LEAST = 53


class TooWideError(VjproofError):
    """A value has no finite bound at this precision."""


def accuracy(values: Array, *, strict: bool = True) -> int | None:
    """Return the relative accuracy in bits of the best of some balls of an array; None where these are exact.

    Infinite ones are passed over, or with `strict` TooWideError is raised.
    """
    flat = values.reshape(-1)
    sampled = flat[:: max(1, flat.size // SAMPLES)].tolist()
    finite = [ball for ball in sampled if ball.is_finite()]
    if strict and len(finite) < len(sampled):
        raise TooWideError("enclosure", expected="finite bounds", got="bound too wide")
    return max((ball.rel_accuracy_bits() for ball in finite if not ball.is_exact()), default=None)


def working_bits(kind: str, arguments: Sequence[Array], bits: int, *, strict: bool = True) -> int:
    """Return the precision for one line on arrays of balls, at most `bits`; `strict` as for `accuracy`.

    A product is as accurate as the worst of its factors, a sum at most as the best of its terms.
    """
    found = [known for values in arguments if (known := accuracy(values, strict=strict)) is not None]
    if not found:
        return bits
    return min(bits, max(LEAST, (min if kind in ("mul", "div", "dot") else max)(found) + GUARD))


def shortened(values: Array, bits: int) -> Array:
    """Return the balls rounded outwards to the precision in force, where they have many more than `bits` bits."""
    import numpy as np

    known = accuracy(values, strict=False)
    if known is None or known < bits + GUARD:
        return values
    return np.frompyfunc(lambda ball: +ball, 1, 1)(values)
