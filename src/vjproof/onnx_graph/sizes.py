"""Sizes of axes in a graph: a number, or None for one that depends on the batch."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, TypeAlias

from vjproof.kernel.program import Program

Sizes: TypeAlias = tuple[int | None, ...]


def axis_size(axis: Any, program: Program) -> int | None:
    """Return the number of elements of an axis, or None where an atomic axis in it has no fixed size."""
    return product([
        program.atoms[factor] if isinstance(factor, str) else total([axis_size(part, program) for part in factor])
        for factor in axis
    ])  # fmt: skip


def product(sizes: Sequence[int | None]) -> int | None:
    """Return the product, or None where one is None."""
    return None if None in sizes else prod(size for size in sizes if size is not None)


def total(sizes: Sequence[int | None]) -> int | None:
    """Return the sum, or None where one is None."""
    return None if None in sizes else sum(size for size in sizes if size is not None)


def unit_axes(more: Sizes, less: Sizes) -> list[int] | None:
    """Return the unit axes that `more` has and `less` has not; None where they differ otherwise, or not at all."""
    extra, rest = [], list(less)
    for place, size in enumerate(more):
        if rest and size == rest[0]:
            rest.pop(0)
        elif size == 1:
            extra.append(place)
        else:
            return None
    return extra if extra and not rest else None


def common_sizes(left: Sizes, right: Sizes) -> Sizes:
    """Return the sizes that two shapes broadcast to, aligned at their last axes."""
    rank = max(len(left), len(right))
    padded = ((1,) * (rank - len(left)) + left, (1,) * (rank - len(right)) + right)
    return tuple(x if y == 1 else y for x, y in zip(*padded, strict=True))
