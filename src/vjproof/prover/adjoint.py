"""Numeric adjoints of every value of a program, by one reverse sweep; a hint for the search, never a proof.

Works on float64 arrays, and on object arrays of balls when a counterexample is confirmed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from vjproof.kernel.program import Operation, Program, parts_of

Array: TypeAlias = Any
Symbols: TypeAlias = Mapping[str, tuple[Callable[[Array], Array], Callable[[Array, Array], Array]]]


def axis_size(axis: tuple[Any, ...], sizes: Mapping[str, int]) -> int:
    """Return the number of elements of an axis, for given sizes of the atomic axes."""
    return math.prod(
        sizes[factor] if isinstance(factor, str) else sum(axis_size(part, sizes) for part in factor) for factor in axis
    )


class Sweep:
    """One reverse sweep: `values` of every line, and `power(x, e)`, `exp(x)` and `sqrt_pi` for their elements.

    `attained(x, y, axes)` is the slope of the maximum y of x over axes, as `shares`.
    """

    def __init__(
        self, program: Program, values: Mapping[str, Array], sizes: Mapping[str, int], symbols: Symbols,
        power: Callable[[Array, Fraction], Array], exp: Callable[[Array], Array], sqrt_pi: Any,
        attained: Callable[[Array, Array, tuple[int, ...]], Array] | None = None,
    ) -> None:  # fmt: skip
        self.program, self.values, self.sizes, self.symbols = program, values, sizes, symbols
        self.power, self.exp, self.sqrt_pi, self.attained = power, exp, sqrt_pi, attained or shares

    def adjoints(self, cotangents: Mapping[str, Array]) -> dict[str, Array]:
        """Return d <cotangents, outputs> / d value for each value that an output depends on, shaped as the value."""
        found: dict[str, Array] = dict(cotangents)
        for name in reversed(self.program.operations):
            operation = self.program.operations[name]
            if name in found and operation.arguments:
                parts = self._pull(operation, found[name])
                for argument, d_x in zip(operation.arguments, parts, strict=True):
                    found[argument] = found[argument] + d_x if argument in found else d_x
        return found

    def _pull(self, operation: Operation, d_y: Array) -> tuple[Array, ...]:
        kind, attributes, y = operation.kind, operation.attributes, self.values[operation.name]
        x = [self.values[argument] for argument in operation.arguments]
        if kind in _ELEMENTWISE:
            return _ELEMENTWISE[kind](d_y, y, *x)
        if kind == "power":
            exponent = Fraction(attributes["exponent"])
            whole = int(exponent) if exponent.denominator == 1 else None
            scale = whole if whole is not None else exponent.numerator
            slope = self.power(x[0], exponent - 1) * scale if exponent != 1 else 1
            return (d_y * slope / (1 if whole is not None else exponent.denominator),)
        if kind in ("erf", "erfc"):
            return (d_y * self.exp(-x[0] * x[0]) * (2 if kind == "erf" else -2) / self.sqrt_pi,)
        if kind == "call":
            return (self.symbols[attributes["symbol"]][1](x[0], d_y),)
        if kind == "concat":
            return self._split(operation, x, d_y)
        if kind == "dot":
            return self._dot(attributes, x[0], x[1], d_y)
        return (self._move(operation, x[0], y, d_y),)

    def _split(self, operation: Operation, x: list[Array], d_y: Array) -> tuple[Array, ...]:
        import numpy as np

        at = operation.attributes["axis"]
        ends = np.cumsum([part.shape[at] for part in x])[:-1]
        return tuple(np.split(d_y, ends, axis=at))

    def _move(self, operation: Operation, x: Array, y: Array, d_y: Array) -> Array:
        import numpy as np

        kind, attributes = operation.kind, operation.attributes
        if kind == "reshape":
            return d_y.reshape(x.shape)
        if kind == "transpose":
            return d_y.transpose(np.argsort(attributes["order"]))
        if kind == "broadcast":
            places = attributes["places"]
            summed = d_y.sum(axis=tuple(axis for axis in range(d_y.ndim) if axis not in places))
            return np.transpose(summed, [sorted(places).index(place) for place in places])
        if kind in ("sum", "max"):
            axes = tuple(attributes["axes"])
            spread = np.broadcast_to(np.expand_dims(d_y, axes), x.shape)
            if kind == "sum":
                return spread
            return spread * self.attained(x, np.expand_dims(y, axes), axes)
        if kind == "slice":
            at = attributes["axis"]
            parts = parts_of(self.program.shape(operation.arguments[0])[at])
            before = sum(axis_size(part, self.sizes) for part in parts[: attributes["start"]])
            d_x = np.zeros_like(x) * 0
            d_x[(slice(None),) * at + (slice(before, before + d_y.shape[at]),)] = d_y
            return d_x
        raise NotImplementedError(f"the numeric reverse of {kind}")

    def _dot(self, attributes: Mapping[str, Any], a: Array, b: Array, d_y: Array) -> tuple[Array, Array]:
        (batch_a, batch_b), (sum_a, sum_b) = attributes["batch"], attributes["contract"]
        free_a = [i for i in range(a.ndim) if i not in batch_a + sum_a]
        free_b = [i for i in range(b.ndim) if i not in batch_b + sum_b]
        left, right = as_matrices(a, batch_a, free_a, sum_a), as_matrices(b, batch_b, sum_b, free_b)
        d = d_y.reshape(left.shape[0], left.shape[1], right.shape[2])
        d_a = (d @ right.transpose(0, 2, 1)).reshape([a.shape[i] for i in batch_a + free_a + sum_a])
        d_b = (left.transpose(0, 2, 1) @ d).reshape([b.shape[i] for i in batch_b + sum_b + free_b])
        return _back(d_a, batch_a + free_a + sum_a), _back(d_b, batch_b + sum_b + free_b)


def shares(x: Array, y: Array, axes: tuple[int, ...]) -> Array:
    """Return 1 where x attains its maximum y over axes, else 0; entries that tie share the 1."""
    attained = x == y
    return attained / attained.sum(axis=axes, keepdims=True)


def as_matrices(x: Array, batch: list[int], rows: list[int], columns: list[int]) -> Array:
    """Return x as a stack of matrices (batch, rows, columns), each group of axes in the order given."""
    groups = [math.prod(x.shape[i] for i in group) for group in (batch, rows, columns)]
    return x.transpose(batch + rows + columns).reshape(groups)


def _back(x: Array, order: list[int]) -> Array:
    return x.transpose(sorted(range(len(order)), key=order.__getitem__))


_ELEMENTWISE: dict[str, Callable[..., tuple[Array, ...]]] = {
    "add": lambda d, _y, _a, _b: (d, d),
    "sub": lambda d, _y, _a, _b: (d, -d),
    "mul": lambda d, _y, a, b: (d * b, d * a),
    "div": lambda d, y, _a, b: (d / b, -d * y / b),
    "neg": lambda d, _y, _a: (-d,),
    "exp": lambda d, y, _a: (d * y,),
    "tanh": lambda d, y, _a: (d * (1 - y * y),),
    "logistic": lambda d, y, _a: (d * y * (1 - y),),
}
