"""erf and erfc where an exporter wrote a piecewise polynomial for them: found, bounded rigorously, and declared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.rewriting import rebuild
from vjproof.stablehlo.scalar_expression import ELEMENTWISE, Expression, downstream, expression, expressions, floats

FUNCTIONS = ("erf", "erfc")
LOOSE = 1e-4  # numbers this near suggest the function
CLOSE = 1e-6  # the bound that is asked for
KINKS = ("larger", "compare")
DEEPEST = 6
MOST_ROOTS = 4000
MOST_BOUNDS = 100  # that are looked for in a module


class Approximation(NamedTuple):
    """A function that the module computes approximately and the program has exactly.

    `bound` is a rigorous bound on the absolute difference, over all real arguments and without rounding.
    """

    function: str
    bound: float
    operations: int
    place: str

    def __str__(self) -> str:
        where = f" ({self.place})" if self.place else ""
        return f"{self.operations} operations read as {self.function}, which they are within {self.bound:.3g} of{where}"


def recognise_functions(graph: Graph, outputs: Sequence[int]) -> tuple[Graph, list[int], list[Approximation]]:
    """Return (graph, outputs, approximations): every piecewise function that is near to erf or erfc replaced by it."""
    live = graph.live(outputs)
    users: dict[int, list[int]] = {}
    for node in live:
        for one in set(graph.nodes[node].inputs):
            users.setdefault(one, []).append(node)
    replaced: dict[int, tuple[str, int]] = {}
    found: list[Approximation] = []
    roots = dict.fromkeys(root for node in live if graph.nodes[node].kind in KINKS for root in _roots(graph, node))
    left = [MOST_BOUNDS]
    for root in list(roots)[:MOST_ROOTS]:
        match = _match(graph, users, root, set(replaced), left)
        if match is not None:
            node, approximation = match
            replaced[node] = (approximation.function, root)
            found.append(approximation)
    if not replaced:
        return graph, list(outputs), []

    places: dict[int, int] = {}

    def replace(new: Graph, node: int, _: list[int]) -> int | None:
        if node not in replaced:
            return None
        function, root = replaced[node]
        return new.add(function, (places[root],), (), new.shape(places[root]))

    fresh, mapping = rebuild(graph, live, replace, places)
    return fresh, [mapping[node] for node in outputs], found


def _roots(graph: Graph, node: int) -> list[int]:
    """Return the values that a kink may be a function of, nearest first."""
    roots: list[int] = []
    at = node
    for _ in range(DEEPEST):
        varying = sorted({one for one in graph.nodes[at].inputs if graph.literal(one) is None}, reverse=True)
        if not varying or graph.nodes[at].kind not in ELEMENTWISE:
            break
        at = varying[-1]  # of x and -x, the earlier one
        roots.append(at)
    return roots


def _match(
    graph: Graph, users: dict[int, list[int]], root: int, done: set[int], left: list[int]
) -> tuple[int, Approximation] | None:
    """Return the last node that is near to erf or erfc of a root by way of a kink, with a bound."""
    import numpy as np

    closure = downstream(graph, users, root)
    points = np.array([-5.3, -2.1, -1.2, -0.7, -0.1, 0.2, 0.9, 1.6, 2.6, 4.5])
    kinked: set[int] = set()
    for node in closure[1:]:
        data = graph.nodes[node]
        if data.kind in KINKS or any(one in kinked for one in data.inputs):
            kinked.add(node)
    if done & set(closure):
        return None
    candidates = [node for node in closure if node in kinked and graph.nodes[node].kind != "compare"]
    lines, order = expressions(graph, closure, candidates)
    values = floats(lines, points)
    for node in reversed(candidates):
        for function in FUNCTIONS:
            truth = floats((("argument", (), ()), (function, (0,), ())), points)[-1]
            if left[0] and np.all(np.abs(values[order[node]] - truth) < LOOSE):
                left[0] -= 1
                found = expression(graph, closure, node)
                bound = _bound(found, function)
                if bound is not None and bound <= CLOSE:
                    return node, Approximation(function, bound, len(found) - 1, graph.nodes[node].place)
    return None


def _bound(lines: Expression, function: str) -> float | None:
    from vjproof.stablehlo.erf_bounds import bound_difference

    return bound_difference(lines, function)
