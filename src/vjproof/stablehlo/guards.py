"""Guards: a maximum with a literal, or a choice by a comparison with one, read as if it came out the same everywhere.

max(norm, 1e-12) is read as norm, under the assumption norm > 1e-12 in every entry, which whoever reads so must state
with every result. It is made only where it holds at random points of several scales, so it holds on an open set of
inputs; a choice that goes both ways, as in relu, stays a choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vjproof.stablehlo.branches import ANALYTIC, MOST_ELEMENTS
from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.graph_numbers import evaluate
from vjproof.stablehlo.rewriting import rebuild

READABLE = ANALYTIC | {"max", "larger"}
MIRRORED = {">": "<", "<": ">", "=": "="}
TRUE_FOR = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}
SCALES = (1.0, 4.0, 0.25)
FEW_ELEMENTS = 2**24  # above it only the first scale is looked at
MOVED = ("broadcast", "reshape", "transpose", "slice")


class Guard(NamedTuple):
    """Every entry of a node is taken to be larger (">") or smaller ("<") than a number; where that was needed."""

    node: int
    relation: str
    number: float
    place: str


def assume_guards(graph: Graph, outputs: Sequence[int]) -> tuple[Graph, list[int], list[Guard]]:
    """Return (graph, outputs, guards): maxima and choices by comparisons with literals are replaced by one side."""
    live = graph.live(outputs)
    if not any(graph.nodes[node].kind in ("larger", "select") for node in live):
        return graph, list(outputs), []
    guards = _Guards()

    def replace(new: Graph, node: int, inputs: list[int]) -> int | None:
        kind, place = graph.nodes[node].kind, graph.nodes[node].place
        if kind == "larger":
            order = guards.order(new, inputs[0], inputs[1], place)
            return None if order is None else inputs[1 if order == "<" else 0]
        if kind == "select":
            at = inputs[0]
            while new.nodes[at].kind in MOVED:
                at = new.nodes[at].inputs[0]
            data = new.nodes[at]
            sides = data.inputs if data.kind == "compare" else ()
            order = guards.order(new, sides[0], sides[1], data.place) if sides else None
            return None if order is None else inputs[1 if order in TRUE_FOR[data.attributes[0]] else 2]
        return None

    fresh, mapping = rebuild(graph, live, replace)
    return fresh, [mapping[node] for node in outputs], list(guards.made.values())


@dataclass
class _Guards:
    """The guards assumed so far, by node and number, and the numbers that decide them."""

    made: dict[tuple[int, float], Guard] = field(default_factory=dict)
    values: dict[float, dict[int, Any]] = field(default_factory=dict)  # by scale
    elements: int = 0

    def order(self, graph: Graph, x: int, y: int, place: str) -> str | None:
        """Return how x compares with y in every entry, one of them a literal; None where nothing can be said."""
        if x == y:
            return "="
        here, there = graph.literal(x), graph.literal(y)
        if (here is None) == (there is None):
            return None
        if there is None:
            found = self.order(graph, y, x, place)
            return None if found is None else MIRRORED[found]
        number = float(there[0])
        if math.isinf(number):
            return "<" if number > 0 else ">"
        if (x, number) not in self.made:
            relation = self._relation(graph, x, number)
            if relation is None:
                return None
            self.made[x, number] = Guard(x, relation, number, place)
        return self.made[x, number].relation

    def _relation(self, graph: Graph, x: int, number: float) -> str | None:
        """Return ">" or "<" where it holds in every entry at each of the points, clear of rounding."""
        nodes = graph.live([x])
        known = self.values.setdefault(SCALES[0], {})
        self.elements += sum(math.prod(graph.shape(node)) for node in nodes if node not in known)
        if self.elements > MOST_ELEMENTS or any(graph.nodes[node].kind not in READABLE for node in nodes):
            return None
        scales = SCALES if self.elements <= FEW_ELEMENTS else SCALES[:1]
        found = {self._at(graph, nodes, scale, number) for scale in scales}
        return found.pop() if len(found) == 1 else None

    def _at(self, graph: Graph, nodes: Sequence[int], scale: float, number: float) -> str | None:
        """Return how the last of `nodes` compares with a number at the random point of a scale."""
        import numpy as np

        values = self.values.setdefault(scale, {})
        for node in nodes:
            if graph.nodes[node].kind == "input" and node not in values:
                shape = graph.shape(node)
                width = math.sqrt(shape[0]) if len(shape) > 1 else 1.0
                values[node] = np.random.default_rng(node).standard_normal(shape) * (scale / width)
        values |= evaluate(graph, nodes, values)
        array = values[nodes[-1]]
        gap = array - number
        clear = bool(np.isfinite(gap).all()) and (np.abs(gap) > 1e-9 * (np.abs(array) + abs(number))).all()
        return None if not clear else ">" if (gap > 0).all() else "<" if (gap < 0).all() else None
