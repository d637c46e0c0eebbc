"""The meaning of each operation of a program: the term of one entry of its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from vjproof.kernel.indices import Index, embed
from vjproof.kernel.program import (
    Operation,
    Program,
    Refused,
    axis_from,
    constant_from,
    exponent_from,
    factors_of,
    parts_of,
)
from vjproof.kernel.terms import ONE, Algebra, Polynomial

Names: TypeAlias = dict[str, tuple[str, Sequence[Any]]]


def pick(indices: Sequence[Index], order: Sequence[Any]) -> list[Index]:
    """Return the indices at places; an entry (union, part) of the order is the constant index of a unit part."""
    return [indices[o] if isinstance(o, int) else embed(o[0], o[1], o[1] + 1, ()) for o in order]


class Meaning:
    """Terms of a program's entries, unfolded down to the values that have a name.

    `names` maps a value to (tensor, order): its entry at indices i is the tensor's at pick(i, order).
    """

    def __init__(self, algebra: Algebra, program: Program, names: Names) -> None:
        self.algebra, self.program, self.names = algebra, program, names
        self._known: dict[Any, Polynomial] = {}

    def indices(self, value: str) -> tuple[Index, ...]:
        """Return fresh variables for the factors of a value's axes."""
        return tuple(self.algebra.fresh(factor) for factor in factors_of(self.program.shape(value)))

    def entry(self, value: str, indices: Sequence[Index]) -> Polynomial:
        """Return the term of value[indices]; a named value is one entry of its tensor."""
        if value in self.names:
            tensor, order = self.names[value]
            return self.algebra.entry(tensor, pick(indices, order))
        return self.unfolded(value, indices)

    def unfolded(self, value: str, indices: Sequence[Index]) -> Polynomial:
        """Return the term of value[indices] from its operation, even where the value has a name."""
        key = (value, tuple(indices))
        if key not in self._known:
            self.algebra.spend()
            self._known[key] = self._operation(self.program.operations[value], key[1])
        return self._known[key]

    def name(self, value: str, tensor: str, order: Sequence[Any]) -> None:
        """Give a value a name, and forget what was unfolded without it."""
        self.names[value] = (tensor, order)
        self._known.clear()

    def _operation(self, operation: Operation, indices: tuple[Index, ...]) -> Polynomial:
        name, kind, arguments, attributes, _ = operation
        algebra = self.algebra
        if kind == "input":
            raise Refused(f"input {name} has no meaning of its own and was not named")
        if kind == "const":
            value, exponents = constant_from(attributes["value"]) or (Fraction(0), {})
            powers = [algebra.pi(e) if b == "pi" else algebra.number(int(b), e) for b, e in exponents.items()]
            return algebra.product([{ONE: value} if value else {}, *powers])
        if kind == "size":
            axis = axis_from(attributes["axis"], self.program.atoms)
            size: Polynomial = algebra.size(axis, exponent_from(attributes["exponent"]))
            return size
        if kind in ("dot", "concat"):
            return self._dot(operation, indices) if kind == "dot" else self._concat(operation, indices)
        if kind in ("call", "call_back"):
            return self._call(operation, indices)
        if kind in ("transpose", "broadcast", "slice", "sum", "max"):
            return self._move(operation, by_axis(operation.shape, indices))
        if kind == "power":
            return self._power(arguments[0], indices, exponent_from(attributes["exponent"]))
        x = self.entry(arguments[0], indices)
        if kind == "reshape":
            return x  # the factors of the axes are the same, in the same order
        if kind in ("add", "sub"):
            return algebra.add(x, algebra.scale(self.entry(arguments[1], indices), 1 if kind == "add" else -1))
        if kind == "mul":
            return algebra.multiply(x, self.entry(arguments[1], indices))
        if kind == "div":
            return algebra.multiply(x, self._power(arguments[1], indices, Fraction(-1)))
        return self._function(kind, x)

    def _power(self, value: str, indices: tuple[Index, ...], exponent: Any) -> Polynomial:
        """Rule, for whole e: (x y)^e = x^e y^e and (x^k)^e = x^(k e), before the product is distributed."""
        operation, algebra = self.program.operations[value], self.algebra
        if value not in self.names and operation.kind == "mul" and exponent.denominator == 1:
            return algebra.product([self._power(argument, indices, exponent) for argument in operation.arguments])
        if value not in self.names and operation.kind == "power" and exponent.denominator == 1:
            inner = exponent_from(operation.attributes["exponent"])
            return self._power(operation.arguments[0], indices, inner * exponent) if inner else {}
        power: Polynomial = algebra.power(self.entry(value, indices), exponent)
        return power

    def _function(self, kind: str, x: Polynomial) -> Polynomial:
        """Rules: erf x = 1 - erfc x; logistic x = 1 - 1 / (1 + exp x); tanh x = 1 - 2 / (1 + exp 2x)."""
        algebra, one = self.algebra, {ONE: Fraction(1)}
        if kind == "neg":
            return algebra.scale(x, -1)
        if kind in ("exp", "erfc"):
            value: Polynomial = algebra.exp(x) if kind == "exp" else algebra.erfc(x)
            return value
        if kind == "erf":
            return algebra.add(one, algebra.scale(algebra.erfc(x), -1))
        twice = {"tanh": 2, "logistic": 1}[kind]
        rest = algebra.power(algebra.add(one, algebra.exp(algebra.scale(x, twice))), Fraction(-1))
        return algebra.add(one, algebra.scale(rest, -twice))

    def _move(self, operation: Operation, axes: list[tuple[Index, ...]]) -> Polynomial:
        kind, first, attributes = operation.kind, operation.arguments[0], operation.attributes
        shape = self.program.shape(first)
        if kind == "transpose":
            return self.entry(first, flat(axes[attributes["order"].index(place)] for place in range(len(axes))))
        if kind == "broadcast":
            return self.entry(first, flat(axes[place] for place in attributes["places"]))
        if kind == "slice":
            at, parts = attributes["axis"], parts_of(shape[attributes["axis"]])
            if len(parts) > 1:
                axes[at] = (embed(parts, attributes["start"], attributes["stop"], axes[at]),)
            return self.entry(first, flat(axes))
        bound = {at: tuple(map(self.algebra.fresh, shape[at])) for at in attributes["axes"]}
        kept = iter(axes)
        inside = self.entry(first, flat(bound[at] if at in bound else next(kept) for at in range(len(shape))))
        if kind == "sum":
            return self.algebra.sum(flat(bound.values()), inside)
        return self.algebra.opaque("max", (), flat(bound.values()), [inside])

    def _call(self, operation: Operation, indices: tuple[Index, ...]) -> Polynomial:
        """A call acts on each example of its leading axes: same leading indices inside and outside."""
        lead, label = operation.attributes["lead"], f"{operation.kind} {operation.attributes['symbol']}"
        count = len(factors_of(operation.shape[:lead]))
        pairs = [(self.entry, argument, self.program.shape(argument)[lead:]) for argument in operation.arguments]
        return call(self.algebra, label, pairs, indices[:count], indices[count:])

    def _concat(self, operation: Operation, indices: tuple[Index, ...]) -> Polynomial:
        algebra, at, start = self.algebra, operation.attributes["axis"], 0
        total: Polynomial = {}
        axes, parts = by_axis(operation.shape, indices), parts_of(operation.shape[at])
        for argument in operation.arguments:
            inner = tuple(map(algebra.fresh, self.program.shape(argument)[at]))
            stop = start + len(parts_of(self.program.shape(argument)[at]))
            if len(parts) == 1:
                return self.entry(argument, indices)
            chosen = algebra.delta(axes[at][0], embed(parts, start, stop, inner))
            if chosen:
                part = self.entry(argument, flat([*axes[:at], inner, *axes[at + 1 :]]))
                total = algebra.add(total, algebra.sum(inner, algebra.multiply(chosen, part)))
            start = stop
        return total

    def _dot(self, operation: Operation, indices: tuple[Index, ...]) -> Polynomial:
        axes, batch = iter(by_axis(operation.shape, indices)), operation.attributes["batch"]
        contract = operation.attributes["contract"]
        shapes = [self.program.shape(argument) for argument in operation.arguments]
        shared = [next(axes) for _ in batch[0]]
        bound = [tuple(map(self.algebra.fresh, shapes[0][at])) for at in contract[0]]
        values = []
        for side, (argument, shape) in enumerate(zip(operation.arguments, shapes, strict=True)):
            fixed = dict(zip(batch[side] + contract[side], shared + bound, strict=True))
            places = [fixed[at] if at in fixed else next(axes) for at in range(len(shape))]
            values.append(self.entry(argument, flat(places)))
        return self.algebra.sum(flat(bound), self.algebra.multiply(*values))


def call(
    algebra: Algebra, label: str, arrays: Sequence[Any], lead: Sequence[Index], indices: Sequence[Index]
) -> Polynomial:
    """Return an unknown function's entry at `indices`: of arrays (entry, value, shape), at leading indices `lead`."""
    inner = [tuple(map(algebra.fresh, factors_of(shape))) for _, _, shape in arrays]
    values = [entry(value, (*lead, *own)) for (entry, value, _), own in zip(arrays, inner, strict=True)]
    return algebra.opaque(label, indices, flat(inner), values)


def by_axis(shape: Sequence[Any], indices: Iterable[Index]) -> list[tuple[Index, ...]]:
    """Return the indices of each axis."""
    rest = iter(indices)
    return [tuple(next(rest) for _ in axis) for axis in shape]


def flat(axes: Iterable[Iterable[Index]]) -> tuple[Index, ...]:
    """Return the indices of all axes in one tuple."""
    return tuple(index for axis in axes for index in axis)
