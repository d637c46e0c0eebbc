"""The meaning of each operation of a program: the term of one entry of its result."""

from __future__ import annotations

from fractions import Fraction

from vjproof.kernel.program import Refused, constant_from, exponent_from, factors_of, parts_of
from vjproof.kernel.terms import ONE, embed


class Meaning:
    """Terms of a program's entries, unfolded down to the values that have a name.

    `names` maps a value to (tensor, order): its entry at indices i is tensor[i[order[0]], i[order[1]], ...].
    `definitions` maps the symbol of a call to (program of one example, its input, names of its other inputs).
    """

    def __init__(self, algebra, program, names, definitions=None, given=None):
        self.algebra, self.program, self.names = algebra, program, names
        self.definitions, self.given, self._known = definitions or {}, given or {}, {}

    def indices(self, value):
        """Return fresh variables for the factors of a value's axes."""
        return tuple(self.algebra.fresh(factor) for factor in factors_of(self.program.shape(value)))

    def entry(self, value, indices):
        """Return the term of value[indices]; a named value is one entry of its tensor."""
        if value in self.names:
            tensor, order = self.names[value]
            return self.algebra.entry(tensor, tuple(indices[place] for place in order))
        if value in self.given:
            return self.given[value](indices)
        return self.unfolded(value, indices)

    def unfolded(self, value, indices):
        """Return the term of value[indices] from its operation, even where the value has a name."""
        key = (value, indices)
        if key not in self._known:
            self.algebra.spend()
            self._known[key] = self._operation(self.program.operations[value], indices)
        return self._known[key]

    def forget(self):
        """Drop unfolded terms; call this whenever a value gets a name."""
        self._known.clear()

    def _operation(self, operation, indices):
        kind, algebra, attributes = operation.kind, self.algebra, operation.attributes
        if kind == "const":
            value, exponents = constant_from(attributes["value"])
            powers = [algebra.pi(e) if b == "pi" else algebra.number(int(b), e) for b, e in exponents.items()]
            return algebra.product([{ONE: value} if value else {}, *powers])
        if kind == "size":
            return algebra.size(_tuples(attributes["axis"]), exponent_from(attributes["exponent"]))
        if kind == "input":
            raise Refused(f"input {operation.name!r} has no meaning of its own and was not named")
        if kind in ("call", "call_back"):
            return self._call(operation, indices)
        if kind == "concat":
            return self._concat(operation, indices)
        if kind == "dot":
            return self._dot(operation, indices)
        first = operation.arguments[0]
        if kind in ("transpose", "broadcast", "slice", "sum", "max"):
            return self._move(operation, first, _by_axis(operation.shape, indices))
        values = [self.entry(argument, indices) for argument in operation.arguments]  # reshape keeps the factors
        return self._elementwise(kind, attributes, *values)

    def _elementwise(self, kind, attributes, x, y=None):
        algebra = self.algebra
        if kind == "reshape":
            return x
        if kind in ("add", "sub"):
            return algebra.add(x, y if kind == "add" else algebra.scale(y, -1))
        if kind in ("mul", "div"):
            return algebra.multiply(x, y if kind == "mul" else algebra.power(y, Fraction(-1)))
        if kind == "power":
            return algebra.power(x, exponent_from(attributes["exponent"]))
        if kind == "neg":
            return algebra.scale(x, -1)
        if kind == "exp":
            return algebra.exp(x)
        if kind == "erfc":
            return algebra.erfc(x)
        if kind == "erf":
            return algebra.add({ONE: Fraction(1)}, algebra.scale(algebra.erfc(x), -1))
        twice = 2 if kind == "tanh" else 1  # tanh(x) = 1 - 2 / (1 + exp 2x); logistic(x) = 1 - 1 / (1 + exp x)
        rest = algebra.power(algebra.add({ONE: Fraction(1)}, algebra.exp(algebra.scale(x, twice))), Fraction(-1))
        return algebra.add({ONE: Fraction(1)}, algebra.scale(rest, -twice))

    def _move(self, operation, first, axes):
        kind, attributes, shape = operation.kind, operation.attributes, self.program.shape(operation.arguments[0])
        if kind == "transpose":
            back = sorted(range(len(axes)), key=attributes["order"].__getitem__)
            return self.entry(first, _flat(axes[place] for place in back))
        if kind == "broadcast":
            return self.entry(first, _flat(axes[place] for place in attributes["places"]))
        if kind == "slice":
            at, parts = attributes["axis"], parts_of(shape[attributes["axis"]])
            if len(parts) > 1:
                axes[at] = (embed(parts, attributes["start"], attributes["stop"], axes[at]),)
            return self.entry(first, _flat(axes))
        bound = {at: tuple(map(self.algebra.fresh, shape[at])) for at in attributes["axes"]}
        kept = iter(axes)
        inside = self.entry(first, _flat(bound[at] if at in bound else next(kept) for at in range(len(shape))))
        variables = _flat(bound.values())
        if kind == "sum":
            return self.algebra.sum(variables, inside)
        return self.algebra.opaque("max", (), variables, [inside])

    def _call(self, operation, indices):
        """A call acts on each example of its leading axes: same leading indices inside and outside."""
        shapes = [self.program.shape(argument) for argument in operation.arguments]
        lead, symbol = operation.attributes["lead"], operation.attributes["symbol"]
        count = len(factors_of(operation.shape[:lead]))
        if symbol in self.definitions and operation.kind == "call":
            program, argument, names = self.definitions[symbol]
            given = {argument: lambda core: self.entry(operation.arguments[0], indices[:count] + core)}
            inside = Meaning(self.algebra, program, names, given=given)
            return inside.entry(program.outputs[0], indices[count:])
        inner = [tuple(map(self.algebra.fresh, factors_of(shape[lead:]))) for shape in shapes]
        values = [self.entry(a, indices[:count] + v) for a, v in zip(operation.arguments, inner, strict=True)]
        return self.algebra.opaque(f"{operation.kind} {symbol}", indices[count:], _flat(inner), values)

    def _concat(self, operation, indices):
        algebra, at, total, start = self.algebra, operation.attributes["axis"], {}, 0
        axes = _by_axis(operation.shape, indices)
        if len(operation.arguments) == 1:
            return self.entry(operation.arguments[0], indices)
        (index,) = axes[at]
        for argument in operation.arguments:
            axis = self.program.shape(argument)[at]
            stop = start + len(parts_of(axis))
            inner = tuple(map(algebra.fresh, axis))
            chosen = algebra.delta(index, embed(operation.shape[at][0], start, stop, inner))
            if chosen:
                part = self.entry(argument, _flat([*axes[:at], inner, *axes[at + 1 :]]))
                total = algebra.add(total, algebra.sum(inner, algebra.multiply(chosen, part)))
            start = stop
        return total

    def _dot(self, operation, indices):
        left, right = (self.program.shape(argument) for argument in operation.arguments)
        (batch_left, batch_right), (sum_left, sum_right) = operation.attributes["batch"], operation.attributes["contract"]
        axes = iter(_by_axis(operation.shape, indices))
        shared = [next(axes) for _ in batch_left]
        bound = [tuple(map(self.algebra.fresh, left[at])) for at in sum_left]
        sides = []
        for shape, batch, contracted in ((left, batch_left, sum_left), (right, batch_right, sum_right)):
            fixed = dict(zip(batch, shared, strict=True)) | dict(zip(contracted, bound, strict=True))
            sides.append(_flat(fixed[at] if at in fixed else next(axes) for at in range(len(shape))))
        values = [self.entry(argument, side) for argument, side in zip(operation.arguments, sides, strict=True)]
        return self.algebra.sum(_flat(bound), self.algebra.multiply(*values))


def _by_axis(shape, indices):
    rest = iter(indices)
    return [tuple(next(rest) for _ in axis) for axis in shape]


def _flat(axes):
    return tuple(index for axis in axes for index in axis)


def _tuples(data):
    return tuple(_tuples(item) if isinstance(item, list | tuple) else item for item in data)
