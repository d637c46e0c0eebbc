"""Definedness: where a program's divisions and roots are defined, and which of these hold everywhere.

A theorem speaks of the inputs where both programs are defined. Each division needs a nonzero divisor, each
fractional power a positive base. Conditions that hold for all inputs are discharged by signs alone; every other
one is part of the statement.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vjproof.kernel.program import Operation, Program, constant_from, exponent_from

POSITIVE, NONNEGATIVE, UNKNOWN = 2, 1, 0
KEEPS = ("reshape", "transpose", "broadcast", "slice", "concat", "sum", "max", "add", "mul", "dot")


def sign_of(operation: Operation, signs: Mapping[str, int], positive: Sequence[str]) -> int:
    """Return a sign that every entry of an operation's result has, from the signs of its arguments.

    Sums, maxima, products and copies of positive (nonnegative) values are positive (nonnegative), since no axis is
    empty; so are x x for the same x, even powers, exponentials and logistic values, erfc, and powers of positives.
    """
    kind, arguments = operation.kind, operation.arguments
    given = min((signs[argument] for argument in arguments), default=UNKNOWN)
    if kind == "input":
        return POSITIVE if operation.name in positive else UNKNOWN
    if kind == "const":
        value, _ = constant_from(operation.attributes["value"]) or (-1, {})
        return POSITIVE if value > 0 else NONNEGATIVE if value == 0 else UNKNOWN
    if kind in ("size", "exp", "logistic", "erfc"):
        return POSITIVE
    if kind == "mul" and arguments[0] == arguments[1]:
        return max(NONNEGATIVE, given)
    if kind == "add" and given == NONNEGATIVE:
        return max(signs[argument] for argument in arguments)
    if kind in KEEPS:
        return given
    if kind == "div":
        return given if signs[arguments[1]] == POSITIVE else UNKNOWN
    if kind != "power":
        return UNKNOWN
    exponent = exponent_from(operation.attributes["exponent"]) or 0
    even = exponent.denominator == 1 and exponent % 2 == 0 and exponent > 0
    return POSITIVE if given == POSITIVE else NONNEGATIVE if even or (given and exponent > 0) else UNKNOWN


def conditions_of(program: Program, positive: Sequence[str]) -> list[str]:
    """Return the conditions under which a program is defined, as texts; `positive` inputs are > 0 by hypothesis."""
    signs: dict[str, int] = {}
    conditions: dict[str, None] = {}
    for name, operation in program.operations.items():
        signs[name] = sign_of(operation, signs, positive)
        exponent = exponent_from(operation.attributes["exponent"]) if operation.kind == "power" else None
        divided = operation.arguments[-1] if operation.kind == "div" or exponent else ""
        if divided and signs[divided] != POSITIVE and (exponent is None or exponent < 0 or exponent.denominator > 1):
            needed = "!= 0" if exponent is None or exponent.denominator == 1 else "> 0"
            conditions[f"{divided} {needed} in every entry"] = None
    return list(conditions)
