"""Programs: straight-line lists of tensor operations over symbolic axes, checked when they are read.

An axis is a tuple of factors, row-major (head x width is `("h", "c")`, the unit axis is `()`). A factor is the
name of an atomic axis, or a tuple of two or more axes: their disjoint union (CLS + patches is `((), ("N",))`).
Every atomic axis has at least one element. Two axes are the same only if they are written the same.
"""

from __future__ import annotations

import re
from fractions import Fraction

BINARY = ("add", "sub", "mul", "div")
UNARY = ("neg", "exp", "erf", "erfc", "tanh", "logistic")
LIMIT = 200_000  # operations, nesting and text of an untrusted program stay below this


class Refused(Exception):
    """The input is malformed, or the claim does not follow; the message says what and where."""


def axis_from(data, atoms, depth=0):
    """Read an axis from nested lists, flattening unions of unions; refuse unknown atomic axes."""
    if not isinstance(data, list | tuple) or depth > 20:
        raise Refused(f"an axis is a list of factors, not {str(data)[:40]!r}")
    factors = []
    for factor in data:
        if isinstance(factor, str):
            if factor not in atoms:
                raise Refused(f"unknown axis {factor[:40]!r}")
            factors.append(factor)
        else:
            if not isinstance(factor, list | tuple) or len(factor) < 2:
                raise Refused("a union of axes has two parts or more")
            factors.append(union([axis_from(part, atoms, depth + 1) for part in factor])[0])
    return tuple(factors)


def union(parts):
    """Return the axis that is the disjoint union of `parts`; unions inside are flattened."""
    flat = []
    for part in parts:
        flat.extend(part[0] if len(part) == 1 and not isinstance(part[0], str) else [part])
    return (tuple(flat),) if len(flat) > 1 else flat[0]


def parts_of(axis):
    """Return the parts of a union axis; an axis that is no union is its own single part."""
    return axis[0] if len(axis) == 1 and not isinstance(axis[0], str) else (axis,)


def factors_of(shape):
    """Return the factors of all axes, in row-major order."""
    return tuple(factor for axis in shape for factor in axis)


class Operation:
    """One line: the name it defines, the kind of operation, its arguments' names, its attributes, its shape."""

    def __init__(self, name, kind, arguments, attributes, shape):
        self.name, self.kind, self.arguments = name, kind, arguments
        self.attributes, self.shape = attributes, shape


class Program:
    """Atomic axes with their sizes (None: symbolic), inputs, operations in order, outputs; immutable by use."""

    def __init__(self, atoms, operations, outputs):
        self.atoms, self.operations, self.outputs = atoms, operations, outputs
        self.inputs = [op.name for op in operations.values() if op.kind == "input"]

    def shape(self, name):
        """Return the shape of a value."""
        return self.operations[name].shape


def program_from(data):
    """Read a program: {"axes": {name: size or null}, "lines": [[name, kind, arguments, attributes]], "outputs"}.

    Every line is checked: defined before use, one definition for each name, shapes that fit.
    """
    if not isinstance(data, dict) or set(data) != {"axes", "lines", "outputs"}:
        raise Refused("a program has axes, lines and outputs, nothing else")
    atoms, lines, outputs = data["axes"], data["lines"], data["outputs"]
    if not (isinstance(atoms, dict) and isinstance(lines, list) and isinstance(outputs, list)):
        raise Refused("axes are an object, lines and outputs are lists")
    if len(lines) > LIMIT:
        raise Refused(f"more than {LIMIT} lines")
    for atom, size in atoms.items():
        if not (size is None or (type(size) is int and 1 <= size < 2**53)):
            raise Refused(f"axis {atom[:40]!r} has a size that is neither null nor a positive integer")
    operations = {}
    for line in lines:
        if not (isinstance(line, list) and len(line) == 4 and isinstance(line[0], str) and isinstance(line[1], str)
                and isinstance(line[2], list) and isinstance(line[3], dict)):  # fmt: skip
            raise Refused(f"a line is [name, kind, arguments, attributes], not {str(line)[:60]!r}")
        name, kind, arguments, attributes = line
        if name in operations or any(argument not in operations for argument in arguments if isinstance(argument, str)):
            raise Refused(f"{name[:40]!r}: defined twice, or an argument is not defined before")
        try:
            shape = shape_of(kind, [operations[argument].shape for argument in arguments], attributes, atoms)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
            raise Refused(f"{name[:40]!r} ({kind[:20]}): malformed, {type(error).__name__}") from None
        if shape is None:
            raise Refused(f"{name[:40]!r} ({kind[:20]}): shapes or attributes do not fit")
        operations[name] = Operation(name, kind, tuple(arguments), attributes, shape)
    if not outputs or any(not isinstance(output, str) or output not in operations for output in outputs):
        raise Refused("outputs must be defined values")
    return Program(atoms, operations, tuple(outputs))


