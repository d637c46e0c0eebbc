"""The meaning of each operation of a program: the term of one entry of its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

from vjproof.kernel.atoms import Index, Variable, embed
from vjproof.kernel.program import Operation, Program, Refused, constant_from, exponent_from, factors_of, parts_of
from vjproof.kernel.terms import ONE, UNIT, Algebra, Polynomial

Names = dict[str, tuple[str, Sequence[Any]]]


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

    def variables(self, axes: Iterable[Any]) -> list[Variable]:
        """Return fresh variables for the factors of axes."""
        return [self.algebra.fresh(factor) for factor in factors_of(tuple(axes))]

    def indices(self, value: str) -> list[Variable]:
        """Return fresh variables for the factors of a value's axes."""
        return self.variables(self.program.shape(value))

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
        name, kind, arguments, attributes, shape = operation
        algebra = self.algebra
        if kind == "input":
            raise Refused(f"input {name} has no meaning of its own and was not named")
        if kind == "const":
            value, exponents = constant_from(attributes["value"])
            powers = [
                algebra.term("pi", exponent=e) if b == "pi" else algebra.number(b, e) for b, e in exponents.items()
            ]
            return algebra.product([{ONE: value} if value else {}, *powers])
        if kind == "size":
            return algebra.size(attributes["axis"], exponent_from(attributes["exponent"]))
        if kind in ("call", "call_back"):
            return self._call(operation, indices)
        if kind in ("dot", "concat", "transpose", "broadcast", "slice", "sum", "max"):
            return getattr(self, f"_{kind}")(operation, by_axis(shape, indices))
        if kind == "power":
            return self._power(arguments[0], indices, exponent_from(attributes["exponent"]))
        x = self.entry(arguments[0], indices)
        if kind in ("add", "sub"):
            return algebra.add(x, algebra.scale(self.entry(arguments[1], indices), 1 if kind == "add" else -1))
        if kind == "mul":
            return algebra.multiply(x, self.entry(arguments[1], indices))
        if kind == "div":
            return algebra.multiply(x, self._power(arguments[1], indices, Fraction(-1)))
        return x if kind == "reshape" else self._function(kind, x)  # a reshape keeps the factors and their order

    def _power(self, value: str, indices: tuple[Index, ...], exponent: Fraction) -> Polynomial:
        """Rule, for whole e: (x y)^e = x^e y^e and (x^k)^e = x^(k e), before the product is distributed."""
        operation = self.program.operations[value]
        if value not in self.names and operation.kind == "mul" and exponent.denominator == 1:
            return self.algebra.product([self._power(argument, indices, exponent) for argument in operation.arguments])
        if value not in self.names and operation.kind == "power" and exponent.denominator == 1:
            inner = exponent_from(operation.attributes["exponent"])
            return self._power(operation.arguments[0], indices, inner * exponent)
        return self.algebra.power(self.entry(value, indices), exponent)

    def _function(self, kind: str, x: Polynomial) -> Polynomial:
        """Rules: erf x = 1 - erfc x; logistic x = 1 - 1 / (1 + exp x); tanh x = 1 - 2 / (1 + exp 2x)."""
        algebra = self.algebra
        if kind == "neg":
            return algebra.scale(x, -1)
        if kind in ("exp", "erfc"):
            return algebra.exp(x) if kind == "exp" else algebra.erfc(x)
        if kind == "erf":
            return algebra.add(UNIT, algebra.scale(algebra.erfc(x), -1))
        twice = {"tanh": 2, "logistic": 1}[kind]
        rest = algebra.power(algebra.add(UNIT, algebra.exp(algebra.scale(x, twice))), Fraction(-1))
        return algebra.add(UNIT, algebra.scale(rest, -twice))

    def _transpose(self, operation: Operation, axes: list[Any]) -> Polynomial:
        return self.entry(
            operation.arguments[0], flat(axes[operation.attributes["order"].index(i)] for i in range(len(axes)))
        )

    def _broadcast(self, operation: Operation, axes: list[Any]) -> Polynomial:
        return self.entry(operation.arguments[0], flat(axes[place] for place in operation.attributes["places"]))

    def _slice(self, operation: Operation, axes: list[Any]) -> Polynomial:
        a, (argument,) = operation.attributes, operation.arguments
        parts = parts_of(self.program.shape(argument)[a["axis"]])
        if len(parts) > 1:
            axes[a["axis"]] = (embed(parts, a["start"], a["stop"], axes[a["axis"]]),)
        return self.entry(argument, flat(axes))

    def _sum(self, operation: Operation, axes: list[Any]) -> Polynomial:
        (argument,), summed, kept = operation.arguments, operation.attributes["axes"], iter(axes)
        shape = self.program.shape(argument)
        bound = {at: self.variables([shape[at]]) for at in summed}
        inside = self.entry(argument, flat(bound[at] if at in bound else next(kept) for at in range(len(shape))))
        if operation.kind == "max":
            return self.algebra.opaque("max", (), flat(bound.values()), [inside])
        return self.algebra.sum(flat(bound.values()), inside)

    _max = _sum

    def _concat(self, operation: Operation, axes: list[Any]) -> Polynomial:
        algebra, at, start = self.algebra, operation.attributes["axis"], 0
        total: Polynomial = {}
        parts = parts_of(operation.shape[at])
        for argument in operation.arguments:
            axis = self.program.shape(argument)[at]
            inner, stop = self.variables([axis]), start + len(parts_of(axis))
            if len(parts) == 1:
                return self.entry(argument, flat(axes))
            chosen = algebra.delta(axes[at][0], embed(parts, start, stop, inner))
            if chosen:
                part = self.entry(argument, flat([*axes[:at], inner, *axes[at + 1 :]]))
                total = algebra.add(total, algebra.sum(inner, algebra.multiply(chosen, part)))
            start = stop
        return total

    def _dot(self, operation: Operation, axes: list[Any]) -> Polynomial:
        batch, contract = operation.attributes["batch"], operation.attributes["contract"]
        shapes, values, rest = [*map(self.program.shape, operation.arguments)], [], iter(axes)
        shared, bound = [next(rest) for _ in batch[0]], [self.variables([shapes[0][at]]) for at in contract[0]]
        for argument, shape, *taken in zip(operation.arguments, shapes, batch, contract, strict=True):
            fixed = dict(zip(taken[0] + taken[1], shared + bound, strict=True))
            indices = flat(fixed[at] if at in fixed else next(rest) for at in range(len(shape)))
            values.append(self.entry(argument, indices))
        return self.algebra.sum(flat(bound), self.algebra.multiply(*values))

    def _call(self, operation: Operation, indices: tuple[Index, ...]) -> Polynomial:
        """A call acts on each example of its leading axes: same leading indices inside and outside."""
        lead, label = operation.attributes["lead"], f"{operation.kind} {operation.attributes['symbol']}"
        arrays = [(self.entry, argument, self.program.shape(argument)[lead:]) for argument in operation.arguments]
        return self.opaque(label, arrays, indices, len(factors_of(operation.shape[:lead])))

    def opaque(self, label: str, arrays: Sequence[Any], indices: Sequence[Index], lead: int) -> Polynomial:
        """Return an unknown function's entry of arrays (entry, value, shape), the first `lead` indices leading."""
        inner = [self.variables(shape) for _, _, shape in arrays]
        values = [entry(value, (*indices[:lead], *own)) for (entry, value, _), own in zip(arrays, inner, strict=True)]
        return self.algebra.opaque(label, indices[lead:], flat(inner), values)


def by_axis(shape: Sequence[Any], indices: Iterable[Index]) -> list[Any]:
    """Return the indices of each axis."""
    rest = iter(indices)
    return [tuple(next(rest) for _ in axis) for axis in shape]


def flat(axes: Iterable[Any]) -> tuple[Index, ...]:
    """Return the indices of all axes in one tuple."""
    return tuple(index for axis in axes for index in axis)
