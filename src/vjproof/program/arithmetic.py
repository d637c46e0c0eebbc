"""Arithmetic of the interpreter: on floating-point arrays of any library, and on NumPy arrays of objects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from math import prod
from typing import Any, TypeAlias

from vjproof.errors import VjproofError
from vjproof.layers.array import Array, erf, erfc, logistic
from vjproof.program.constants import constant_float

Constant: TypeAlias = Callable[[Fraction, dict[str, Fraction]], Any]


class Arithmetic:
    """Operations on arrays of the library `xp`; constants take the dtype and the device of `like`."""

    def __init__(self, xp: Any, like: Array) -> None:
        self.xp, self._like = xp, like

    def constant(self, rational: Fraction, powers: dict[str, Fraction]) -> Array:
        """Return rational * product of base ** exponent, no axes, rounded once to float64 and then to the dtype."""
        where = {"device": self._like.device} if self.xp.__name__.endswith("torch") else {}
        return self.xp.asarray(constant_float(rational, powers), dtype=self._like.dtype, **where)

    def size(self, count: int, exponent: Fraction) -> Array:
        """Return count ** exponent, no axes."""
        if exponent.denominator == 1:
            return self.constant(Fraction(count) ** exponent.numerator, {})
        return self.constant(Fraction(1), {str(count): exponent})

    def operate(self, kind: str, x: Array, y: Array = None) -> Array:
        """Return x (add, sub, mul, div) y or -x (neg)."""
        if kind == "neg":
            return -x
        if kind == "add":
            return x + y
        if kind == "sub":
            return x - y
        return x * y if kind == "mul" else x / y

    def function(self, kind: str, x: Array) -> Array:
        """Return exp, tanh, erf, erfc or logistic of each element."""
        special = {"erf": erf, "erfc": erfc, "logistic": logistic}
        return special[kind](x) if kind in special else getattr(self.xp, kind)(x)

    def power(self, x: Array, exponent: Fraction) -> Array:
        """Return x ** exponent; halves by square root, integers by products."""
        if exponent.denominator > 2:
            return x ** float(exponent)
        base = x if exponent.denominator == 1 else self.xp.sqrt(x)
        total = _integer_power(base, abs(exponent.numerator))
        return total if exponent > 0 else self.operate("div", self.constant(Fraction(1), {}), total)

    def reduce(self, kind: str, x: Array, axes: tuple[int, ...]) -> Array:
        """Return the sum or max over `axes`, one or more."""
        return getattr(self.xp, kind)(x, axis=axes)

    def dot(self, x: Array, y: Array, places: Any, shape: tuple[int, ...]) -> Array:
        """Return the product; `places` is (batch, contract), each a pair of lists of places in x and in y."""
        (batch_x, batch_y), (sum_x, sum_y) = places
        free_x = [place for place in range(x.ndim) if place not in batch_x + sum_x]
        free_y = [place for place in range(y.ndim) if place not in batch_y + sum_y]
        count = [prod(x.shape[p] for p in places) for places in (batch_x, free_x, sum_x)]
        columns = prod(y.shape[p] for p in free_y)
        left = self.xp.reshape(self._ordered(x, batch_x + free_x + sum_x), tuple(count))
        right = self.xp.reshape(self._ordered(y, batch_y + sum_y + free_y), (count[0], count[2], columns))
        return self.xp.reshape(self._matmul(left, right), shape)

    def _matmul(self, left: Array, right: Array) -> Array:
        return self.xp.matmul(left, right)

    def _ordered(self, x: Array, order: list[int]) -> Array:
        return self.xp.permute_dims(x, tuple(order)) if order else x


class ObjectArithmetic(Arithmetic):
    """The same on NumPy arrays of objects that have + - * /; all else comes from `functions` and `constant`."""

    def __init__(self, functions: Mapping[str, Callable[..., Any]], constant: Constant | None) -> None:
        import array_api_compat.numpy as xp

        super().__init__(xp, None)
        self._functions, self._constant = functions, constant

    def constant(self, rational: Fraction, powers: dict[str, Fraction]) -> Array:
        """Return the element that the hook makes, no axes; without a hook rationals are Fractions."""
        if self._constant is not None:
            return _boxed(self._constant(rational, powers))
        if powers:
            raise VjproofError("an irrational constant", expected="a `constant` argument for arrays of objects")
        return _boxed(rational)

    def operate(self, kind: str, x: Array, y: Array = None) -> Array:
        """Return x (add, sub, mul, div) y or -x (neg), element by element."""
        return _boxed(super().operate(kind, x, y))

    def function(self, kind: str, x: Array) -> Array:
        """Return the function of each element; VjproofError where `functions` has none of that name."""
        import numpy

        return _boxed(numpy.frompyfunc(self._named(kind), 1, 1)(x))

    def power(self, x: Array, exponent: Fraction) -> Array:
        """Return x ** exponent: functions["power"] where given, else products for an integer exponent."""
        if "power" in self._functions or exponent.denominator > 1:
            import numpy

            function = self._named("power")
            return _boxed(numpy.frompyfunc(lambda element: function(element, exponent), 1, 1)(x))
        return super().power(x, exponent)

    def reduce(self, kind: str, x: Array, axes: tuple[int, ...]) -> Array:
        """Return the sum, or the max by functions["max"](x, y) where given, over `axes`."""
        import numpy

        if kind == "max" and "max" in self._functions:
            moved = numpy.moveaxis(x, axes, tuple(range(len(axes))))
            rows = moved.reshape((-1, *moved.shape[len(axes) :]))
            return _boxed(numpy.frompyfunc(self._functions["max"], 2, 1).reduce(rows, axis=0))
        return _boxed(getattr(numpy, kind)(x, axis=axes))

    def _matmul(self, left: Array, right: Array) -> Array:
        import numpy

        if "matmul" not in self._functions:
            return super()._matmul(left, right)
        product = numpy.empty((*left.shape[:2], right.shape[2]), dtype=object)
        for place, (x, y) in enumerate(zip(left, right, strict=True)):
            product[place] = self._functions["matmul"](x, y)
        return product

    def _named(self, name: str) -> Callable[..., Any]:
        if name not in self._functions:
            raise VjproofError(f"function {name}", expected="an entry of `functions` for arrays of objects")
        return self._functions[name]


def _boxed(value: Any) -> Array:
    """Return an array of objects; NumPy unpacks one element from an array without axes."""
    import numpy

    if isinstance(value, numpy.ndarray):
        return value
    array = numpy.empty((), dtype=object)
    array[()] = value
    return array


def _integer_power(base: Array, exponent: int) -> Array:
    total = base
    for digit in bin(exponent)[3:]:
        total = total * total
        total = total * base if digit == "1" else total
    return total
