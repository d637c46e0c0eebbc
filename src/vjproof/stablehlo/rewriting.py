"""A graph made anew with some of its nodes replaced."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.graph_arithmetic import binary, choice, maximum, power, unary

Replace = Callable[[Graph, int, list[int]], int | None]


def rebuild(
    graph: Graph, live: Sequence[int], replace: Replace, mapping: dict[int, int] | None = None
) -> tuple[Graph, dict[int, int]]:
    """Return a new graph of the live nodes, and where each is in it; `replace` may give another node, or None.

    `mapping` is filled on the way, so that `replace` can look up what came before.
    """
    new = Graph()
    mapping = {} if mapping is None else mapping
    for node in live:
        kind, inputs, attributes, shape, new.place = graph.nodes[node]
        taken = [mapping[one] for one in inputs]
        other = replace(new, node, taken)
        mapping[node] = _same(new, kind, taken, attributes, shape) if other is None else other
    return new, mapping


def _same(graph: Graph, kind: str, x: list[int], attributes: tuple[object, ...], shape: tuple[int, ...]) -> int:
    """Return the node of the same operation, simplified where its operands now allow that."""
    a: tuple[object, ...] = attributes
    if kind in ("neg", "exp", "erf", "erfc", "tanh", "logistic"):
        return unary(graph, kind, x[0])
    if kind in ("add", "sub", "mul", "div"):
        return binary(graph, kind, x[0], x[1])
    if kind == "power":
        return power(graph, x[0], a[0])  # type: ignore[arg-type]
    if kind == "larger":
        return maximum(graph, x[0], x[1])
    if kind == "select":
        return choice(graph, x[0], x[1], x[2])
    if kind == "broadcast":
        return graph.broadcast(x[0], a[0], shape)  # type: ignore[arg-type]
    if kind == "reshape":
        return graph.reshape(x[0], shape)
    if kind == "transpose":
        return graph.transpose(x[0], a[0])  # type: ignore[arg-type]
    if kind == "slice":
        return graph.slice(x[0], a[0], a[1], a[2])  # type: ignore[arg-type]
    if kind == "concat":
        return graph.concat(x, a[0])  # type: ignore[arg-type]
    return graph.add(kind, x, a, shape)
