"""Programs: straight-line lists of tensor operations over symbolic axes, checked when they are read.

An axis is a tuple of factors, row-major (head x width is `("h", "c")`, the unit axis is `()`). A factor is the
name of an atomic axis, or a tuple of two or more axes: their disjoint union (CLS + patches is `((), ("N",))`).
Every atomic axis has at least one element. Two axes are the same only if they are written the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

Axis: TypeAlias = tuple[Any, ...]
Shape: TypeAlias = tuple[Axis, ...]
UNARY, BINARY = ("neg", "exp", "erf", "erfc", "tanh", "logistic"), ("add", "sub", "mul", "div")
MOST_LINES, MOST_FACTORS, MOST_PARTS = 200_000, 40, 5_000
BASES = {str(p) for p in range(2, 100) if all(p % q for q in range(2, p))} | {"pi"}
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError, OverflowError)


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The input is malformed, or the claim does not follow; the message says what and where."""


def named(text: Any) -> str:
    """Return a name of letters, digits, `_` and `.`, at most 80; Refused for any other, which may not be printed."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]{0,79}", text):
        raise Refused(f"{str(text)[:40]!a} is not a name")
    return text


def axis_from(data: Any, atoms: Any) -> Axis:
    """Read an axis from nested lists, flattening unions of unions; Refused for unknown atomic axes."""
    factors: list[Any] = []
    for factor in data if isinstance(data, list | tuple) and len(data) <= MOST_FACTORS else [None]:
        if isinstance(factor, str) and factor in atoms:
            factors.append(factor)
        elif isinstance(factor, list | tuple) and 2 <= len(factor) <= MOST_PARTS:
            factors.append(union([axis_from(part, atoms) for part in factor])[0])
        else:
            raise Refused(f"{str(factor)[:40]!a} is neither a declared axis nor a union of axes")
    return tuple(factors)


def shape_from(data: Any, atoms: Any) -> Shape:
    """Read a shape, a list of axes."""
    return tuple(axis_from(axis, atoms) for axis in data)


def union(parts: Sequence[Axis]) -> Axis:
    """Return the axis that is the disjoint union of `parts`; unions inside are flattened."""
    flat = [part for axis in parts for part in parts_of(axis)]
    return (tuple(flat),) if len(flat) > 1 else flat[0]


def parts_of(axis: Axis) -> tuple[Axis, ...]:
    """Return the parts of a union axis; an axis that is no union is its own single part."""
    return axis[0] if len(axis) == 1 and not isinstance(axis[0], str) else (axis,)


def factors_of(shape: Sequence[Axis]) -> tuple[Any, ...]:
    """Return the factors of all axes, in row-major order."""
    return tuple(factor for axis in shape for factor in axis)


class Operation(NamedTuple):
    """One line: the name it defines, the kind of operation, its arguments' names, its attributes, its shape."""

    name: str
    kind: str
    arguments: tuple[str, ...]
    attributes: dict[str, Any]
    shape: Shape


class Program:
    """Atomic axes with their sizes (None: symbolic), inputs, operations in order, outputs; immutable by use."""

    def __init__(
        self, atoms: dict[str, int | None], operations: dict[str, Operation], outputs: tuple[str, ...]
    ) -> None:
        self.atoms, self.operations, self.outputs = atoms, operations, outputs
        self.inputs = [op.name for op in operations.values() if op.kind == "input"]

    def shape(self, name: str) -> Shape:
        """Return the shape of a value."""
        return self.operations[name].shape


def program_from(data: Any) -> Program:
    """Read {"axes": {name: size or null}, "lines": [[name, kind, arguments, attributes]], "outputs": [names]}.

    Every line is checked: defined before use, one definition for each name, shapes that fit. Refused otherwise.
    """
    try:
        atoms, lines, outputs = data["axes"], data["lines"], data["outputs"]
        if len(data) != 3 or len(lines) > MOST_LINES or not outputs:
            raise Refused("a program has axes, lines and outputs, and neither too many lines nor no outputs")
        for atom, size in atoms.items():
            if named(atom) and size is not None and (type(size) is not int or not 1 <= size < 2**53):
                raise Refused(f"axis {atom}: a size is null or a positive integer")
        operations: dict[str, Operation] = {}
        for name, kind, arguments, attributes in lines:
            if not (isinstance(arguments, list) and isinstance(attributes, dict)):
                raise TypeError("arguments are a list, attributes an object")
            shapes = [operations[argument].shape for argument in arguments]
            shape = shape_of(kind, shapes, attributes, atoms) if named(name) not in operations else None
            if shape is None or len(factors_of(shape)) > MOST_FACTORS:
                raise Refused(f"{name} ({str(kind)[:20]!a}): defined twice, or shapes or attributes do not fit")
            operations[name] = Operation(name, kind, tuple(arguments), attributes, shape)
        return Program(dict(atoms), operations, tuple(operations[output].name for output in outputs))
    except MALFORMED as error:
        raise Refused(f"malformed program ({type(error).__name__})") from None


