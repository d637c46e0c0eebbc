"""Axes of a graph's dimensions, by dataflow: what each operation says about the dimensions that it takes and makes."""

from __future__ import annotations

from collections.abc import Sequence

from vjproof.errors import VjproofError
from vjproof.kernel.program import Shape as AxesShape
from vjproof.stablehlo.axis_classes import AxisClasses, Conflict
from vjproof.stablehlo.graph import Graph

MOST_ROUNDS = 40
WHOLE, LINKED = -1, -2


class Clash(Exception):  # noqa: N818 - resolved, or turned into a VjproofError
    """Splits of axes that do not fit together, and where: the graph, the node, and the operand and its dimension.

    Operand -1 is the node as a whole (of a reshape, the run of dimensions that starts at `dim`), LINKED the node as an
    array that is linked to one of another graph.
    """

    def __init__(self, place: tuple[int, int, int, int], where: str, words: str) -> None:
        super().__init__(words)
        self.graph, self.node, self.operand, self.dim = place
        self.error = VjproofError(where, expected="splits of axes that fit together", got=words)


class Dimensions:
    """The classes of the dimensions of several graphs; axes of different graphs are the same where they are linked."""

    def __init__(self) -> None:
        self.classes = AxisClasses()
        self._graphs: list[tuple[Graph, list[int], dict[int, list[int]]]] = []
        self._links: list[tuple[list[int], list[int], tuple[int, int]]] = []
        self._names: dict[int, str] = {}

    def add(self, graph: Graph, live: list[int]) -> dict[int, list[int]]:
        """Return a class for each dimension of the live nodes of a graph."""
        classes = {node: [self.classes.new(size) for size in graph.shape(node)] for node in live}
        self._graphs.append((graph, live, classes))
        return classes

    def link(self, left: list[int], right: list[int], owner: tuple[int, int]) -> None:
        """Say that two arrays have the same axes; `owner` is the graph and the node of the second."""
        self._links.append((left, right, owner))

    def infer(self) -> None:
        """Apply what every operation says until nothing is learnt; Clash where two splits do not fit together."""
        for _ in range(MOST_ROUNDS):
            self.classes.changed = False
            for left, right, owner in self._links:
                for dim, (one, other) in enumerate(zip(left, right, strict=True)):
                    self._unify(one, other, (*owner, LINKED, dim))
            for place, (graph, live, classes) in enumerate(self._graphs):
                for node in live:
                    self._apply(place, graph, node, classes)
            if not self.classes.changed:
                return
        raise VjproofError("axes of the module", expected=f"at most {MOST_ROUNDS} rounds of inference", got="more")

    def axes(self, classes: Sequence[int]) -> AxesShape:
        """Return the axes of dimensions, once inferred."""
        return tuple(self.classes.axis(one, self._names) for one in classes)

    def atoms(self) -> dict[str, int | None]:
        """Return the atomic axes that have a name so far, with their sizes."""
        return {name: self.classes.size(one) for one, name in self._names.items()}

    def _unify(self, one: int, other: int, where: tuple[int, int, int, int]) -> None:
        try:
            self.classes.unify(one, other)
        except Conflict as conflict:
            raise self._clash(where, conflict) from None

    def _clash(self, where: tuple[int, int, int, int], conflict: Conflict) -> Clash:
        node = self._graphs[where[0]][0].nodes[where[1]]
        return Clash(where, f"{node.kind} at {node.place or 'an unknown line'}", str(conflict))

    def _apply(self, place: int, graph: Graph, node: int, classes: dict[int, list[int]]) -> None:
        """Say what one operation makes equal."""
        kind, inputs, _, _, _ = graph.nodes[node]
        if kind in ("input", "const", "refused"):
            return
        own = classes[node]
        for operand, dim, other in _pairs(graph, node, classes):
            self._unify(classes[inputs[operand]][dim], other, (place, node, operand, dim))
        try:
            if kind == "slice":
                _slice(self.classes, classes[inputs[0]], own, graph.nodes[node].attributes)
            elif kind == "concat":
                _concat(self.classes, [classes[part] for part in inputs], own, graph.nodes[node].attributes[0])
            elif kind == "reverse":
                for dim in graph.nodes[node].attributes[0]:
                    for at in range(1, graph.shape(node)[dim]):
                        self.classes.cut(own[dim], at)
        except Conflict as conflict:
            raise self._clash((place, node, WHOLE, 0), conflict) from None
        if kind == "reshape":
            for (i, k), (j, m) in runs(graph.shape(inputs[0]), graph.shape(node)):
                try:
                    _meet(self.classes, classes[inputs[0]][i:k], own[j:m])
                except Conflict as conflict:
                    raise self._clash((place, node, WHOLE, i), conflict) from None


