"""Rigorous bounds on how far a function of one number is from erf or erfc, over all real numbers.

Between -A and A: Taylor's formula on short pieces, in balls. Beyond: the function is found constant there, in exact
rational intervals, and erf and erfc are monotone.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import lru_cache
from typing import Any

from vjproof.stablehlo.scalar_expression import Expression

ENDS = (4, 6, 10, 28, 40)
PIECES = 32  # pieces of length 1 / PIECES
TERMS = 10  # of Taylor's formula
PRECISION = 160  # bits
MOST_CASES = 64  # of open choices on one piece
DEEPEST = 12  # halvings of a piece with an open choice
MOST_HALVED = 4000  # pieces looked at again
ORDER: dict[str, Any] = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge}
OPPOSITE = {"LT": "GE", "LE": "GT", "GT": "LE", "GE": "LT"}
Pair = tuple[Any, Any]  # series on a piece: about all of it, and about its middle


class Undecided(Exception):  # noqa: N818 - an answer: no bound
    """No bound can be given."""


@lru_cache(maxsize=256)
def bound_difference(lines: Expression, function: str) -> float | None:
    """Return a bound on |expression - function| over the reals, rounded up; None where none is found.

    `function` is erf or erfc; constants of the expression are taken at their exact values.
    """
    try:
        with _settings():
            return _bound(lines, function)
    except (Undecided, ZeroDivisionError, ValueError, OverflowError):
        return None


@contextmanager
def _settings() -> Iterator[None]:
    """Set flint's global precision and length of series, and put back what they were."""
    from flint import ctx

    cap = ctx.cap
    with ctx.workprec(PRECISION):
        ctx.cap = TERMS + 1
        try:
            yield
        finally:
            ctx.cap = cap


def _bound(lines: Expression, function: str) -> float:
    end, worst = _tails(lines, function)
    half = Fraction(1, 2 * PIECES)
    pending: list[tuple[Fraction, Fraction, int]] = []
    for place in range(-end * PIECES, end * PIECES):
        found, is_open = _piece(lines, function, (2 * place + 1) * half, half)
        if is_open:
            pending.append(((2 * place + 1) * half, half, 0))
        else:
            worst = max(worst, found)
    enough, count = 1.5 * worst, 0
    while pending:  # pieces with open choices, halved until the bound there is as good as elsewhere
        middle, half, depth = pending.pop()
        found, is_open = _piece(lines, function, middle, half)
        count += 1
        if is_open and found > enough and depth < DEEPEST and count < MOST_HALVED:
            pending += [(middle + side * half / 2, half / 2, depth + 1) for side in (-1, 1)]
        else:
            worst = max(worst, found)
    return worst


def _tails(lines: Expression, function: str) -> tuple[int, float]:
    """Return an end beyond which the expression is constant, and a bound of the difference there."""
    from flint import arb

    for end in ENDS:
        worst = 0.0
        try:
            for sign in (1, -1):
                inner, outer = Fraction(sign * end), sign * float("inf")
                value = _interval(lines, len(lines) - 1, (min(inner, outer), max(inner, outer)), {})
                if value[0] != value[1]:
                    raise Undecided
                limit = arb(sign) if function == "erf" else arb(1 - sign)
                for truth in (getattr(arb(sign * end), function)(), limit):
                    worst = max(worst, _up(truth - _ball(value[0])))
        except Undecided:
            continue
        return end, worst
    raise Undecided


def _up(ball: Any) -> float:
    """Return a float that is at least the absolute value of every number of a ball."""
    from vjproof.enclosure.balls import upper

    largest = upper(ball)
    if largest == float("inf"):
        raise Undecided
    return largest


def _ball(number: Fraction) -> Any:
    from flint import arb

    return arb(number.numerator) / arb(number.denominator)


Interval = tuple[Any, Any]  # exact ends: fractions, or infinite


def _interval(lines: Expression, at: int, argument: Interval, known: dict[int, Interval]) -> Interval:
    """Return an interval with all values of a line; Undecided where none is found. Only chosen sides are looked at."""
    if at in known:
        return known[at]
    kind, inputs, attributes = lines[at]

    def value(place: int) -> Interval:
        return _interval(lines, inputs[place], argument, known)

    if kind == "argument":
        result = argument
    elif kind == "number":
        result = (attributes[0], attributes[0])
    elif kind == "select":
        result = value(1 if _always(lines, inputs[0], argument, known) else 2)
    elif kind == "larger":
        left, right = value(0), value(1)
        result = (max(left[0], right[0]), max(left[1], right[1]))
    elif kind == "neg":
        result = (-value(0)[1], -value(0)[0])
    elif kind in ("add", "sub"):
        left, right = value(0), value(1)
        low, high = right if kind == "add" else (-right[1], -right[0])
        result = (left[0] + low, left[1] + high)
    elif kind == "mul":
        ends = [_times(x, y) for x in value(0) for y in value(1)]
        result = (min(ends), max(ends))
    elif kind == "div" and value(0)[0] == value(0)[1] and value(1)[0] == value(1)[1] and value(1)[0]:
        result = (value(0)[0] / value(1)[0],) * 2
    else:
        raise Undecided
    known[at] = result
    return result


