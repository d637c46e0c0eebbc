"""Values met while a module unfolds: nodes of the graph, and arrays whose numbers are known."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from math import prod
from typing import Any, TypeAlias

from vjproof.errors import VjproofError
from vjproof.stablehlo.graph import Graph, Shape
from vjproof.stablehlo.module_document import FLOATS, TensorType

MOST_PIECES = 2048  # arrays of one number that a known array may be put together from
MOST_MOVED = 4  # dimensions of a constant array that is compared with its transposes
FEW = 4  # different numbers in a known array that is still put together, not kept by name


@dataclass(frozen=True)
class Known:
    """An array whose numbers are known exactly: integers, truth values, or floats of a format (as float64)."""

    array: Any
    element: str

    @property
    def shape(self) -> Shape:
        """The sizes of the array."""
        return tuple(self.array.shape)


Value: TypeAlias = int | Known


class Captured:
    """Constant arrays kept by name: a program has them as inputs, so that what is proved holds for any numbers."""

    def __init__(self) -> None:
        self.arrays: dict[str, Any] = {}

    def name(self, array: Any) -> str:
        """Return the name of an array of floats: equal arrays have one name, in every module."""
        import hashlib

        import numpy as np

        content = np.ascontiguousarray(array, dtype="<f8")
        digest = hashlib.sha256(repr(content.shape).encode() + content.tobytes()).hexdigest()
        self.arrays.setdefault(f"constant.{digest[:16]}", content)
        return f"constant.{digest[:16]}"


def number_type(element: str) -> Any:
    """Return the NumPy type of known numbers of an element type."""
    import numpy as np

    if element in FLOATS:
        return np.float64
    if element == "i1":
        return np.bool_
    return getattr(np, f"uint{element[2:]}" if element.startswith("ui") else f"int{element[1:]}", np.int64)


def known_array(graph: Graph, value: Value) -> Any | None:
    """Return the numbers of a value where they are known, else None; a splat has no axes."""
    if isinstance(value, Known):
        return value.array
    found = graph.literal(value)
    if found is None:
        return None
    import numpy as np

    return np.asarray(float(found[0]))


def as_node(graph: Graph, captured: Captured, value: Value) -> int:
    """Return a value as a node: a known array of few numbers is put together, another one becomes an input."""
    if not isinstance(value, Known):
        return value
    if value.element not in FLOATS:
        return graph.refused(f"an array of {value.element} used as a number", value.shape)
    import numpy as np

    array = value.array
    if prod(value.shape) == 0:
        raise VjproofError(graph.place or "an array", expected="axes with at least one element", got=str(value.shape))
    numbers = np.unique(array)
    if len(numbers) == 1:
        return graph.constant(float(numbers[0]), value.shape, value.element)
    if len(numbers) <= FEW or not np.all(np.isfinite(array)):
        pieces = _put_together(graph, array, value.element, [MOST_PIECES])
        if pieces is not None:
            return pieces
    if not np.all(np.isfinite(array)):
        return graph.refused("a constant array with infinite entries", value.shape)
    return named_array(graph, captured, array)


def named_array(graph: Graph, captured: Captured, array: Any) -> int:
    """Return a constant array kept by name; a transpose of one, or one with unit dimensions put in, is that one moved.

    Exporters fold the transpose of a weight: what is proved for any numbers must know both as one array.
    """
    import numpy as np

    core = array.reshape([size for size in array.shape if size > 1])
    kept = tuple(range(core.ndim))
    orders = [kept] if core.ndim > MOST_MOVED else [
        order for order in permutations(kept) if [core.shape[k] for k in order] == sorted(core.shape)
    ]  # fmt: skip
    views = [np.ascontiguousarray(core.transpose(order), dtype="<f8") for order in orders]
    best = min(range(len(orders)), key=lambda place: views[place].tobytes()) if len(orders) > 1 else 0
    one = graph.input(captured.name(views[best]), tuple(views[best].shape))
    moved = graph.transpose(one, sorted(kept, key=orders[best].__getitem__))
    return graph.reshape(moved, tuple(array.shape))


def _put_together(graph: Graph, array: Any, element: str, left: list[int]) -> int | None:
    """Return the array as arrays of one number joined along its dimensions, equal slabs together; None if too many."""
    import numpy as np

    first = array.flat[0]
    if np.all(array == first):
        left[0] -= 1
        return graph.constant(float(first), tuple(array.shape), element) if left[0] >= 0 else None
    dim = next(k for k, size in enumerate(array.shape) if size > 1)
    slabs = np.moveaxis(array, dim, 0)
    changes = [k for k in range(1, len(slabs)) if not np.array_equal(slabs[k], slabs[k - 1])]
    if not changes:
        return _spread(graph, array, element, left, dim)
    parts = []
    for start, stop in zip([0, *changes], [*changes, len(slabs)], strict=True):
        part = _put_together(graph, np.moveaxis(slabs[start:stop], 0, dim), element, left)
        if part is None:
            return None
        parts.append(part)
    return graph.concat(parts, dim)


def _spread(graph: Graph, array: Any, element: str, left: list[int], dim: int) -> int | None:
    """Return an array whose slabs along `dim` are all equal: one slab, broadcast."""
    import numpy as np

    slab = _put_together(graph, np.take(array, 0, axis=dim), element, left)
    others = [k for k in range(array.ndim) if k != dim]
    return None if slab is None else graph.broadcast(slab, others, tuple(array.shape))


def refuse(graph: Graph, words: str, types: list[TensorType], inputs: tuple[int, ...] = ()) -> list[Value]:
    """Return refused nodes, one for each result type."""
    return [graph.refused(words, kind.shape or (), inputs, tag) for tag, kind in enumerate(types)]