def shape_of(kind, shapes, attributes, atoms):
    """Return the shape of an operation's result, or None where its arguments or attributes do not fit."""
    count, keys = len(shapes), set(attributes)
    if kind in BINARY:
        return shapes[0] if count == 2 and shapes[0] == shapes[1] and not keys else None
    if kind in UNARY:
        return shapes[0] if count == 1 and not keys else None
    if kind == "input":
        return tuple(axis_from(axis, atoms) for axis in attributes["shape"]) if count == 0 and keys == {"shape"} else None
    if kind == "const":
        return () if count == 0 and keys == {"value"} and constant_from(attributes["value"]) is not None else None
    if kind == "size":
        axis_from(attributes["axis"], atoms)
        return () if count == 0 and keys == {"axis", "exponent"} and exponent_from(attributes["exponent"]) else None
    if kind == "power":
        return shapes[0] if count == 1 and keys == {"exponent"} and exponent_from(attributes["exponent"]) else None
    if kind == "dot":
        return _dot_shape(shapes, attributes) if count == 2 and keys == {"batch", "contract"} else None
    if kind == "concat":
        return _concat_shape(shapes, attributes["axis"]) if count >= 1 and keys == {"axis"} else None
    if kind == "call":
        tail = tuple(axis_from(axis, atoms) for axis in attributes["shape"])
        fits = count == 1 and keys == {"symbol", "lead", "shape"} and isinstance(attributes["symbol"], str)
        return (*shapes[0][: _place(attributes["lead"], len(shapes[0]) + 1)], *tail) if fits else None
    if kind == "call_back":
        fits = count == 2 and keys == {"symbol", "lead"} and isinstance(attributes["symbol"], str)
        lead = _place(attributes["lead"], min(len(shapes[0]), len(shapes[1])) + 1) if fits else 0
        return shapes[0] if fits and shapes[0][:lead] == shapes[1][:lead] else None
    if count != 1:
        return None
    (shape,) = shapes
    if kind == "transpose" and keys == {"order"}:
        order = attributes["order"]
        return tuple(shape[i] for i in order) if sorted(order) == list(range(len(shape))) else None
    if kind == "reshape" and keys == {"shape"}:
        new = tuple(axis_from(axis, atoms) for axis in attributes["shape"])
        return new if factors_of(new) == factors_of(shape) else None
    if kind == "broadcast" and keys == {"shape", "places"}:
        new, places = tuple(axis_from(axis, atoms) for axis in attributes["shape"]), attributes["places"]
        return new if _distinct(places, len(new)) and [new[i] for i in places] == list(shape) else None
    if kind == "slice" and keys == {"axis", "start", "stop"}:
        at, parts = attributes["axis"], parts_of(shape[_place(attributes["axis"], len(shape))])
        start, stop = attributes["start"], attributes["stop"]
        fits = type(start) is int and type(stop) is int and 0 <= start < stop <= len(parts)
        return (*shape[:at], union(parts[start:stop]), *shape[at + 1 :]) if fits else None
    if kind in ("sum", "max") and keys == {"axes"}:
        axes = attributes["axes"]
        return tuple(axis for i, axis in enumerate(shape) if i not in axes) if _distinct(axes, len(shape)) else None
    return None


def _place(value, count):
    if type(value) is not int or not 0 <= value < count:
        raise ValueError("place out of range")
    return value


def _distinct(places, count):
    return len({_place(place, count) for place in places}) == len(places)


def _dot_shape(shapes, attributes):
    (left, right), (batch_left, batch_right) = shapes, attributes["batch"]
    sum_left, sum_right = attributes["contract"]
    if not (_distinct(batch_left + sum_left, len(left)) and _distinct(batch_right + sum_right, len(right))):
        return None
    for ours, theirs in ((batch_left, batch_right), (sum_left, sum_right)):
        if [left[i] for i in ours] != [right[i] for i in theirs]:
            return None
    return (
        *(left[i] for i in batch_left),
        *(axis for i, axis in enumerate(left) if i not in batch_left + sum_left),
        *(axis for i, axis in enumerate(right) if i not in batch_right + sum_right),
    )


def _concat_shape(shapes, at):
    first = shapes[0]
    _place(at, len(first))
    rest = [(*shape[:at], *shape[at + 1 :]) for shape in shapes]
    if any(len(shape) != len(first) for shape in shapes) or any(other != rest[0] for other in rest):
        return None
    return (*first[:at], union([shape[at] for shape in shapes]), *first[at + 1 :])


def rational_from(text):
    """Read a rational such as "-3/4" (no decimal point, no power of ten); None where it is malformed or huge."""
    if not isinstance(text, str) or not re.fullmatch(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?", text):
        return None
    return Fraction(text)


def exponent_from(text):
    """Read a nonzero rational exponent, such as "-1/2"; None where it is none of reasonable size."""
    value = rational_from(text)
    return value if value and abs(value) <= 64 and value.denominator <= 64 else None


def constant_from(data):
    """Read an exact constant [rational, {base: exponent}]: a rational times powers of primes below 100 and of pi."""
    rational, powers = data
    value = rational_from(rational)
    bases = {str(p) for p in range(2, 100) if all(p % q for q in range(2, p))} | {"pi"}
    if value is None or not isinstance(powers, dict) or not set(powers) <= bases:
        return None
    exponents = {base: exponent_from(exponent) for base, exponent in powers.items()}
    return None if None in exponents.values() else (value, exponents)