def _pairs(graph: Graph, node: int, classes: dict[int, list[int]]) -> list[tuple[int, int, int]]:
    """Return (operand, its dimension, the class that it is in) for dimensions that an operation makes the same."""
    kind, inputs, attributes, _, _ = graph.nodes[node]
    own, ranks = classes[node], [len(graph.shape(one)) for one in inputs]
    if kind == "broadcast":
        return [(0, k, own[dim]) for k, dim in enumerate(attributes[0])]
    if kind == "transpose":
        return [(0, dim, own[k]) for k, dim in enumerate(attributes[0])]
    if kind in ("sum", "max"):
        kept = [dim for dim in range(ranks[0]) if dim not in attributes[0]]
        return [(0, dim, one) for dim, one in zip(kept, own, strict=True)]
    if kind == "dot":
        batch, contract = attributes
        shared = zip(batch[0] + contract[0], batch[1] + contract[1], strict=True)
        pairs = [(0, left, classes[inputs[1]][right]) for left, right in shared]
        kept_pairs = [(0, dim) for dim in batch[0]]
        for operand in (0, 1):
            used = batch[operand] + contract[operand]
            kept_pairs += [(operand, dim) for dim in range(ranks[operand]) if dim not in used]
        return pairs + [(operand, dim, one) for (operand, dim), one in zip(kept_pairs, own, strict=True)]
    if kind == "reshape":
        return []
    skipped = attributes[0] if kind in ("slice", "concat") else -1
    return [(k, dim, own[dim]) for k in range(len(inputs)) for dim in range(ranks[k]) if dim != skipped]


def _slice(c: AxisClasses, first: list[int], own: list[int], attributes: tuple[int, ...]) -> None:
    dim, start, stop = attributes
    c.unify(c.section(first[dim], start, stop), own[dim])


def _concat(c: AxisClasses, parts: list[list[int]], own: list[int], dim: int) -> None:
    at = 0
    for part in parts:
        size = c.size(part[dim])
        c.unify(c.section(own[dim], at, at + size), part[dim])
        at += size


def runs(old: Sequence[int], new: Sequence[int]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Return the shortest runs of dimensions with equal counts of a reshape, as (start, stop) in either shape."""
    found, i, j = [], 0, 0
    while i < len(old) or j < len(new):
        starts = i, j
        a, b = old[i] if i < len(old) else 1, new[j] if j < len(new) else 1
        i, j = min(i + 1, len(old)), min(j + 1, len(new))
        while a != b:
            if a < b:
                a, i = a * old[i], i + 1
            else:
                b, j = b * new[j], j + 1
        found.append(((starts[0], i), (starts[1], j)))
    return found


def _meet(c: AxisClasses, left: list[int], right: list[int]) -> None:
    """Make the factors of two runs of dimensions the same."""
    if len(left) == len(right) == 1:
        c.unify(left[0], right[0])
    elif len(left) == 1 or len(right) == 1:
        whole, several = (left[0], right) if len(left) == 1 else (right[0], left)
        for group, one in zip(c.split(whole, [c.size(one) for one in several]), several, strict=True):
            c.unify(group, one)
    else:
        c.unify(c.product(left), c.product(right))
