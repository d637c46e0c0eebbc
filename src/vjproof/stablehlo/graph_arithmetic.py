"""Arithmetic of graphs: elementwise operations, reductions and products, with numbers folded where that is exact."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.graph_signs import never_negative

FOLDED = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


def unary(graph: Graph, kind: str, x: int) -> int:
    """Return neg, exp, erf, erfc, tanh or logistic of x."""
    number = graph.number(x)
    if kind == "neg" and number is not None:
        return graph.constant(-number, graph.shape(x))
    return graph.add(kind, (x,), (), graph.shape(x))


def power(graph: Graph, x: int, exponent: Fraction) -> int:
    """Return x to a rational power; the power 0 is 1, the power 1 is x."""
    if exponent == 0:
        return graph.constant(1, graph.shape(x))
    return x if exponent == 1 else graph.add("power", (x,), (exponent,), graph.shape(x))


def binary(graph: Graph, kind: str, x: int, y: int) -> int:
    """Return add, sub, mul or div of arrays of one shape; x + 0, x - 0, 1 x and x / 1 are x."""
    left, right = graph.number(x), graph.number(y)
    if left is not None and right is not None and (kind != "div" or right):
        return graph.constant(FOLDED[kind](left, right), graph.shape(x))
    if (kind in ("add", "sub") and right == 0) or (kind in ("mul", "div") and right == 1):
        return x
    if (kind == "add" and left == 0) or (kind == "mul" and left == 1):
        return y
    return graph.add(kind, (x, y), (), graph.shape(x))


def maximum(graph: Graph, x: int, y: int) -> int:
    """Return the larger of two arrays, entry by entry; max(-inf, x) is x, and so is max(0, x) where x is never < 0."""
    for this, other in ((x, y), (y, x)):
        found = graph.literal(this)
        if found is not None and found[0] == -math.inf:
            return other
    left, right = graph.number(x), graph.number(y)
    if left is not None and right is not None:
        return x if left >= right else y
    for this, other, number in ((x, y, right), (y, x, left)):
        if this == other or (number is not None and number <= 0 and never_negative(graph, this)):
            return this
    return graph.add("larger", (x, y), (), graph.shape(x))


def minimum(graph: Graph, x: int, y: int) -> int:
    """Return the smaller of two arrays of one shape, as -max(-x, -y); min(inf, x) is x."""
    for this, other in ((x, y), (y, x)):
        found = graph.literal(this)
        if found is not None and found[0] == math.inf:
            return other
    return unary(graph, "neg", maximum(graph, unary(graph, "neg", x), unary(graph, "neg", y)))


def choice(graph: Graph, truth: int, yes: int, no: int) -> int:
    """Return yes where a comparison holds, else no; equal values need no choice."""
    return yes if yes == no else graph.add("select", (truth, yes, no), (), graph.shape(yes))


def total(graph: Graph, kind: str, x: int, dims: Sequence[int]) -> int:
    """Return the sum or the max of x over dimensions."""
    shape = tuple(size for dim, size in enumerate(graph.shape(x)) if dim not in dims)
    if all(graph.shape(x)[dim] == 1 for dim in dims):
        return graph.reshape(x, shape)
    return graph.add(kind, (x,), (tuple(sorted(dims)),), shape)


def dot(
    graph: Graph,
    x: int,
    y: int,
    batch: tuple[Sequence[int], Sequence[int]],
    contract: tuple[Sequence[int], Sequence[int]],
) -> int:
    """Return the product of x and y: dimensions are batch, then what is left of x, then what is left of y."""
    left, right = graph.shape(x), graph.shape(y)
    shape = tuple(left[dim] for dim in batch[0])
    shape += tuple(size for dim, size in enumerate(left) if dim not in (*batch[0], *contract[0]))
    shape += tuple(size for dim, size in enumerate(right) if dim not in (*batch[1], *contract[1]))
    places = tuple(tuple(map(tuple, pair)) for pair in (batch, contract))
    return graph.add("dot", (x, y), places, shape)
