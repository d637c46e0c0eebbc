"""Which values of the second program may be which landmarks: equal numbers under some order of their factors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from vjproof.kernel.program import Program, factors_of
from vjproof.prover.fingerprint import CLOSE, Numbers, close, orders

Array = Any


class Target(NamedTuple):
    """A landmark's value or adjoint, or one unit part of it (a row such as CLS), with its numbers."""

    role: str
    name: str
    factors: tuple[Any, ...]  # those that are left where a part is taken
    fixed: dict[int, int]  # place of a factor -> the number of its unit part
    array: Array  # one axis for each factor that is left
    norm: float

    def order(self, places: Sequence[int]) -> list[Any]:
        """Return the kernel's order: places of the value's factors, and [part] where a part is taken."""
        rest = iter(places)
        return [[self.fixed[k]] if k in self.fixed else next(rest) for k in range(len(places) + len(self.fixed))]


def targets_of(numbers: Numbers, role: str, name: str, array: Array) -> Iterator[Target]:
    """Yield a landmark's adjoint, or its value and each unit part of that."""
    factors = factors_of(numbers.forward.shape(name))
    flat = numbers.flat(numbers.forward, name, array)
    yield Target(role, name, factors, {}, flat, norm_of(flat))
    if role == "adjoint":
        return  # a reverse program puts rows together again: it computes whole adjoints
    for place, factor in enumerate(factors):
        before = 0
        for part, axis in enumerate(() if isinstance(factor, str) else factor):
            if axis == ():
                row = flat.take(before, axis=place)
                yield Target(role, name, factors[:place] + factors[place + 1 :], {place: part}, row, norm_of(row))
            before += numbers.count(axis)


def norm_of(array: Array) -> float:
    """Return the 2-norm of an array."""
    import numpy as np

    flat = np.ascontiguousarray(array).reshape(-1)
    return float(np.sqrt(flat @ flat))


class Values:
    """The values of one program by their factors, with their norms, so that few arrays are compared."""

    def __init__(self, numbers: Numbers, program: Program, values: dict[str, Array]) -> None:
        self.flat = {name: numbers.flat(program, name, value) for name, value in values.items()}
        self.norms = {name: norm_of(array) for name, array in self.flat.items()}
        self.factors = {name: factors_of(program.shape(name)) for name in values}
        self._groups: dict[tuple[str, ...], list[str]] = {}
        for name, factors in self.factors.items():
            self._groups.setdefault(_key(factors), []).append(name)

    def like(self, target: Target) -> list[str]:
        """Return the names of values that have the target's factors, in some order."""
        return self._groups.get(_key(target.factors), [])

    def orders(self, name: str, target: Target) -> Iterator[list[Any]]:
        """Yield the kernel's orders under which a value has the target's numbers."""
        if abs(self.norms[name] - target.norm) > 2 * CLOSE * target.norm + 1e-12:
            return
        for order in orders(self.factors[name], target.factors):
            if close(self.flat[name].transpose(order), target.array):
                yield target.order(order)


def _key(factors: tuple[Any, ...]) -> tuple[str, ...]:
    return tuple(sorted(map(str, factors)))