def shape_of(kind: str, shapes: Sequence[Shape], attributes: dict[str, Any], atoms: Any) -> Shape | None:
    """Return the shape of an operation's result, or None (or one of MALFORMED) where it does not fit."""
    a, first, count = attributes, shapes[0] if shapes else (), len(shapes)
    form = (kind, count, *sorted(a))
    if kind in BINARY or kind in UNARY:
        fits = not a and count == (2 if kind in BINARY else 1) and first == shapes[-1]
        return first if fits else None
    if form == ("input", 0, "shape"):
        return shape_from(a["shape"], atoms)
    if form == ("const", 0, "value"):
        return () if constant_from(a["value"]) else None
    if form == ("size", 0, "axis", "exponent"):
        return () if exponent_from(a["exponent"]) and axis_from(a["axis"], atoms) is not None else None
    if form == ("power", 1, "exponent"):
        return first if exponent_from(a["exponent"]) else None
    if form == ("dot", 2, "batch", "contract"):
        return _dot_shape(first, shapes[1], *a["batch"], *a["contract"])
    if kind == "concat" and count and sorted(a) == ["axis"]:
        at = place(a["axis"], len(first))
        whole = (*first[:at], union([shape[at] for shape in shapes]), *first[at + 1 :])
        same = all((*shape[:at], *shape[at + 1 :]) == (*first[:at], *first[at + 1 :]) for shape in shapes)
        return whole if same and len(parts_of(whole[at])) <= MOST_PARTS else None
    if form == ("call", 1, "lead", "shape", "symbol"):
        return (
            (*first[: place(a["lead"], len(first) + 1)], *shape_from(a["shape"], atoms)) if named(a["symbol"]) else None
        )
    if form == ("call_back", 2, "lead", "symbol"):
        lead = place(a["lead"], min(map(len, shapes)) + 1)
        return first if named(a["symbol"]) and first[:lead] == shapes[1][:lead] else None
    if form == ("transpose", 1, "order"):
        return tuple(first[i] for i in a["order"]) if distinct(a["order"], len(first)) == len(first) else None
    if form == ("reshape", 1, "shape"):
        new = shape_from(a["shape"], atoms)
        return new if factors_of(new) == factors_of(first) else None
    if form == ("broadcast", 1, "places", "shape"):
        new = shape_from(a["shape"], atoms)
        return new if distinct(a["places"], len(new)) >= 0 and tuple(new[i] for i in a["places"]) == first else None
    if form == ("slice", 1, "axis", "start", "stop"):
        at = place(a["axis"], len(first))
        parts = parts_of(first[at])
        start, stop = place(a["start"], len(parts)), place(a["stop"], len(parts) + 1)
        return (*first[:at], union(parts[start:stop]), *first[at + 1 :]) if start < stop else None
    if form in (("sum", 1, "axes"), ("max", 1, "axes")) and distinct(a["axes"], len(first)) >= 0:
        return tuple(axis for i, axis in enumerate(first) if i not in a["axes"])
    return None


def _dot_shape(left: Shape, right: Shape, batch: Any, batch_right: Any, summed: Any, summed_right: Any) -> Shape | None:
    distinct(batch + summed, len(left)), distinct(batch_right + summed_right, len(right))
    if [left[i] for i in batch + summed] != [right[i] for i in batch_right + summed_right] or len(batch) != len(
        batch_right
    ):
        return None
    free = [axis for i, axis in enumerate(left) if i not in batch + summed]
    return (
        *(left[i] for i in batch),
        *free,
        *(axis for i, axis in enumerate(right) if i not in batch_right + summed_right),
    )


def place(value: Any, count: int) -> int:
    """Return an integer from 0 to count - 1; ValueError for anything else."""
    if type(value) is not int or not 0 <= value < count:
        raise ValueError("place out of range")
    return value


def distinct(places: Any, count: int) -> int:
    """Return how many places there are; ValueError unless they are a list of distinct integers from 0 to count - 1."""
    if not isinstance(places, list | tuple) or len({place(value, count) for value in places}) != len(places):
        raise ValueError("not a list of places, or one occurs twice")
    return len(places)


def rational_from(text: Any) -> Fraction | None:
    """Read a rational such as "-3/4" (no decimal point, no power of ten); None where it is malformed or huge."""
    fits = isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,1000}(/0*[1-9][0-9]{0,999})?", text)
    return Fraction(text) if fits else None


def exponent_from(text: Any) -> Fraction | None:
    """Read a nonzero rational exponent, such as "-1/2"; None where it is none of reasonable size."""
    value = rational_from(text)
    return value if value and abs(value) <= 64 and value.denominator <= 64 else None


def constant_from(data: Any) -> tuple[Fraction, dict[str, Fraction]] | None:
    """Read an exact constant [rational, {base: exponent}]: a rational times powers of primes below 100 and of pi."""
    rational, powers = data
    value = rational_from(rational)
    exponents = {base: exponent for base, text in powers.items() if (exponent := exponent_from(text)) and base in BASES}
    return None if value is None or len(exponents) != len(powers) else (value, exponents)
