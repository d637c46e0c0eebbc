"""Elementwise operations: on floats as lines of a program, on known integers and truth values as numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from vjproof.stablehlo.graph_arithmetic import binary, choice, maximum, minimum, power, unary
from vjproof.stablehlo.module_document import FLOATS
from vjproof.stablehlo.unfold import Call, Handler
from vjproof.stablehlo.values import Known, Value, number_type


def integers(call: Call, function: Callable[..., Any]) -> list[Value]:
    """Return the result on known integers or truth values, in the arithmetic of their type; else refused."""
    import numpy as np

    arrays = call.known()
    if arrays is None:
        return call.refuse(f"{call.element} numbers that depend on inputs")
    number = number_type(call.element)
    with np.errstate(all="ignore"):
        result = function(*[array.astype(number) for array in arrays])
    return [Known(np.asarray(result).astype(number), call.element)]


def of_floats(floats: Callable[[Call], int], whole: Callable[..., Any] | None = None) -> Handler:
    """Return the handler of an operation: `floats` gives its node, `whole` its result on known integers."""

    def handle(call: Call) -> list[Value]:
        if call.element not in FLOATS:
            return integers(call, whole) if whole else call.refuse(f"{call.element} numbers")
        return [floats(call)]

    return handle


def of_unary(kind: str, whole: Callable[..., Any] | None = None) -> Handler:
    """Return the handler of an operation that a program has."""
    return of_floats(lambda call: unary(call.graph, kind, call.node(0)), whole)


def of_binary(kind: str, whole: Callable[..., Any] | None = None) -> Handler:
    """Return the handler of an operation on two arrays that a program has."""
    return of_floats(lambda call: binary(call.graph, kind, *call.nodes()), whole)


def of_power(exponent: Fraction) -> Handler:
    """Return the handler of a fixed power."""
    return of_floats(lambda call: power(call.graph, call.node(0), exponent))


def divide_whole(left: Any, right: Any) -> Any:
    """Return the quotient of integers, rounded towards zero."""
    import numpy as np

    safe = np.where(right == 0, 1, right)
    quotient = np.abs(left.astype(object)) // np.abs(safe.astype(object))
    signed = np.where((left < 0) != (safe < 0), -quotient, quotient)
    return np.where(right == 0, -1, signed)


def remainder_whole(left: Any, right: Any) -> Any:
    """Return the remainder of integers, of the sign of the dividend."""
    import numpy as np

    return np.where(right == 0, left, left - divide_whole(left, right) * np.where(right == 0, 1, right))


def absolute(call: Call) -> int:
    """Return |x| as max(x, -x)."""
    x = call.node(0)
    return maximum(call.graph, x, unary(call.graph, "neg", x))


def clamp(call: Call) -> list[Value]:
    """Return min(max(low, x), high)."""
    low, _, high = call.operands
    if call.element not in FLOATS:
        return integers(call, _clamp_whole)
    graph, node = call.graph, call.node(1)
    bounds = [graph.broadcast(call.unfolding.node(bound), (), call.shape) if not call.sizes(bound) else
              call.unfolding.node(bound) for bound in (low, high)]  # fmt: skip
    return [minimum(graph, maximum(graph, bounds[0], node), bounds[1])]


def _clamp_whole(low: Any, x: Any, high: Any) -> Any:
    import numpy as np

    return np.minimum(np.maximum(low, x), high)


def power_of(call: Call) -> list[Value]:
    """Return x to the power of a rational number; an exponent that varies is refused."""
    if call.element not in FLOATS:
        return integers(call, lambda x, y: x**y)
    exponent = call.graph.number(call.node(1))
    if exponent is None or abs(exponent) > 64 or exponent.denominator > 64:
        return call.refuse("an exponent that is no small rational number")
    return [power(call.graph, call.node(0), exponent)]


def exponential_minus_one(call: Call) -> int:
    """Return exp(x) - 1."""
    graph = call.graph
    return binary(graph, "sub", unary(graph, "exp", call.node(0)), graph.constant(1, call.shape))


def square(call: Call) -> int:
    """Return x x."""
    return binary(call.graph, "mul", call.node(0), call.node(0))


def convert(call: Call) -> list[Value]:
    """Return the same numbers in another format; between formats of floats nothing changes over the reals."""
    import numpy as np

    (value,) = call.operands
    if isinstance(value, Known):
        if call.element in FLOATS:
            return [Known(value.array.astype(np.float64), call.element)]
        if call.element == "i1":
            return [Known(value.array != 0, "i1")]
        return [Known(np.trunc(value.array).astype(np.int64).astype(number_type(call.element)), call.element)]
    if call.graph.is_truth(value) and call.element in FLOATS:
        return [choice(call.graph, value, call.graph.constant(1, call.shape), call.graph.constant(0, call.shape))]
    found = call.graph.literal(value)
    if call.element not in FLOATS:
        if found is None or not math.isfinite(found[0]):
            return call.refuse(f"a conversion to {call.element} of numbers that depend on inputs")
        number = found[0] != 0 if call.element == "i1" else int(found[0])
        return [Known(np.full(call.shape, number, dtype=number_type(call.element)), call.element)]
    if found is None or FLOATS.get(found[1], 0) > FLOATS[call.element]:
        call.unfolding.declared.append((f"conversion to {call.element} read as the identity", call.operation.place))
    return [value]
