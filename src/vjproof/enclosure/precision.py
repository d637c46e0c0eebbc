"""The precision that a program needs, found by trying: doubled until every output is narrow, or too much is asked."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from vjproof.enclosure.balls import exact_floats, radius, upper
from vjproof.enclosure.choices import NO_CHOICES, Choices
from vjproof.enclosure.evaluate import evaluate
from vjproof.enclosure.execution import multiplications
from vjproof.enclosure.working_precision import TooWideError
from vjproof.errors import VjproofError
from vjproof.kernel.program import Program
from vjproof.layers.array import Array

LEAST_BITS, MOST_BITS = 24, 4096
RELATIVE = 1e-30  # the radius wanted, relative to an output's largest entry
ABSOLUTE = 2.0**-1000  # narrow enough where an output is 0
TWO_ABOVE = 2e8  # multiplications, from which on starting a second process pays

Advance = Callable[[float], None]


def evaluate_narrowly(
    program: Program,
    inputs: Mapping[str, Array],
    bits: int | None,
    *,
    start: int,
    choices: Choices = NO_CHOICES,
    processes: int | None = None,
    advance: Advance | None = None,
) -> tuple[list[Array], int]:
    """Return the outputs as balls, none of them infinite, and the working precision.

    `bits` is that precision; None starts at `start` and doubles until each output's radius is at most 1e-30 of its
    largest entry. `choices` are inputs that are found, not given. `processes` 1 or 2, None where 2 pay; `advance` is
    told the share of the work done. VjproofError for numbers that are not finite, and where a bound stays too wide.
    """
    if bits is not None and (type(bits) is not int or not LEAST_BITS <= bits <= MOST_BITS):
        raise VjproofError("bits", expected=f"an int from {LEAST_BITS} to {MOST_BITS}", got=repr(bits))
    if processes not in (None, 1, 2):
        raise VjproofError("processes", expected="1, 2 or None", got=repr(processes))
    inputs = {name: exact_floats(values) for name, values in inputs.items()}
    shared = processes or (2 if _two_pay(program, inputs) else 1)
    tried = bits or min(start, MOST_BITS)
    while True:
        outputs = _attempt(program, inputs, tried, shared, choices, advance)
        if outputs is not None and (bits is not None or all(map(is_narrow, outputs))):
            return outputs, tried
        if bits is not None or tried >= MOST_BITS:
            raise VjproofError(
                "enclosure", expected="finite bounds" if bits else f"a radius below {RELATIVE} of the largest entry",
                got=f"bound too wide at {tried} bits", remedy="give more bits" if bits else "",
            )  # fmt: skip
        tried = min(2 * tried, MOST_BITS)


def extent(balls: Array) -> tuple[float, float]:
    """Return upper bounds of the radii and of the magnitudes of an array of balls; infinite where one has none."""
    return max(map(radius, balls.flat), default=0.0), max(map(upper, balls.flat), default=0.0)


def _attempt(
    program: Program, inputs: Any, bits: int, processes: int, choices: Choices, advance: Advance | None
) -> list[Array] | None:
    after = (lambda _name, share: advance(share)) if advance else None
    try:
        outputs = evaluate(program, inputs, bits, processes=processes, choices=choices, after=after)
    except TooWideError:
        return None
    return outputs if all(math.isfinite(extent(balls)[1]) for balls in outputs) else None


def is_narrow(balls: Array) -> bool:
    """Return whether an output is finite and as narrow as is wanted."""
    wide, large = extent(balls)
    return math.isfinite(large) and wide <= max(RELATIVE * (large - wide), ABSOLUTE)


def _two_pay(program: Program, inputs: Mapping[str, Array]) -> bool:
    import os

    from vjproof.prover.workers import processors

    return os.name == "posix" and processors() > 1 and multiplications(program, inputs) >= TWO_ABOVE
