"""Which nodes of a graph are never negative, for all real inputs where they are defined."""

from __future__ import annotations

from fractions import Fraction

from vjproof.stablehlo.graph import Graph

SAME_SIGN = (
    "broadcast",
    "transpose",
    "reshape",
    "slice",
    "concat",
    "reverse",
    "sum",
    "max",
    "add",
    "mul",
    "div",
    "power",
)
DEEPEST = 60


def never_negative(graph: Graph, node: int, depth: int = 0, known: dict[int, bool] | None = None) -> bool:
    """Say whether every entry is >= 0: squares, exponentials, what sums and products of these give, and variances."""
    known = {} if known is None else known
    if node not in known:
        known[node] = depth <= DEEPEST and _never_negative(graph, node, depth + 1, known)
    return known[node]


def _never_negative(graph: Graph, node: int, depth: int, known: dict[int, bool]) -> bool:
    kind, inputs, attributes, _, _ = graph.nodes[node]
    number = graph.number(node)
    if number is not None:
        return number >= 0
    if kind in ("exp", "erfc", "logistic") or (kind == "mul" and inputs[0] == inputs[1]):
        return True
    if kind == "power" and attributes[0].denominator == 1 and attributes[0].numerator % 2 == 0:
        return True
    if kind == "sub":
        return is_variance(graph, *inputs)
    if kind == "larger":
        return any(never_negative(graph, one, depth, known) for one in inputs)
    return kind in (*SAME_SIGN, "power") and all(never_negative(graph, one, depth, known) for one in inputs)


def is_variance(graph: Graph, left: int, right: int) -> bool:
    """Say whether left - right is mean(x x) - mean(x) mean(x), which is the mean of (x - mean(x))^2."""
    square = _mean(graph, left)
    if square is None or graph.nodes[right].kind != "mul":
        return False
    (x, dims, count), (one, other) = square, graph.nodes[right].inputs
    product = graph.nodes[x]
    if product.kind != "mul" or product.inputs[0] != product.inputs[1] or one != other:
        return False
    mean = _mean(graph, one)
    total = 1
    for dim in dims:
        total *= product.shape[dim]
    return mean == (product.inputs[0], dims, count) and count == total


def _mean(graph: Graph, node: int) -> tuple[int, tuple[int, ...], Fraction] | None:
    """Return (x, dims, count) where a node is sum(x, dims) / count, with unit dimensions put in anywhere."""
    kind, inputs, _, _, _ = graph.nodes[node]
    while kind == "reshape":
        node = inputs[0]
        kind, inputs, _, _, _ = graph.nodes[node]
    if kind not in ("div", "mul"):
        return None
    number = graph.number(inputs[1])
    if number is None or not number:
        return None
    inner = graph.nodes[inputs[0]]
    while inner.kind == "reshape":
        inner = graph.nodes[inner.inputs[0]]
    if inner.kind != "sum":
        return None
    return inner.inputs[0], inner.attributes[0], number if kind == "div" else 1 / number
