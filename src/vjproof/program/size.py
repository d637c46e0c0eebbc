"""Symbolic sizes: what `x.shape` holds while layer code is recorded.

A Size wraps an axis of `kernel.program`: a product of atomic axes, row-major, or a union of axes (1 + N). Its
operators are the ones that layer code uses; each result is exact for every value of the atomic axes, or refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from numbers import Integral
from typing import Any, TypeAlias

from vjproof.errors import VjproofError
from vjproof.kernel.program import parts_of, union
from vjproof.program.axes import MOST_UNITS, format_axis, parse_axis

Axis: TypeAlias = tuple[Any, ...]


class Size:
    """The number of elements of an axis, with the axis it counts; equal only to a size written the same.

    Every atomic axis has at least one element, so a Size is never zero, and true in a condition.
    """

    __slots__ = ("axis",)

    def __init__(self, axis: Axis) -> None:
        self.axis = axis

    @staticmethod
    def of(value: Any) -> Size:
        """Return the Size of a Size, a positive int, an axis, or text such as "1+rows*cols" or "h*c".

        The int n is the union of n unit axes. VjproofError for anything else.
        """
        if isinstance(value, Size):
            return value
        if isinstance(value, str):
            return Size(parse_axis(value))
        if isinstance(value, tuple):
            return Size(value)
        if isinstance(value, Integral) and not isinstance(value, bool) and 1 <= int(value) <= MOST_UNITS:
            return Size(union([()] * int(value)))
        raise VjproofError(
            "size of an axis", expected=f"a Size, an axis, or an int from 1 to {MOST_UNITS}", got=repr(value),
            remedy="an axis of a recorded array is never empty; name a long one, as tape.axis(name, size)",
        )  # fmt: skip

    def __repr__(self) -> str:
        return format_axis(self.axis)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Size):
            return self.axis == other.axis
        if isinstance(other, Integral) and not isinstance(other, bool):
            return 1 <= int(other) <= MOST_UNITS and self.axis == Size.of(other).axis
        return NotImplemented

    def __hash__(self) -> int:
        parts = parts_of(self.axis)
        return hash(len(parts)) if all(part == () for part in parts) else hash(self.axis)

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, SizeFactor):
            return SizeFactor(((self.axis, Fraction(1)),)) * other
        if not _is_size(other):
            return NotImplemented
        return 0 if _is_zero(other) else Size(self.axis + Size.of(other).axis)

    def __rmul__(self, other: Any) -> Any:
        if not _is_size(other):
            return NotImplemented
        return 0 if _is_zero(other) else Size(Size.of(other).axis + self.axis)

    def __add__(self, other: Any) -> Any:
        if not _is_size(other):
            return NotImplemented
        return self if _is_zero(other) else Size(union([self.axis, Size.of(other).axis]))

    def __radd__(self, other: Any) -> Any:
        if not _is_size(other):
            return NotImplemented
        return self if _is_zero(other) else Size(union([Size.of(other).axis, self.axis]))

    def __sub__(self, other: Any) -> Any:
        if not _is_size(other):
            return NotImplemented
        if _is_zero(other):
            return self
        rest = _without(parts_of(self.axis), parts_of(Size.of(other).axis))
        if rest is None:
            raise _inexact(self, "-", other, "a leading or trailing part of a union is taken away")
        return Size(union(list(rest))) if rest else 0

    def __rsub__(self, other: Any) -> Any:
        return Size.of(other) - self if _is_size(other) and not _is_zero(other) else NotImplemented

    def __floordiv__(self, other: Any) -> Any:
        if not _is_size(other):
            return NotImplemented
        rest = None if _is_zero(other) else _without(self.axis, Size.of(other).axis)
        if rest is None:
            raise _inexact(self, "//", other, "a leading or trailing factor is divided out")
        return Size(rest)

    def __rfloordiv__(self, other: Any) -> Any:
        return Size.of(other) // self if _is_size(other) and not _is_zero(other) else NotImplemented

    def __pow__(self, exponent: Any) -> SizeFactor:
        return SizeFactor(((self.axis, _exponent(exponent)),))

    def __truediv__(self, other: Any) -> Any:
        return SizeFactor(((self.axis, Fraction(1)),)) / other

    def __rtruediv__(self, other: Any) -> Any:
        return SizeFactor(((self.axis, Fraction(-1)),)) * other

    def __bool__(self) -> bool:
        return True

    def __int__(self) -> int:
        raise VjproofError(f"size {self!r}", expected="code that holds for every size", got="int() of a symbol")

    __index__ = __int__

    def __float__(self) -> float:
        return float(int(self))


class SizeFactor:
    """A product of powers of sizes and of numbers, such as size ** -0.5 or 2 / size; multiplies recorded arrays."""

    __slots__ = ("numbers", "powers")

    def __init__(self, powers: Iterable[tuple[Axis, Fraction]], numbers: tuple[Any, ...] = ()) -> None:
        total: dict[Axis, Fraction] = {}
        for axis, exponent in powers:
            total[axis] = total.get(axis, Fraction(0)) + exponent
        self.powers = tuple((axis, exponent) for axis, exponent in total.items() if exponent)
        self.numbers = numbers  # each an int, a float or a Fraction; the tape reads the literals

    def __repr__(self) -> str:
        return " * ".join([*(f"({format_axis(a)})^{e}" for a, e in self.powers), *map(repr, self.numbers)]) or "1"

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, SizeFactor):
            return SizeFactor((*self.powers, *other.powers), (*self.numbers, *other.numbers))
        if isinstance(other, Size):
            return SizeFactor((*self.powers, (other.axis, Fraction(1))), self.numbers)
        if isinstance(other, int | float | Fraction) and not isinstance(other, bool):
            return SizeFactor(self.powers, (*self.numbers, other))
        return NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, Size):
            return SizeFactor((*self.powers, (other.axis, Fraction(-1))), self.numbers)
        if isinstance(other, SizeFactor) and not other.numbers:
            return self * other**-1
        if isinstance(other, int | Fraction) and not isinstance(other, bool) and other:
            return SizeFactor(self.powers, (*self.numbers, 1 / Fraction(other)))
        return NotImplemented

    def __rtruediv__(self, other: Any) -> Any:
        return NotImplemented if self.numbers else self**-1 * other

    def __pow__(self, exponent: Any) -> SizeFactor:
        if self.numbers:
            raise VjproofError(f"({self!r}) ** {exponent!r}", expected="a power of sizes alone")
        power = _exponent(exponent)
        return SizeFactor((axis, own * power) for axis, own in self.powers)


def _is_size(value: Any) -> bool:
    return isinstance(value, Size) or (isinstance(value, Integral) and not isinstance(value, bool))


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Size) and value == 0


def _without(whole: Axis, part: Axis) -> Axis | None:
    if whole[: len(part)] == part:
        return whole[len(part) :]
    count = len(whole) - len(part)
    return whole[:count] if count >= 0 and whole[count:] == part else None


def _inexact(left: Any, operator: str, right: Any, meaning: str) -> VjproofError:
    return VjproofError(
        f"size ({left!r}) {operator} ({right!r})", expected=f"a result that holds for every size: {meaning}",
        got="sizes of which that does not hold",
    )  # fmt: skip


def _exponent(value: Any) -> Fraction:
    if isinstance(value, int | float | Fraction) and not isinstance(value, bool):
        exact = Fraction(value) if -64 <= value <= 64 else Fraction(0)
        if exact and exact.denominator <= 64:
            return exact
    raise VjproofError("exponent of a size", expected="a nonzero rational such as -0.5 or 1/3", got=repr(value))
