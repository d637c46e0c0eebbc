"""Choices by an equality of two values that depend on inputs: settled as unequal, and declared as a condition.

Both sides must be made of analytic operations only, and differ at a random point: so the condition, which is stated
with every result, holds somewhere, and where the domain is connected it leaves out a set of measure zero at most.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.graph_numbers import evaluate
from vjproof.stablehlo.rewriting import rebuild

ANALYTIC = {
    "input", "const", "neg", "exp", "erf", "erfc", "tanh", "logistic", "add", "sub", "mul", "div", "power", "broadcast",
    "transpose", "reshape", "slice", "concat", "reverse", "sum", "dot",
}  # fmt: skip
CLEARLY = 1e-6
MOST_COMPARISONS = 1000
MOST_ELEMENTS = 2**27  # of all values that are looked at


class Condition(NamedTuple):
    """Two values are taken to differ in every entry: the statement is about inputs where they do."""

    left: str
    right: str
    place: str

    def __str__(self) -> str:
        return f"{self.left} and {self.right} differ in every entry ({self.place or 'a comparison'})"


def settle_choices(graph: Graph, outputs: Sequence[int]) -> tuple[Graph, list[int], list[Condition]]:
    """Return (graph, outputs, conditions): choices by equalities that can be settled are replaced by one side."""
    live = graph.live(outputs)
    found = {_comparison(graph, node) for node in live if graph.nodes[node].kind == "select"}
    settled = _differ(graph, sorted(one for one in found if one is not None))
    if not settled:
        return graph, list(outputs), []

    def replace(_: Graph, node: int, inputs: list[int]) -> int | None:
        comparison = _comparison(graph, node) if graph.nodes[node].kind == "select" else None
        if comparison not in settled:
            return None
        return inputs[2] if graph.nodes[comparison].attributes[0] == "EQ" else inputs[1]

    fresh, mapping = rebuild(graph, live, replace)
    sides = [(one, *graph.nodes[one].inputs) for one in sorted(settled)]
    conditions = [
        Condition(_words(graph, left), _words(graph, right), graph.nodes[one].place) for one, left, right in sides
    ]
    return fresh, [mapping[node] for node in outputs], conditions


def _words(graph: Graph, node: int) -> str:
    number = graph.number(node)
    return (
        str(number) if number is not None else f"the {graph.nodes[node].kind} of {graph.nodes[node].place or 'a line'}"
    )


def _comparison(graph: Graph, node: int) -> int | None:
    """Return the comparison that a choice is made by, where it is one of equality."""
    at = graph.nodes[node].inputs[0]
    while graph.nodes[at].kind in ("broadcast", "reshape", "transpose", "slice"):
        at = graph.nodes[at].inputs[0]
    data = graph.nodes[at]
    return at if data.kind == "compare" and data.attributes[0] in ("EQ", "NE") else None


def _differ(graph: Graph, comparisons: list[int]) -> set[int]:
    """Return the comparisons whose sides are analytic and differ, in every entry, at a random point."""
    import numpy as np

    def analytic(node: int) -> bool:
        return all(graph.nodes[one].kind in ANALYTIC for one in graph.live([node]))

    candidates = [one for one in comparisons[:MOST_COMPARISONS] if all(map(analytic, graph.nodes[one].inputs))]
    nodes = graph.live([side for one in candidates for side in graph.nodes[one].inputs])
    if not candidates or sum(int(np.prod(graph.shape(node))) for node in nodes) > MOST_ELEMENTS:
        return set()
    generator = np.random.default_rng(0)
    given: dict[int, Any] = {}
    for node in nodes:
        if graph.nodes[node].kind == "input":
            shape = graph.shape(node)
            given[node] = generator.standard_normal(shape) / np.sqrt(shape[0] if len(shape) > 1 else 1)
    values = evaluate(graph, nodes, given)
    settled = set()
    for one in candidates:
        left, right = (values[side] for side in graph.nodes[one].inputs)
        gap, size = np.abs(left - right), np.abs(left) + np.abs(right)
        if np.all(np.isfinite(gap)) and np.all(gap > CLEARLY * size) and np.all(size > 0):
            settled.add(one)
    return settled
