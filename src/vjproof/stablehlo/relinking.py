"""Where splits of axes clash, the one operation in the way is written as a product with a selection matrix.

A selection matrix has one 1 in each column and 0 elsewhere, so that the product only moves entries. It is a constant
array kept by name: a program has it as an input, and what is proved holds for any numbers there. So nothing is misread,
and the module runs to the same numbers; but a proof that needs the numbers of the matrix is not found, and what other
numbers refute is not refuted for the module.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from vjproof.stablehlo.axis_inference import LINKED, WHOLE, Clash, runs
from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.graph_arithmetic import binary, dot
from vjproof.stablehlo.rewriting import rebuild
from vjproof.stablehlo.values import Captured

MOST_ENTRIES = 2**22  # of a selection matrix
MOST_CLASHES = 24


def relink(graph: Graph, captured: Captured, ends: Sequence[int], clash: Clash) -> tuple[Graph, list[int]]:
    """Return (graph, ends) with the operation or the linked array of a clash written as a product.

    `ends` are the inputs and outputs of the module. VjproofError where the matrix would be too large.
    """
    data = graph.nodes[clash.node]

    def replace(new: Graph, node: int, inputs: list[int]) -> int | None:
        if node != clash.node:
            return None
        if clash.operand == LINKED:
            return _moved(new, captured, new.add(data.kind, inputs, data.attributes, data.shape), clash)
        if clash.operand == WHOLE:
            return _whole(new, captured, inputs, clash, graph)
        changed = list(inputs)
        changed[clash.operand] = _moved(new, captured, inputs[clash.operand], clash)
        return new.add(data.kind, changed, data.attributes, data.shape)

    fresh, mapping = rebuild(graph, graph.live(ends), replace)
    found = [mapping[node] for node in ends]
    if clash.operand == LINKED and data.kind == "input":  # the array itself stays the input, its users get the product
        itself = fresh.add(data.kind, (), data.attributes, data.shape)
        found = [itself if node == clash.node else new for node, new in zip(ends, found, strict=True)]
    return fresh, found


def _matrix(graph: Graph, captured: Captured, matrix: Any) -> int:
    return graph.input(captured.name(matrix), tuple(matrix.shape))


def _identity(rows: int, columns: int, clash: Clash) -> Any:
    """Return the identity of so many rows, which is too large where one of so many rows and columns would be."""
    import numpy as np

    if rows * columns > MOST_ENTRIES:
        raise clash.error
    return np.eye(rows)


def _moved(graph: Graph, captured: Captured, x: int, clash: Clash) -> int:
    """Return x with the clashing dimension multiplied by the identity: the same numbers on an axis of its own."""
    size = graph.shape(x)[clash.dim]
    return _along(graph, x, clash.dim, _matrix(graph, captured, _identity(size, size, clash)))


def _along(graph: Graph, x: int, dim: int, matrix: int) -> int:
    """Return x with a dimension multiplied by a matrix (old, new)."""
    rank = len(graph.shape(x))
    y = dot(graph, x, matrix, ((), ()), ((dim,), (0,)))
    return graph.transpose(y, [*range(dim), rank - 1, *range(dim, rank - 1)])


def _whole(graph: Graph, captured: Captured, inputs: list[int], clash: Clash, old: Graph) -> int:
    kind, _, attributes, shape, _ = old.nodes[clash.node]
    if kind == "reshape":
        return _reshaped(graph, captured, inputs[0], shape, clash)
    x, total, at = inputs[0], None, 0
    if kind == "reverse":
        for dim in attributes[0]:
            rows = _identity(shape[dim], shape[dim], clash)
            x = _along(graph, x, dim, _matrix(graph, captured, rows[::-1]))
        return x
    dim = attributes[0]
    size = graph.shape(x)[dim]
    if kind == "slice":
        columns = _identity(size, size, clash)[:, attributes[1] : attributes[2]]
        return _along(graph, x, dim, _matrix(graph, captured, columns))
    rows = _identity(shape[dim], shape[dim], clash)
    for part in inputs:
        size = graph.shape(part)[dim]
        placed = _along(graph, part, dim, _matrix(graph, captured, rows[at : at + size]))
        total, at = placed if total is None else binary(graph, "add", total, placed), at + size
    return x if total is None else total


def _reshaped(graph: Graph, captured: Captured, x: int, shape: tuple[int, ...], clash: Clash) -> int:
    """Return a reshape whose run of dimensions at `clash.dim` is a product, the other runs as they are."""
    old = graph.shape(x)
    (i, k), (j, m) = next(run for run in runs(old, shape) if run[0][0] == clash.dim)
    count = prod(old[i:k])
    selection = _matrix(graph, captured, _identity(count, count, clash).reshape(*old[i:k], *shape[j:m]))
    y = dot(graph, x, selection, ((), ()), (tuple(range(i, k)), tuple(range(k - i))))
    rest, width = len(old) - (k - i), m - j
    y = graph.transpose(y, [*range(i), *range(rest, rest + width), *range(i, rest)])
    return graph.reshape(y, shape)
