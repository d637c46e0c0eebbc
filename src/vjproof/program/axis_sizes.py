"""Numbers of elements of atomic axes: read from the shapes of inputs where these leave no choice."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import Program, parts_of
from vjproof.program.axes import format_axis, format_shape

LARGEST = 2**28  # elements of one value; a program may come from a file


class AxisSizes:
    """The size of each atomic axis of a program, found from `sizes` and from the shapes of the inputs.

    VjproofError for a size that is no positive int, or two statements that contradict each other.
    """

    def __init__(self, program: Program, shapes: Mapping[str, tuple[int, ...]], sizes: Mapping[str, int]) -> None:
        self._known: dict[str, int] = {atom: size for atom, size in program.atoms.items() if size is not None}
        for atom, size in sizes.items():
            if atom not in program.atoms:
                raise VjproofError(f"size of axis {excerpt(atom, 40)}", expected=f"one of {list(program.atoms)}"[:200])
            self._learn(atom, size, "sizes")
        pairs = [
            (name, axis, int(size))
            for name, shape in shapes.items()
            for axis, size in zip(self._fitting(name, program.shape(name), shape), shape, strict=True)
        ]
        while True:
            before = len(self._known)
            for name, axis, size in pairs:
                self._solve(axis, size, f"input {name}")
            if len(self._known) == before:
                return

    def count(self, axis: tuple[Any, ...]) -> int:
        """Return the number of elements of an axis; VjproofError where it depends on an atomic axis not found."""
        unknown = [atom for atom in _atoms(axis) if atom not in self._known]
        if unknown:
            raise VjproofError(
                f"size of axis {unknown[0]}", expected="a size that follows from the shapes of the inputs",
                got="none that does", remedy=f"give it: sizes={{{unknown[0]!r}: ...}}",
            )  # fmt: skip
        return prod(
            self._known[factor] if isinstance(factor, str) else sum(map(self.count, parts_of((factor,))))
            for factor in axis
        )

    def shape(self, axes: tuple[Any, ...]) -> tuple[int, ...]:
        """Return the shape in numbers; VjproofError where a value would have more than LARGEST elements."""
        shape = tuple(self.count(axis) for axis in axes)
        if prod(shape) > LARGEST:
            raise VjproofError(
                f"value of shape {format_shape(axes)}", expected=f"at most {LARGEST} elements", got=str(shape)
            )
        return shape

    def _fitting(self, name: str, axes: tuple[Any, ...], shape: tuple[int, ...]) -> tuple[Any, ...]:
        if len(axes) != len(shape):
            raise VjproofError(f"input {name}", expected=f"an array {format_shape(axes)}", got=str(tuple(shape)))
        return axes

    def _learn(self, atom: str, size: Any, where: str) -> None:
        if not isinstance(size, int) or isinstance(size, bool) or size < 1:
            raise VjproofError(f"{where}, axis {atom}", expected="a positive int", got=repr(size))
        if self._known.setdefault(atom, size) != size:
            raise VjproofError(f"{where}, axis {atom}", expected=f"size {self._known[atom]}", got=str(size))

    def _solve(self, axis: tuple[Any, ...], size: int, where: str) -> None:
        """Learn from count(axis) = size; check it where nothing is unknown."""
        unknown = [factor for factor in axis if any(atom not in self._known for atom in _atoms((factor,)))]
        known = prod(self.count((factor,)) for factor in axis if factor not in unknown)
        if not unknown and known != size:
            raise VjproofError(f"{where}, axis {format_axis(axis)}", expected=f"size {known}", got=str(size))
        if unknown and size % known:
            raise VjproofError(
                f"{where}, axis {format_axis(axis)}", expected=f"a multiple of {known}", got=f"size {size}"
            )
        if len(unknown) != 1:
            return
        (factor,), rest = unknown, size // known
        if isinstance(factor, str):
            self._learn(factor, rest, where)
            return
        open_parts = [part for part in factor if any(atom not in self._known for atom in _atoms(part))]
        if len(open_parts) == 1:
            self._solve(open_parts[0], rest - sum(self.count(p) for p in factor if p != open_parts[0]), where)


def _atoms(axis: tuple[Any, ...]) -> list[str]:
    return [a for factor in axis for a in ([factor] if isinstance(factor, str) else _part_atoms(factor))]


def _part_atoms(parts: tuple[Any, ...]) -> list[str]:
    return [atom for part in parts for atom in _atoms(part)]
