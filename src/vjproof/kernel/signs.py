"""Definedness: where a program's divisions and roots are defined, and which of these hold everywhere.

A theorem speaks of the inputs where both programs are defined. Each division needs a nonzero divisor, each fractional
power a positive base. Conditions that signs discharge for all inputs are left out; every other is in the statement.
"""

from __future__ import annotations

from typing import Any

from vjproof.kernel.program import Operation, Program, constant_from, exponent_from

POSITIVE, NONNEGATIVE, UNKNOWN = 2, 1, 0
KEEPS = ("reshape", "transpose", "broadcast", "slice", "concat", "sum", "max", "add", "mul", "dot")


def sign_of(operation: Operation, signs: Any, positive: Any) -> int:
    """Return a sign that every entry of an operation's result has, from the signs of its arguments.

    Sums, maxima, products and copies of positive (nonnegative) values are positive (nonnegative), since no axis is
    empty; so are x x for the same x, even powers, exponentials and logistic values, erfc, and powers of positives.
    """
    kind, arguments = operation.kind, operation.arguments
    given = min((signs[argument] for argument in arguments), default=UNKNOWN)
    if kind == "const":
        value, _ = constant_from(operation.attributes["value"])
        return POSITIVE if value > 0 else NONNEGATIVE if value == 0 else UNKNOWN
    if kind in ("size", "exp", "logistic", "erfc") or (kind == "input" and operation.name in positive):
        return POSITIVE
    if kind == "mul" and arguments[0] == arguments[1]:
        return max(NONNEGATIVE, given)
    if kind == "add" and given == NONNEGATIVE:
        return max(signs[argument] for argument in arguments)
    if kind == "div":
        return given if signs[arguments[1]] == POSITIVE else UNKNOWN
    if kind == "power" and given != POSITIVE:
        exponent = exponent_from(operation.attributes["exponent"])
        even = exponent.denominator == 1 and exponent % 2 == 0 and exponent > 0
        return NONNEGATIVE if even or (given and exponent > 0) else UNKNOWN
    return given if kind in (*KEEPS, "power") else UNKNOWN


def conditions_of(program: Program, positive: Any) -> list[str]:
    """Return the conditions under which a program is defined, as texts; `positive` inputs are > 0 by hypothesis."""
    signs: dict[str, int] = {}
    conditions: dict[str, None] = {}
    for name, operation in program.operations.items():
        signs[name] = sign_of(operation, signs, positive)
        exponent = {"div": "-1"}.get(operation.kind) or operation.attributes.get("exponent")
        if operation.arguments and exponent and signs[operation.arguments[-1]] != POSITIVE:
            value = exponent_from(exponent)
            if value < 0 or value.denominator > 1:
                needed = "!= 0" if value.denominator == 1 else "> 0"
                conditions[f"{operation.arguments[-1]} {needed} in every entry"] = None
    return list(conditions)
