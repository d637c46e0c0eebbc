"""Numbers that a program computes from constants alone, worked out before a graph is written."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from vjproof.kernel.program import Operation, Program
from vjproof.onnx_graph.sizes import axis_size
from vjproof.program.arithmetic import Arithmetic


def fold(program: Program, numbers: Mapping[str, float]) -> dict[str, float]:
    """Return the value, in float64, of each line that is one number (repeated or not) got from constants and `numbers`.

    `numbers` gives the values of inputs without axes. Rounding to the graph's dtype happens once, where they are used.
    A size that is symbolic is no number.
    """
    import array_api_compat.numpy as xp
    import numpy as np

    arithmetic = Arithmetic(xp, np.zeros(()))
    values: dict[str, Any] = {name: np.asarray(float(value)) for name, value in numbers.items()}
    for name, op in program.operations.items():
        known = op.kind != "input" and all(argument in values for argument in op.arguments)
        value = _value(op, program, [values[argument] for argument in op.arguments], arithmetic) if known else None
        if value is not None:
            values[name] = value
        elif op.kind in ("broadcast", "reshape") and op.arguments[0] in values:
            values[name] = values[op.arguments[0]]  # a number that repeats stays one number
    return {name: float(value) for name, value in values.items()}


def _value(op: Operation, program: Program, arguments: list[Any], arithmetic: Arithmetic) -> Any:
    """Return the number of one line, or None where it is none."""
    a = op.attributes
    if op.kind == "const":
        rational, powers = a["value"]
        return arithmetic.constant(Fraction(rational), {base: Fraction(text) for base, text in powers.items()})
    if op.kind == "size":
        count = axis_size(a["axis"], program)
        return None if count is None else arithmetic.size(count, Fraction(a["exponent"]))
    if op.kind in ("add", "sub", "mul", "div", "neg"):
        return arithmetic.operate(op.kind, *arguments)
    return arithmetic.power(arguments[0], Fraction(a["exponent"])) if op.kind == "power" else None
