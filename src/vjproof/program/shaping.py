"""Lines that only move entries: broadcast, reshape, transpose, slice; equal shapes record nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.errors import VjproofError
from vjproof.kernel.program import factors_of, parts_of
from vjproof.program.axes import format_shape, shape_data
from vjproof.program.recorded import RecordedArray, refusal
from vjproof.program.size import Size

Shape = tuple[Any, ...]


def shape_from(shape: Any) -> Shape:
    """Return the kernel's form of a shape given as a sequence of Sizes, ints, axes or texts, or as one of those."""
    items = shape if isinstance(shape, list | tuple) else (shape,)
    return tuple(Size.of(item).axis for item in items)


def common_shape(*shapes: Shape) -> Shape:
    """Return the shape that `shapes` broadcast to, aligned at their last axes; VjproofError where none is."""
    rank = max(map(len, shapes))
    result = []
    for place in range(-rank, 0):
        axes = {shape[place] for shape in shapes if len(shape) >= -place} - {()}
        if len(axes) > 1:
            raise VjproofError(
                "broadcast of recorded arrays", expected="axes that are the same, or the unit axis",
                got=" and ".join(map(format_shape, shapes)),
                remedy="axes of equal size are not the same axis; give both the same name",
            )  # fmt: skip
        result.append(axes.pop() if axes else ())
    return tuple(result)


def broadcast_to(x: RecordedArray, shape: Shape) -> RecordedArray:
    """Return x with axes added in front and unit axes repeated, as NumPy does; VjproofError where it does not fit."""
    if x.axes == shape:
        return x
    if len(x.axes) > len(shape) or common_shape(x.axes, shape) != shape:
        raise VjproofError("broadcast_to", expected=f"an array that fits {format_shape(shape)}", got=repr(x))
    lead = len(shape) - len(x.axes)
    kept = [place for place, axis in enumerate(x.axes) if axis == shape[lead + place]]
    bare = reshape(x, tuple(x.axes[place] for place in kept))
    places = [lead + place for place in kept]
    return x.tape.line("broadcast", [bare], {"shape": shape_data(shape), "places": places})


def reshape(x: RecordedArray, shape: Shape) -> RecordedArray:
    """Return x with its factors grouped into the axes of `shape`; VjproofError where the factors differ."""
    kind, arguments, _ = x.tape.definition(x)
    if kind == "reshape":  # a reshape of a reshape is one reshape
        (x,) = arguments
    if x.axes == shape:
        return x
    if factors_of(x.axes) != factors_of(shape):
        raise VjproofError(
            "reshape of a recorded array", expected=f"the same factors in the same order as {format_shape(x.axes)}",
            got=format_shape(shape),
        )  # fmt: skip
    return x.tape.line("reshape", [x], {"shape": shape_data(shape)})


def permute(x: RecordedArray, order: Sequence[int]) -> RecordedArray:
    """Return x with axis order[i] at place i; VjproofError unless `order` is a permutation."""
    places = [_place(axis, x.ndim) for axis in order]
    if sorted(places) != list(range(x.ndim)):
        raise VjproofError("permute_dims", expected=f"a permutation of {x.ndim} axes", got=repr(tuple(order)))
    kind, arguments, attributes = x.tape.definition(x)
    if kind == "transpose":  # a transpose of a transpose is one transpose
        (x,) = arguments
        places = [attributes["order"][place] for place in places]
    if places == list(range(x.ndim)):
        return x
    return x.tape.line("transpose", [x], {"order": places})


def places_of(axes: Any, rank: int) -> list[int]:
    """Return the places of an axis argument (None: all), each once, in order; VjproofError out of range."""
    given = range(rank) if axes is None else axes if isinstance(axes, list | tuple) else (axes,)
    places = [_place(axis, rank) for axis in given]
    if len(set(places)) != len(places):
        raise VjproofError("axis argument", expected="each axis once", got=repr(axes))
    return sorted(places)


def _place(axis: Any, rank: int) -> int:
    if not isinstance(axis, int) or isinstance(axis, bool) or not -rank <= axis < rank:
        raise VjproofError("axis argument", expected=f"an int from {-rank} to {rank - 1}", got=repr(axis))
    return axis % rank


def take_slices(x: RecordedArray, key: Any) -> RecordedArray:
    """Return x[key], a slice per axis and at most one `...`; bounds lie on part boundaries of a union axis."""
    items = list(key) if isinstance(key, tuple) else [key]
    dots = [place for place, item in enumerate(items) if item is Ellipsis]
    if len(dots) > 1 or len(items) - len(dots) > x.ndim:
        raise VjproofError("index of a recorded array", expected=f"at most {x.ndim} slices and one ...", got=repr(key))
    at = dots[0] if dots else len(items)
    items[at : at + 1] = [slice(None)] * (x.ndim - (len(items) - len(dots)))
    for place, item in enumerate(items):
        if not isinstance(item, slice):
            raise refusal(f"the index {item!r}", "indices are slices and ...", "slice, or give the axis a name")
        x = _take_slice(x, place, item)
    return x


def _take_slice(x: RecordedArray, place: int, item: slice) -> RecordedArray:
    if item.step not in (None, 1):
        raise refusal(f"a slice with step {item.step!r}", "slices take whole parts of an axis")
    axis, rest = x.axes[place], ()
    if item == slice(None):
        return x
    if len(axis) > 1 and not isinstance(axis[0], str):  # rows of a product: cut its leading union
        axis, rest = axis[:1], axis[1:]
    parts = parts_of(axis)
    start = 0 if item.start is None else _boundary(x, parts, rest, item.start)
    stop = len(parts) if item.stop is None else _boundary(x, parts, rest, item.stop)
    if start >= stop:
        raise refusal("an empty slice", "every axis has at least one element")
    if (start, stop) == (0, len(parts)):
        return x
    lead, trail = x.axes[:place], x.axes[place + 1 :]
    if rest:
        x = reshape(x, (*lead, axis, rest, *trail))
    x = x.tape.line("slice", [x], {"axis": place, "start": start, "stop": stop})
    return reshape(x, (*lead, x.axes[place] + rest, *trail)) if rest else x


def _boundary(x: RecordedArray, parts: Shape, rest: Shape, bound: Any) -> int:
    if isinstance(bound, Size) and bound.axis[len(bound.axis) - len(rest) :] == rest:
        wanted = parts_of(bound.axis[: len(bound.axis) - len(rest)])
        if parts[: len(wanted)] == wanted:
            return len(wanted)
    elif isinstance(bound, int) and not isinstance(bound, bool):
        total = 0
        for index, part in enumerate(parts):
            if total == bound:
                return index
            size = x.tape.known_size(part + rest)
            if size is None:
                break
            total += size
        else:
            if total <= bound:  # as in NumPy, a bound past the end is the end
                return len(parts)
    raise refusal(
        f"the slice bound {bound!r}", f"a bound lies between parts of the axis {Size.of(_joined(parts))!r}",
        "write the axis as a union, such as 1+N",
    )  # fmt: skip


def _joined(parts: Shape) -> Shape:
    return (parts,) if len(parts) > 1 else parts[0]
