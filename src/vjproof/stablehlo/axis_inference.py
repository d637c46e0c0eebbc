"""Axes of a graph's dimensions, by dataflow: what each operation says about the dimensions that it takes and makes."""

from __future__ import annotations

from collections.abc import Sequence

from vjproof.errors import VjproofError
from vjproof.kernel.program import Shape as AxesShape
from vjproof.stablehlo.axis_classes import AxisClasses, Conflict
from vjproof.stablehlo.graph import Graph

Pair = tuple[tuple[int, ...], tuple[int, ...]]  # of dimensions of two operands
MOST_ROUNDS = 40


class Dimensions:
    """The classes of the dimensions of several graphs; axes of different graphs are the same where they are linked."""

    def __init__(self) -> None:
        self.classes = AxisClasses()
        self._graphs: list[tuple[Graph, list[int], dict[int, list[int]]]] = []
        self._links: list[tuple[list[int], list[int]]] = []
        self._names: dict[int, str] = {}

    def add(self, graph: Graph, live: list[int]) -> dict[int, list[int]]:
        """Return a class for each dimension of the live nodes of a graph."""
        classes = {node: [self.classes.new(size) for size in graph.shape(node)] for node in live}
        self._graphs.append((graph, live, classes))
        return classes

    def link(self, left: list[int], right: list[int]) -> None:
        """Say that two arrays have the same axes."""
        self._links.append((left, right))

    def infer(self) -> None:
        """Apply what every operation says until nothing is learnt; VjproofError where splits do not fit together."""
        for _ in range(MOST_ROUNDS):
            self.classes.changed = False
            for left, right in self._links:
                for one, other in zip(left, right, strict=True):
                    self._try("linked arrays", one, other)
            for graph, live, classes in self._graphs:
                for node in live:
                    try:
                        _apply(self.classes, graph, node, classes)
                    except Conflict as conflict:
                        where = f"{graph.nodes[node].kind} at {graph.nodes[node].place or 'an unknown line'}"
                        raise VjproofError(
                            where, expected="splits of axes that fit together", got=str(conflict)
                        ) from None
            if not self.classes.changed:
                return
        raise VjproofError("axes of the module", expected=f"at most {MOST_ROUNDS} rounds of inference", got="more")

    def _try(self, where: str, one: int, other: int) -> None:
        try:
            self.classes.unify(one, other)
        except Conflict as conflict:
            raise VjproofError(where, expected="the same axes", got=str(conflict)) from None

    def axes(self, classes: Sequence[int]) -> AxesShape:
        """Return the axes of dimensions, once inferred."""
        return tuple(self.classes.axis(one, self._names) for one in classes)

    def atoms(self) -> dict[str, int | None]:
        """Return the atomic axes that have a name so far, with their sizes."""
        return {name: self.classes.size(one) for one, name in self._names.items()}


def _apply(c: AxisClasses, graph: Graph, node: int, classes: dict[int, list[int]]) -> None:
    """Say what one operation makes equal."""
    kind, inputs, attributes, shape, _ = graph.nodes[node]
    own = classes[node]
    if kind in ("input", "const", "refused"):
        return
    first = classes[inputs[0]]
    pairs: list[tuple[int, int]] = []
    if kind == "broadcast":
        pairs = [(first[k], own[dim]) for k, dim in enumerate(attributes[0])]
    elif kind == "transpose":
        pairs = [(first[dim], own[k]) for k, dim in enumerate(attributes[0])]
    elif kind in ("sum", "max"):
        pairs = list(zip([one for dim, one in enumerate(first) if dim not in attributes[0]], own, strict=True))
    elif kind == "dot":
        pairs = _dot_pairs(first, classes[inputs[1]], own, *attributes)
    elif kind == "slice":
        dim, start, stop = attributes
        pairs = [(one, other) for k, (one, other) in enumerate(zip(first, own, strict=True)) if k != dim]
        c.unify(c.section(first[dim], start, stop), own[dim])
    elif kind == "concat":
        _concat(c, [classes[part] for part in inputs], own, attributes[0])
    elif kind == "reshape":
        _reshape(c, first, graph.shape(inputs[0]), own, shape)
    else:
        for part in inputs:
            pairs += zip(classes[part], own, strict=True)
    for one, other in pairs:
        c.unify(one, other)
    if kind == "reverse":
        for dim in attributes[0]:
            for at in range(1, shape[dim]):
                c.cut(own[dim], at)


def _dot_pairs(left: list[int], right: list[int], own: list[int], batch: Pair, contract: Pair) -> list[tuple[int, int]]:
    pairs = [(left[a], right[b]) for a, b in zip(batch[0] + contract[0], batch[1] + contract[1], strict=True)]
    kept = [left[dim] for dim in batch[0]]
    kept += [one for dim, one in enumerate(left) if dim not in batch[0] + contract[0]]
    kept += [one for dim, one in enumerate(right) if dim not in batch[1] + contract[1]]
    return pairs + list(zip(kept, own, strict=True))


def _concat(c: AxisClasses, parts: list[list[int]], own: list[int], dim: int) -> None:
    at = 0
    for part in parts:
        for k, (one, other) in enumerate(zip(part, own, strict=True)):
            if k != dim:
                c.unify(one, other)
        size = c.size(part[dim])
        c.unify(c.section(own[dim], at, at + size), part[dim])
        at += size


def _reshape(c: AxisClasses, first: list[int], old: tuple[int, ...], own: list[int], new: tuple[int, ...]) -> None:
    """Split both sides where the other one is split, smallest runs of dimensions with equal counts at a time."""
    i = j = 0
    while i < len(old) or j < len(new):
        left, right = old[i : i + 1], new[j : j + 1]
        a, b = (left or (1,))[0], (right or (1,))[0]
        starts = i, j
        i, j = i + len(left), j + len(right)
        while a != b:
            if a < b:
                a, i = a * old[i], i + 1
            else:
                b, j = b * new[j], j + 1
        _meet(c, first[starts[0] : i], own[starts[1] : j])


def _meet(c: AxisClasses, left: list[int], right: list[int]) -> None:
    """Make the factors of two runs of dimensions the same."""
    if len(left) == len(right) == 1:
        c.unify(left[0], right[0])
        return
    c.unify(c.product(left), c.product(right)) if len(left) != 1 and len(right) != 1 else None
    if len(left) == 1 or len(right) == 1:
        whole, several = (left[0], right) if len(left) == 1 else (right[0], left)
        groups = c.split(whole, [c.size(one) for one in several])
        for group, one in zip(groups, several, strict=True):
            c.unify(group, one)
