"""Numbers of a graph's nodes at one point, in float64: they only suggest, nothing is concluded from them alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from vjproof.program.arithmetic import Arithmetic
from vjproof.program.constants import constant_float, read_literal
from vjproof.stablehlo.graph import Graph, Node

DIRECTIONS = {
    "EQ": "equal",
    "NE": "not_equal",
    "LT": "less",
    "LE": "less_equal",
    "GT": "greater",
    "GE": "greater_equal",
}


def evaluate(graph: Graph, nodes: Sequence[int], given: Mapping[int, Any]) -> dict[int, Any]:
    """Return float64 arrays for `nodes`, in order of definition with all that they need among them or in `given`."""
    import array_api_compat.numpy as xp
    import numpy as np

    arithmetic, values = Arithmetic(xp, np.zeros(())), dict(given)
    with np.errstate(all="ignore"):
        for node in nodes:
            if node not in values:
                data = graph.nodes[node]
                values[node] = _value(arithmetic, data, [values[one] for one in data.inputs])
    return values


def literal_value(key: Any, element: str) -> float:
    """Return the number of a const node, as the constant that its literal is read as."""
    import math

    number = float.fromhex(key) if isinstance(key, str) else key
    if isinstance(number, float) and not math.isfinite(number):
        return number
    (rational, powers), _ = read_literal(number, element)
    return constant_float(Fraction(rational), {base: Fraction(exponent) for base, exponent in powers.items()})


def _value(arithmetic: Arithmetic, node: Node, inputs: list[Any]) -> Any:
    import numpy as np

    kind, _, attributes, shape, _ = node
    if kind == "const":
        return np.asarray(literal_value(*attributes))
    if kind in ("add", "sub", "mul", "div", "neg"):
        return arithmetic.operate(kind, *inputs)
    if kind in ("exp", "erf", "erfc", "tanh", "logistic"):
        return arithmetic.function(kind, inputs[0])
    if kind in ("sum", "max"):
        return arithmetic.reduce(kind, inputs[0], attributes[0])
    special: dict[str, Callable[[], Any]] = {
        "power": lambda: arithmetic.power(inputs[0], attributes[0]),
        "larger": lambda: np.maximum(*inputs),
        "compare": lambda: getattr(np, DIRECTIONS[attributes[0]])(*inputs),
        "select": lambda: np.where(*inputs),
        "dot": lambda: arithmetic.dot(inputs[0], inputs[1], [list(map(list, pair)) for pair in attributes], shape),
        "reshape": lambda: inputs[0].reshape(shape),
        "transpose": lambda: inputs[0].transpose(attributes[0]),
        "concat": lambda: np.concatenate(inputs, axis=attributes[0]),
        "reverse": lambda: np.flip(inputs[0], attributes[0]),
        "slice": lambda: inputs[0][(*[slice(None)] * attributes[0], slice(*attributes[1:]))],
        "broadcast": lambda: _broadcast(inputs[0], attributes[0], shape),
    }
    return special[kind]() if kind in special else np.full(shape, np.nan)


def _broadcast(x: Any, dims: Sequence[int], shape: Sequence[int]) -> Any:
    import numpy as np

    order = sorted(range(len(dims)), key=dims.__getitem__)
    unit = [size if dim in dims else 1 for dim, size in enumerate(shape)]
    return np.broadcast_to(x.transpose(order).reshape(unit), shape)
