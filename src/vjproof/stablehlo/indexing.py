"""Operations that take places as numbers: dynamic slices, gather and scatter, where these numbers are known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.graph_arithmetic import binary
from vjproof.stablehlo.module_document import FLOATS
from vjproof.stablehlo.movement import put, take
from vjproof.stablehlo.unfold import Call
from vjproof.stablehlo.values import Known, Value

UNKNOWN = "places that depend on inputs"


def _starts(call: Call, first: int, sizes: Sequence[int], whole: Sequence[int]) -> list[int] | None:
    """Return the start places, moved inside as StableHLO says; None where they are not known."""
    indices = call.operands[first:]
    if not all(isinstance(index, Known) for index in indices):
        return None
    given = [int(index.array) for index in indices if isinstance(index, Known)]
    return [max(0, min(start, n - size)) for start, size, n in zip(given, sizes, whole, strict=True)]


def dynamic_slice(call: Call) -> list[Value]:
    """Return the box of entries that starts at known places."""
    x, sizes = call.operands[0], call.attributes["slice_sizes"]
    starts = _starts(call, 1, sizes, call.sizes(x))
    if starts is None:
        return call.refuse(UNKNOWN)
    if isinstance(x, Known):
        box = tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))
        return [Known(x.array[box], call.element)]
    for dim, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        x = call.graph.slice(x, dim, start, start + size)
    return [x]


def dynamic_update_slice(call: Call) -> list[Value]:
    """Return the operand with a box of entries, at known places, replaced."""
    x, update = call.operands[:2]
    sizes, whole = call.sizes(update), call.sizes(x)
    starts = _starts(call, 2, sizes, whole)
    if starts is None:
        return call.refuse(UNKNOWN)
    if isinstance(x, Known) and isinstance(update, Known):
        changed = x.array.copy()
        changed[tuple(slice(start, start + size) for start, size in zip(starts, sizes, strict=True))] = update.array
        return [Known(changed, call.element)]
    return [_replaced(call.graph, call.node(0), call.node(1), starts, 0)]


def _replaced(graph: Graph, x: int, update: int, starts: Sequence[int], dim: int) -> int:
    """Return x with `update` put in from `starts` on, in dimensions `dim` and after."""
    if dim == len(starts):
        return update
    start, size, whole = starts[dim], graph.shape(update)[dim], graph.shape(x)[dim]
    middle = _replaced(graph, graph.slice(x, dim, start, start + size), update, starts, dim + 1)
    before = [graph.slice(x, dim, 0, start)] if start else []
    after = [graph.slice(x, dim, start + size, whole)] if start + size < whole else []
    return graph.concat([*before, middle, *after], dim)


def gather(call: Call) -> list[Value]:
    """Return entries at known places, where each dimension of the operand goes along with one of the result or none."""
    import numpy as np

    x, indices = call.operands
    if not isinstance(indices, Known):
        return call.refuse(UNKNOWN)
    places = gather_places(call.attributes, call.sizes(x), indices.array, call.shape)
    if isinstance(x, Known):
        return [Known(x.array[tuple(places)], call.element)]
    lines = separate([np.asarray(line) for line in places], call.shape)
    if lines is None:
        return call.refuse("places that are no product of places along dimensions")
    order = []
    for dim, (source, line) in enumerate(lines):
        x = take(call.graph, x, dim, line)
        order.append(source)
    return [_arranged(call.graph, x, order, call.shape)]


def gather_places(a: Any, sizes: Sequence[int], indices: Any, shape: Sequence[int]) -> list[Any]:
    """Return, for each dimension of a gather's operand, the place of each entry of the result; the StableHLO rule."""
    import numpy as np

    numbers, window = a["dimension_numbers"], list(a["slice_sizes"])
    offset, collapsed = list(numbers["offset_dims"]), list(numbers["collapsed_slice_dims"])
    batching = list(numbers["operand_batching_dims"])
    table = _index_vectors(indices, numbers["index_vector_dim"])
    batch = [dim for dim in range(len(shape)) if dim not in offset]
    grid = np.indices(tuple(shape), sparse=False) if shape else np.zeros((0,), int)
    batch_at = tuple(grid[dim] for dim in batch)
    kept = [dim for dim in range(len(sizes)) if dim not in collapsed and dim not in batching]
    places = [np.zeros(tuple(shape), dtype=np.int64) for _ in sizes]
    for k, dim in enumerate(numbers["start_index_map"]):
        start = np.clip(table[..., k].astype(np.int64), 0, sizes[dim] - window[dim])
        places[dim] = places[dim] + (start[batch_at] if batch else start)
    index_dims = [d for d in range(np.ndim(indices)) if d != numbers["index_vector_dim"]]
    for dim, index_dim in zip(batching, numbers["start_indices_batching_dims"], strict=True):
        places[dim] = places[dim] + batch_at[index_dims.index(index_dim)]
    for dim, out in zip(kept, offset, strict=True):
        places[dim] = places[dim] + grid[out]
    return places


def _index_vectors(indices: Any, dim: int) -> Any:
    import numpy as np

    return indices[..., None] if dim == np.ndim(indices) else np.moveaxis(indices, dim, -1)


