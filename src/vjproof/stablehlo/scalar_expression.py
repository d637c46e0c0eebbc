"""Functions of one real number, taken out of a graph: what elementwise operations make of one node and of constants."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from vjproof.stablehlo.graph import Graph

ELEMENTWISE = {
    "neg", "exp", "erf", "erfc", "tanh", "logistic", "add", "sub", "mul", "div", "power", "larger", "compare", "select",
}  # fmt: skip
Expression = tuple[tuple[str, tuple[int, ...], tuple[Any, ...]], ...]  # line 0 is the argument; the last is the value
MOST_LINES = 400


def downstream(graph: Graph, users: dict[int, list[int]], root: int) -> list[int]:
    """Return the nodes that are functions of `root` and of constants alone, entry by entry, in order; root first."""
    inside, pending = {root}, sorted(users.get(root, []))
    found = [root]
    while pending and len(found) < MOST_LINES:
        node = pending.pop(0)
        data = graph.nodes[node]
        if node in inside or data.kind not in ELEMENTWISE:
            continue
        if all(one in inside or graph.literal(one) is not None for one in data.inputs):
            inside.add(node)
            found.append(node)
            pending = sorted({*pending, *users.get(node, [])})
    return found


def expression(graph: Graph, closure: Sequence[int], node: int) -> Expression:
    """Return a node of a closure as an expression in the closure's root; constants are exact."""
    return expressions(graph, closure, [node])[0]


def expressions(graph: Graph, closure: Sequence[int], nodes: Sequence[int]) -> tuple[Expression, dict[int, int]]:
    """Return (lines, where each node is in them) for several nodes of a closure and what they need."""
    order = {closure[0]: 0}
    lines: list[tuple[str, tuple[int, ...], tuple[Any, ...]]] = [("argument", (), ())]
    inside = set(closure)
    needed: set[int] = set()
    pending = list(nodes)
    while pending:
        at = pending.pop()
        if at not in needed and at != closure[0]:
            needed.add(at)
            pending += graph.nodes[at].inputs if at in inside else ()
    for at in sorted(needed):
        if at not in inside:
            number: Any = (graph.literal(at) or (0.0, ""))[0]
            order[at] = len(lines)
            lines.append(("number", (), (Fraction(number) if abs(number) < float("inf") else number,)))
            continue
        kind, inputs, attributes, _, _ = graph.nodes[at]
        order[at] = len(lines)
        lines.append((kind, tuple(order[one] for one in inputs), attributes))
    return tuple(lines), order


def floats(lines: Expression, argument: Any) -> list[Any]:
    """Return the values of all lines in float64 on an array of arguments; they only suggest."""
    import numpy as np
    from scipy import special

    functions = {
        "neg": np.negative, "exp": np.exp, "erf": special.erf, "erfc": special.erfc, "tanh": np.tanh,
        "logistic": special.expit, "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
        "larger": np.maximum, "select": np.where,
    }  # fmt: skip
    compared = {"EQ": np.equal, "NE": np.not_equal, "LT": np.less, "LE": np.less_equal, "GT": np.greater,
                "GE": np.greater_equal}  # fmt: skip
    values: list[Any] = []
    with np.errstate(all="ignore"):
        for kind, inputs, attributes in lines:
            taken = [values[one] for one in inputs]
            if kind == "argument":
                values.append(argument)
            elif kind == "number":
                values.append(np.full(np.shape(argument), float(attributes[0])))
            elif kind == "compare":
                values.append(compared[attributes[0]](*taken))
            else:
                values.append(taken[0] ** float(attributes[0]) if kind == "power" else functions[kind](*taken))
    return values