def _times(x: Any, y: Any) -> Any:
    return Fraction(0) if not x or not y else x * y


def _always(lines: Expression, at: int, argument: Interval, known: dict[int, Interval]) -> bool:
    """Say whether a comparison holds for the whole interval, or for no part of it; Undecided otherwise."""
    kind, inputs, attributes = lines[at]
    if kind != "compare" or attributes[0] not in ORDER:
        raise Undecided
    left, right = (_interval(lines, one, argument, known) for one in inputs)
    ends = {ORDER[attributes[0]](x, y) for x in left for y in right}
    if len(ends) != 1:
        raise Undecided
    return bool(ends.pop())


def _piece(lines: Expression, function: str, middle: Fraction, half: Fraction) -> tuple[float, bool]:
    """Return a bound of the difference within `half` of `middle`, and whether a choice is open there."""
    from flint import arb, arb_series

    wide = arb_series([arb(_ball(middle), _ball(half)), 1])
    at = arb_series([_ball(middle), 1])
    truth = getattr(wide, function)(), getattr(at, function)()
    worst = 0.0
    cases = [dict[int, int]()]
    for decided in cases:
        try:
            whole, central = _series(lines, len(lines) - 1, (wide, at), half, decided, {})
        except _Open as open_choice:
            if len(cases) >= MOST_CASES:
                raise Undecided from None
            cases += [{**decided, open_choice.line: side} for side in (0, 1)]
            continue
        gap = whole - truth[0], central - truth[1]
        worst = max(worst, _up(abs(gap[1][0]) + _spread(gap, half)))
    return worst, len(cases) > 1


class _Open(Exception):  # noqa: N818 - becomes two cases
    """A choice that is not the same on the whole piece: each number of the piece is in one of the two cases."""

    def __init__(self, line: int) -> None:
        super().__init__(line)
        self.line = line


def _series(
    lines: Expression, at: int, argument: Pair, half: Fraction, decided: dict[int, int], known: dict[int, Pair]
) -> Pair:
    """Return a line's value on a piece, in the case in which the open choices are as `decided`."""
    if at in known:
        return known[at]
    kind, inputs, attributes = lines[at]

    def value(place: int) -> Pair:
        return _series(lines, inputs[place], argument, half, decided, known)

    if kind == "argument":
        result = argument
    elif kind == "number" and isinstance(attributes[0], Fraction):
        result = _constant(attributes[0])
    elif kind == "larger":
        result = value(_side(at, value(0), value(1), "GE", half, decided))
    elif kind == "select":
        test, sides, (direction, *_) = lines[inputs[0]][0], lines[inputs[0]][1], (*lines[inputs[0]][2], "")
        if test != "compare" or direction not in ORDER:
            raise Undecided
        left, right = (_series(lines, one, argument, half, decided, known) for one in sides)
        result = value(1 + _side(inputs[0], left, right, direction, half, decided))
    else:
        taken = [value(place) for place in range(len(inputs))]
        result = _apply(kind, [pair[0] for pair in taken]), _apply(kind, [pair[1] for pair in taken])
    known[at] = result
    return result


def _spread(pair: Pair, half: Fraction) -> Any:
    """Return a ball whose upper end bounds how far a function is, on the piece, from its value at the middle."""
    radius = _ball(half)
    last = abs(pair[0][TERMS]) * radius**TERMS
    return sum((abs(pair[1][k]) * radius**k for k in range(1, TERMS)), last)


def _side(line: int, left: Pair, right: Pair, direction: str, half: Fraction, decided: dict[int, int]) -> int:
    """Return 0 where a comparison holds on the whole piece, 1 where it holds nowhere there, or what is decided."""
    from flint import arb

    if line in decided:
        return decided[line]
    gap = left[0] - right[0], left[1] - right[1]
    spread = _spread(gap, half)
    values = gap[1][0] + arb(0, spread.abs_upper()) if spread.is_finite() else gap[0][0]
    if ORDER[direction](values, 0):
        return 0
    if ORDER[OPPOSITE[direction]](values, 0):
        return 1
    raise _Open(line)


def _constant(number: Fraction) -> Pair:
    from flint import arb_series

    return arb_series([_ball(number)]), arb_series([_ball(number)])


def _apply(kind: str, x: list[Any]) -> Any:
    if kind == "neg":
        return -x[0]
    if kind in ("add", "sub"):
        return x[0] + x[1] if kind == "add" else x[0] - x[1]
    if kind in ("mul", "div"):
        return x[0] * x[1] if kind == "mul" else x[0] / x[1]
    if kind in ("exp", "erf", "erfc"):
        return getattr(x[0], kind)()
    raise Undecided
