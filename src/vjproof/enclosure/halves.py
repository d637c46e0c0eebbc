"""Two processes share a program by cutting one axis of its large values: where each value is cut.

Each line takes its arguments cut or whole and leaves its result cut or whole; what has to be sent is little where one
axis, such as the tokens, goes through most lines. The rules look at shapes alone, so both processes find the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

from vjproof.kernel.program import Operation, Shape


class Cut(NamedTuple):
    """An axis, by its place, and how many of its elements the first process holds; the second holds the rest."""

    place: int
    first: int


class Plan(NamedTuple):
    """How the arguments of a line must be cut (None: whole), how its result is, and whether it is a partial sum."""

    arguments: tuple[Cut | None, ...]
    result: Cut | None
    partial: bool = False


Sizes = Sequence[tuple[int, ...]]


def plan(
    op: Operation, shapes: Sequence[Shape], counts: Sizes, count: tuple[int, ...], cuts: Sequence[Any], worth: int
) -> Plan:
    """Return the plan of a line: symbolic `shapes` and `counts` of its arguments, `count` of its result, their cuts.

    `worth` is the number of multiplications from which on a product of whole arguments is shared.
    """
    if op.kind == "dot":
        return _dot(op, shapes, counts, count, cuts, worth)
    given = next((cut for cut in cuts if cut is not None), None)
    if given is None:
        return Plan((None,) * len(counts), None)
    place, result = given.place, given
    if op.kind in ("sum", "max"):
        axes = op.attributes["axes"]
        if place in axes:
            return Plan((None,), None)
        result = Cut(place - sum(axis < place for axis in axes), given.first)
    elif op.kind == "transpose":
        result = Cut(list(op.attributes["order"]).index(place), given.first)
    elif op.kind == "broadcast":
        result = Cut(op.attributes["places"][place], given.first)
    elif op.kind == "reshape":
        before = prod(counts[0][:place])
        same = [q for q, n in enumerate(count) if n == counts[0][place] and prod(count[:q]) == before]
        if not same:
            return Plan((None,), None)
        result = Cut(same[0], given.first)
    elif op.kind == "concat" and op.attributes["axis"] == place:
        return _concat(place, counts, cuts)
    return Plan((given,) * len(counts), result)


def sliced(cut: Cut, start: int, stop: int) -> Cut:
    """Return the cut of the part [start, stop) of the axis that is cut; one of the processes may hold nothing of it."""
    return Cut(cut.place, min(max(cut.first - start, 0), stop - start))


def bounds(cut: Cut, size: int, second: bool) -> tuple[int, int]:
    """Return the part [start, stop) of an axis of `size` elements that the first or the second process holds."""
    return (cut.first, size) if second else (0, cut.first)


def _concat(place: int, counts: Sizes, cuts: Sequence[Any]) -> Plan:
    """One part is cut: what is before it goes to the first process, what is after it to the second."""
    if sum(cut is not None for cut in cuts) != 1 or not all(cut is None or cut.place == place for cut in cuts):
        return Plan((None,) * len(cuts), None)
    at = next(index for index, cut in enumerate(cuts) if cut is not None)
    before = sum(shape[place] for shape in counts[:at])
    return Plan(tuple(cuts), Cut(place, before + cuts[at].first))


def _dot(
    op: Operation, shapes: Sequence[Shape], counts: Sizes, count: tuple[int, ...], cuts: Sequence[Any], worth: int
) -> Plan:
    (batch, batch_right), (summed, summed_right) = op.attributes["batch"], op.attributes["contract"]
    left, right = cuts
    free = [place for place in range(len(counts[0])) if place not in [*batch, *summed]]
    free_right = [place for place in range(len(counts[1])) if place not in [*batch_right, *summed_right]]
    if left is not None and left.place in summed:
        axis, size = shapes[0][left.place], counts[0][left.place]
        if right == Cut(summed_right[summed.index(left.place)], left.first):
            same = [q for q, n in enumerate(count) if n == size and op.shape[q] == axis]
            return Plan((left, right), Cut(same[0], left.first) if same else None, partial=True)
    for side, cut, own, free_own, other, offset in (
        (0, left, batch, free, batch_right, len(batch)),
        (1, right, batch_right, free_right, batch, len(batch) + len(free)),
    ):
        if cut is not None and cut.place in own:
            place = list(own).index(cut.place)
            cut_of = (cut, Cut(other[place], cut.first))
            return Plan(cut_of if side == 0 else cut_of[::-1], Cut(place, cut.first))
        if cut is not None and cut.place in free_own:
            whole: list[Cut | None] = [None, None]
            whole[side] = cut
            return Plan((*whole,), Cut(offset + free_own.index(cut.place), cut.first))
    longest = max(free, key=lambda place: counts[0][place], default=None)
    work = prod(count) * prod(counts[0][place] for place in summed)
    if longest is not None and counts[0][longest] > 1 and work >= worth:
        half = Cut(longest, counts[0][longest] // 2)
        return Plan((half, None), Cut(len(batch) + free.index(longest), half.first))
    return Plan((None, None), None)
