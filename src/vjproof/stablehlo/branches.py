"""Branches: comparisons of numbers that depend on inputs with a literal, read as if one side were always the larger.

A guard such as max(variance, 0) is read as its first argument, under the assumption variance > 0 in every entry, which
whoever reads so must tell with everything that follows. Where an assumption fails, what was read says nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from vjproof.stablehlo.graph import Graph

MIRRORED = {">": "<", "<": ">", "=": "="}
TRUE_FOR = {"EQ": "=", "NE": "<>", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}


class Assumption(NamedTuple):
    """Every entry of a node is larger (">") or smaller ("<") than a number; where that was needed."""

    relation: str
    place: str


@dataclass
class Branches:
    """The assumptions made while a module is read, by node and number."""

    made: dict[tuple[int, float], Assumption] = field(default_factory=dict)

    def order(self, graph: Graph, x: int, y: int, wanted: str = ">") -> str | None:
        """Return how x compares with y in every entry: ">", "<", "=", or None where nothing can be said.

        One of them is a literal, of which the other is assumed to be `wanted` unless it was assumed otherwise before.
        """
        if x == y:
            return "="
        here, there = graph.literal(x), graph.literal(y)
        if (here is None) == (there is None):
            return None
        if there is None:
            found = self.order(graph, y, x, MIRRORED[wanted])
            return None if found is None else MIRRORED[found]
        number = float(there[0])
        if math.isnan(number):
            return None
        if math.isinf(number):
            return "<" if number > 0 else ">"
        return self.made.setdefault((x, number), Assumption(wanted, graph.place)).relation

    def truth(self, graph: Graph, direction: str, x: int, y: int) -> bool | None:
        """Return the truth value that a comparison has in every entry, None where nothing can be said."""
        found = self.order(graph, x, y)
        return None if found is None or direction not in TRUE_FOR else found in TRUE_FOR[direction]

    def larger(self, graph: Graph, x: int, y: int) -> int | None:
        """Return the larger of two nodes, None where nothing can be said."""
        literal = graph.literal(x) is not None
        found = self.order(graph, x, y, "<" if literal else ">")
        return None if found is None else y if found == "<" else x

    def smaller(self, graph: Graph, x: int, y: int) -> int | None:
        """Return the smaller of two nodes, None where nothing can be said."""
        literal = graph.literal(x) is not None
        found = self.order(graph, x, y, ">" if literal else "<")
        return None if found is None else x if found == "<" else y
