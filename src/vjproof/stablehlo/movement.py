"""Operations that move entries: reshape, transpose, broadcast, slice, pad, concatenate, reverse, iota, constant."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from vjproof.errors import VjproofError
from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.limits import MOST_STATIC
from vjproof.stablehlo.module_document import FLOATS, Dense
from vjproof.stablehlo.unfold import Call
from vjproof.stablehlo.values import Known, Value, named_array, number_type


def constant(call: Call) -> list[Value]:
    """Return a constant: a float of one value as a literal, all other numbers as a known array."""
    import numpy as np

    dense = call.attributes.get("value")
    if not isinstance(dense, Dense):
        return call.refuse("numbers in a form that is not read")
    if dense.type.is_float and dense.values.ndim == 0:
        return [call.graph.constant(float(dense.values), call.shape, call.element)]
    if prod(call.shape) > MOST_STATIC:
        if dense.values.ndim == 0:
            return call.refuse(f"more than {MOST_STATIC} elements")
        return [named_array(call.graph, call.unfolding.captured, dense.values)]
    wide = np.broadcast_to(dense.values, call.shape)
    return [Known(wide.astype(number_type(call.element)), call.element)]


def iota(call: Call) -> list[Value]:
    """Return the place along a dimension as a known array."""
    import numpy as np

    if prod(call.shape) > MOST_STATIC:
        return call.refuse(f"more than {MOST_STATIC} elements")
    dim = call.attributes["iota_dimension"]
    line = np.arange(call.shape[dim]).reshape([-1 if k == dim else 1 for k in range(len(call.shape))])
    number = np.float64 if call.element in FLOATS else np.int64
    return [Known(np.broadcast_to(line, call.shape).astype(number), call.element)]


def reshape(call: Call) -> list[Value]:
    """Return the same entries in row-major order."""
    (x,) = call.operands
    if isinstance(x, Known):
        return [Known(x.array.reshape(call.shape), call.element)]
    return [call.graph.reshape(x, call.shape)]


def transpose(call: Call) -> list[Value]:
    """Return the operand with its dimensions in another order."""
    (x,), order = call.operands, call.attributes["permutation"]
    if isinstance(x, Known):
        return [Known(x.array.transpose(order), call.element)]
    return [call.graph.transpose(x, order)]


def broadcast_in_dim(call: Call) -> list[Value]:
    """Return the operand repeated along dimensions that it does not have, or has with one element."""
    import numpy as np

    (x,), dims = call.operands, call.attributes["broadcast_dimensions"]
    if not isinstance(x, Known):
        return [call.graph.broadcast(x, dims, call.shape)]
    if prod(call.shape) > MOST_STATIC:
        return call.refuse(f"a known array of more than {MOST_STATIC} elements")
    order = sorted(range(len(dims)), key=dims.__getitem__)
    sizes = dict(zip(sorted(dims), (x.shape[k] for k in order), strict=True))
    unit = x.array.transpose(order).reshape([sizes.get(dim, 1) for dim in range(len(call.shape))])
    return [Known(np.broadcast_to(unit, call.shape).copy(), call.element)]


def slice_(call: Call) -> list[Value]:
    """Return a box of entries, every one or every few of them."""
    (x,), a = call.operands, call.attributes
    bounds = list(zip(a["start_indices"], a["limit_indices"], a["strides"], strict=True))
    if isinstance(x, Known):
        return [Known(x.array[tuple(slice(*bound) for bound in bounds)], call.element)]
    for dim, (start, stop, step) in enumerate(bounds):
        x = strided(call.graph, x, dim, start, stop, step)
    return [x]


def strided(graph: Graph, x: int, dim: int, start: int, stop: int, step: int) -> int:
    """Return the entries start, start + step, ... below stop: whole groups of `step`, the first of each."""
    count = -(-(stop - start) // step)
    if step == 1 or count <= 1:
        return graph.slice(x, dim, start, start + count)
    shape = graph.shape(x)
    first, last = start // step * step, (start + (count - 1) * step) // step * step + step
    if last > shape[dim]:  # the last group is not whole: its wanted entry is taken by itself
        rest = graph.slice(x, dim, start + (count - 1) * step, start + (count - 1) * step + 1)
        return graph.concat([strided(graph, x, dim, start, start + (count - 2) * step + 1, step), rest], dim)
    x = graph.slice(x, dim, first, last)
    x = graph.reshape(x, (*shape[:dim], count, step, *shape[dim + 1 :]))
    x = graph.slice(x, dim + 1, start - first, start - first + 1)
    return graph.reshape(x, (*shape[:dim], count, *shape[dim + 1 :]))


def pad(call: Call) -> list[Value]:
    """Return the operand with a number around and between its entries; negative padding takes entries away."""
    a = call.attributes
    x, number = call.nodes()
    graph = call.graph
    edges = zip(a["edge_padding_low"], a["edge_padding_high"], a["interior_padding"], strict=True)
    for dim, (low, high, between) in enumerate(edges):
        x = padded(graph, x, number, dim, low, high, between)
    return [x]


def padded(graph: Graph, x: int, number: int, dim: int, low: int, high: int, between: int) -> int:
    """Return x padded along one dimension with an array without axes."""

    shape = graph.shape(x)

    def filled(size: int) -> list[int]:
        return [graph.broadcast(number, (), (*shape[:dim], size, *shape[dim + 1 :]))] if size > 0 else []

    count = graph.shape(x)[dim]
    if between and count > 1:
        lead = (
            low % (between + 1) if low >= 0 else 0
        )  # rows of one entry each, which begin where entries of the whole do
        tail = between - lead
        whole = count if high >= tail or count < 3 else count - 1  # a last row that is not whole is put by itself
        body = graph.slice(x, dim, 0, whole)
        wide = [(*shape[:dim], whole, width, *shape[dim + 1 :]) for width in (lead, 1, tail)]
        gaps = [graph.broadcast(number, (), one) for one in (wide[0], wide[2])]
        rows = graph.concat([gaps[0], graph.reshape(body, wide[1]), gaps[1]], dim + 1)
        rows = graph.reshape(rows, (*shape[:dim], whole * (between + 1), *shape[dim + 1 :]))
        low -= lead
        if whole == count:
            x, high = rows, high - tail
        else:
            last = graph.slice(x, dim, count - 1, count)
            x = graph.concat([rows, *filled(lead), last], dim)
    if low < 0 or high < 0:
        x = graph.slice(x, dim, max(0, -low), graph.shape(x)[dim] - max(0, -high))
    return graph.concat([*filled(low), x, *filled(high)], dim) if low > 0 or high > 0 else x


def concatenate(call: Call) -> list[Value]:
    """Return the operands joined along a dimension."""
    import numpy as np

    dim, arrays = call.attributes["dimension"], call.known()
    if arrays is not None:
        return [Known(np.concatenate(arrays, axis=dim), call.element)]
    parts = [value for value in call.operands if prod(call.sizes(value))]
    if not parts:
        raise VjproofError(call.where, expected="axes with at least one element", got=str(call.shape))
    return [call.graph.concat([call.unfolding.node(value) for value in parts], dim)]


def get_dimension_size(call: Call) -> list[Value]:
    """Return how many elements a dimension has."""
    import numpy as np

    size = call.sizes(call.operands[0])[call.attributes["dimension"]]
    return [Known(np.asarray(size, dtype=number_type(call.element)), call.element)]


def reverse(call: Call) -> list[Value]:
    """Return the operand in reverse order along dimensions."""
    import numpy as np

    (x,), dims = call.operands, call.attributes["dimensions"]
    if isinstance(x, Known):
        return [Known(np.flip(x.array, tuple(dims)), call.element)]
    return [call.graph.reverse(x, dims)]


def unchanged(call: Call) -> list[Value]:
    """Return the operands."""
    return list(call.operands)


def take(graph: Graph, x: int, dim: int, places: Sequence[int]) -> int:
    """Return the entries of x at `places` along a dimension, runs of neighbours together."""
    runs: list[list[int]] = []
    for place in places:
        if runs and place == runs[-1][1]:
            runs[-1][1] = place + 1
        else:
            runs.append([place, place + 1])
    return graph.concat([graph.slice(x, dim, start, stop) for start, stop in runs], dim)


def put(graph: Graph, x: int, dim: int, places: Sequence[int], size: int) -> int:
    """Return an array of zeros with `size` places along a dimension, the entries of x at `places`, each once."""
    shape = graph.shape(x)
    parts, at = [], 0

    def zeros(count: int) -> list[Any]:
        return [graph.constant(0, (*shape[:dim], count, *shape[dim + 1 :]))] if count else []

    for source, place in sorted(enumerate(places), key=lambda pair: pair[1]):
        parts += [*zeros(place - at), graph.slice(x, dim, source, source + 1)]
        at = place + 1
    return graph.concat([*parts, *zeros(size - at)], dim)