def separate(places: Sequence[Any], shape: Sequence[int]) -> list[tuple[int | None, list[int]]] | None:
    """Return for each operand dimension the result dimension that it goes along with, and its places; None if mixed."""
    import numpy as np

    lines: list[tuple[int | None, list[int]]] = []
    used: set[int] = set()
    for place in places:
        varying = [k for k in range(len(shape)) if not np.all(place == np.take(place, [0], axis=k))]
        if len(varying) > 1 or (varying and varying[0] in used):
            return None
        source = varying[0] if varying else None
        used |= set(varying)
        moved = (
            place.reshape(-1)[:1] if source is None else np.moveaxis(place, source, 0).reshape(shape[source], -1)[:, 0]
        )
        lines.append((source, [int(number) for number in moved]))
    return lines


def _arranged(graph: Graph, x: int, order: Sequence[int | None], shape: Sequence[int]) -> int:
    """Return x, whose dimension k belongs at order[k] (None: one element), as an array of `shape`."""
    kept = [dim for dim in order if dim is not None]
    x = graph.reshape(x, tuple(shape[dim] for dim in kept))
    x = graph.transpose(x, sorted(range(len(kept)), key=kept.__getitem__))
    return graph.broadcast(x, sorted(kept), tuple(shape))


def scatter(call: Call) -> list[Value]:
    """Return the operand with updates added at known places, each place met once."""
    import numpy as np

    if len(call.operands) != 3 or not isinstance(call.operands[1], Known):
        return call.refuse(UNKNOWN if len(call.operands) == 3 else "several operands")
    block = call.operation.regions[0]
    steps = [operation.name for operation in block.operations]
    adds = steps == ["stablehlo.add", "stablehlo.return"] and sorted(block.operations[0].operands) == block.arguments
    replaces = steps == ["stablehlo.return"] and block.operations[0].operands == block.arguments[1:]
    if call.element not in FLOATS or not (adds or replaces):
        return call.refuse("a body that does not add or replace floats")
    x, update = call.node(0), call.node(2)
    sizes, shape = call.graph.shape(x), call.graph.shape(update)
    places, inside = _scatter_places(call.attributes, sizes, call.operands[1].array, shape)
    flat = np.ravel_multi_index([np.where(inside, place, 0) for place in places], sizes) if sizes else np.zeros(1)
    lines = separate(places, shape)
    if lines is None or not inside.all() or len(np.unique(flat)) != flat.size:
        return call.refuse("places that meet twice, lie outside, or are no product of places along dimensions")
    graph = call.graph
    kept = [source for source, _ in lines if source is not None]
    order = kept + [dim for dim in range(len(shape)) if dim not in kept]
    spread = graph.reshape(graph.transpose(update, order), tuple(len(line) for _, line in lines))
    added = _put_all(graph, spread, [line for _, line in lines], sizes)
    if adds:
        return [binary(graph, "add", x, added)]
    mask = np.ones(sizes)
    mask[tuple(places)] = 0
    held = call.unfolding.node(Known(mask, call.element))
    return [binary(graph, "add", binary(graph, "mul", held, x), added)]


def _put_all(graph: Graph, x: int, lines: Sequence[list[int]], sizes: Sequence[int]) -> int:
    for dim, (line, size) in enumerate(zip(lines, sizes, strict=True)):
        x = put(graph, x, dim, line, size)
    return x


def _scatter_places(a: Any, sizes: Sequence[int], indices: Any, shape: Sequence[int]) -> tuple[list[Any], Any]:
    """Return the place in the operand of each update, by the StableHLO rule, and whether it lies inside."""
    import numpy as np

    numbers = a["scatter_dimension_numbers"]
    window, inserted = list(numbers["update_window_dims"]), list(numbers["inserted_window_dims"])
    batching = list(numbers["input_batching_dims"])
    table = _index_vectors(indices, numbers["index_vector_dim"])
    batch = [dim for dim in range(len(shape)) if dim not in window]
    grid = np.indices(tuple(shape))
    batch_at = tuple(grid[dim] for dim in batch)
    places = [np.zeros(tuple(shape), dtype=np.int64) for _ in sizes]
    for k, dim in enumerate(numbers["scattered_dims_to_operand_dims"]):
        start = table[..., k].astype(np.int64)
        places[dim] = places[dim] + (start[batch_at] if batch else start)
    index_dims = [d for d in range(np.ndim(indices)) if d != numbers["index_vector_dim"]]
    for dim, index_dim in zip(batching, numbers["scatter_indices_batching_dims"], strict=True):
        places[dim] = places[dim] + batch_at[index_dims.index(index_dim)]
    kept = [dim for dim in range(len(sizes)) if dim not in inserted and dim not in batching]
    for dim, out in zip(kept, window, strict=True):
        places[dim] = places[dim] + grid[out]
    inside = np.ones(tuple(shape), dtype=bool)
    for place, size in zip(places, sizes, strict=True):
        inside &= (place >= 0) & (place < size)
    return places, inside
