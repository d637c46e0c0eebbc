"""Programs: straight-line lists of tensor operations over symbolic axes, checked when they are read.

An axis is a tuple of factors, row-major (head x width is `("h", "c")`, the unit axis is `()`). A factor is the
name of an atomic axis, or a tuple of two or more axes: their disjoint union (CLS + patches is `((), ("N",))`).
Every atomic axis has at least one element. Two axes are the same only if they are written the same.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Axis = tuple[Any, ...]
Shape = tuple[Axis, ...]
UNARY, BINARY = ("neg", "exp", "erf", "erfc", "tanh", "logistic"), ("add", "sub", "mul", "div")
FORMS = {  # kind: number of arguments (concat: one or more), names of the attributes
    **dict.fromkeys(UNARY, (1, "")), **dict.fromkeys(BINARY, (2, "")), "input": (0, "shape"), "const": (0, "value"),
    "size": (0, "axis exponent"), "power": (1, "exponent"), "transpose": (1, "order"), "reshape": (1, "shape"),
    "broadcast": (1, "places shape"), "slice": (1, "axis start stop"), "concat": (1, "axis"), "sum": (1, "axes"),
    "max": (1, "axes"), "dot": (2, "batch contract"), "call": (1, "lead shape symbol"), "call_back": (2, "lead symbol"),
}  # fmt: skip
MOST_LINES, MOST_FACTORS, MOST_PARTS = 200_000, 40, 5_000
BASES = {str(p) for p in range(2, 100) if all(p % q for q in range(2, p))} | {"pi"}
MALFORMED = (KeyError, IndexError, TypeError, ValueError, AttributeError, RuntimeError, OverflowError)


class Refused(Exception):  # noqa: N818 - an answer, not a failure
    """The input is malformed, or the claim does not follow; the message says what and where."""


class Operation(NamedTuple):
    """One line: the name it defines, the kind of operation, its arguments' names, its attributes, its shape."""

    name: str
    kind: str
    arguments: tuple[str, ...]
    attributes: dict[str, Any]
    shape: Shape


class Program:
    """Atomic axes with their sizes (None: symbolic), inputs, operations in order, outputs; immutable by use."""

    def __init__(self, atoms: dict[str, int | None], operations: dict[str, Operation], outputs: tuple[str, ...]):
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
            try:
                fits(named(name) not in operations and isinstance(arguments, list) and isinstance(attributes, dict))
                shape = shape_of(kind, [operations[argument].shape for argument in arguments], attributes, atoms)
            except MALFORMED:
                raise Refused(f"{named(name)} ({str(kind)[:20]!a}): defined twice, or not of its kind's form") from None
            operations[name] = Operation(name, kind, tuple(arguments), attributes, shape)
        return Program(dict(atoms), operations, tuple(operations[output].name for output in outputs))
    except MALFORMED as error:
        raise Refused(f"malformed program ({type(error).__name__})") from None


def shape_of(kind: str, shapes: Sequence[Shape], a: dict[str, Any], atoms: Any) -> Shape:
    """Return the shape of an operation's result; one of MALFORMED where arguments or attributes `a` do not fit."""
    first, new = shapes[0] if shapes else (), shape_from(a.get("shape", ()), atoms)
    fits((1 if kind == "concat" and shapes else len(shapes), " ".join(sorted(a))) == FORMS[kind])
    if kind in ("input", "const", "size"):
        fits(kind != "const" or constant_from(a["value"]))
        fits(kind != "size" or (exponent_from(a["exponent"]), axis_from(a["axis"], atoms)))
    elif kind in ("sum", "max"):
        summed = places(a["axes"], len(first))
        new = tuple(axis for i, axis in enumerate(first) if i not in summed)
    elif kind == "transpose":
        new = tuple(first[i] for i in places(a["order"], len(first)))
        fits(len(new) == len(first))
    elif kind == "reshape":
        fits(factors_of(new) == factors_of(first))
    elif kind == "broadcast":
        fits(tuple(new[i] for i in places(a["places"], len(new))) == first)
    elif kind == "slice":
        (at,), parts = places([a["axis"]], len(first)), parts_of(first[a["axis"]])
        (start,), (stop,) = places([a["start"]], len(parts)), places([a["stop"]], len(parts) + 1)
        fits(start < stop)
        new = (*first[:at], union(parts[start:stop]), *first[at + 1 :])
    elif kind == "concat":
        (at,) = places([a["axis"]], len(first))
        fits(all((*shape[:at], *shape[at + 1 :]) == (*first[:at], *first[at + 1 :]) for shape in shapes))
        new = (*first[:at], union([shape[at] for shape in shapes]), *first[at + 1 :])
        fits(len(parts_of(new[at])) <= MOST_PARTS)
    elif kind == "dot":
        (batch, other), (summed, paired), (left, right) = a["batch"], a["contract"], shapes
        taken = [left[i] for i in places(batch + summed, len(left))]
        fits(len(batch) == len(other) and taken == [right[i] for i in places(other + paired, len(right))])
        new = (*taken[: len(batch)], *(axis for i, axis in enumerate(left) if i not in batch + summed))
        new += tuple(axis for i, axis in enumerate(right) if i not in other + paired)
    elif kind in ("call", "call_back"):
        (lead,) = places([a["lead"]], min(map(len, shapes)) + 1)
        fits(named(a["symbol"]) and first[:lead] == shapes[-1][:lead])
        new = (*first[:lead], *new) if kind == "call" else first
    else:
        fits(all(shape == first for shape in shapes) and (kind != "power" or exponent_from(a["exponent"])))
        new = first
    fits(len(factors_of(new)) <= MOST_FACTORS)
    return new


def fits(condition: Any) -> None:
    """Raise ValueError where a condition does not hold."""
    if not condition:
        raise ValueError("does not fit")


def places(values: Any, count: int) -> Any:
    """Return a list of distinct integers from 0 to count - 1; ValueError for anything else."""
    fits(isinstance(values, list) and all(type(value) is int and 0 <= value < count for value in values))
    fits(len({*values}) == len(values))
    return values


def named(text: Any) -> str:
    """Return a name of letters, digits, `_` and `.`, at most 80; Refused for any other, which may not be printed."""
    if not isinstance(text, str) or not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_.]{0,79}", text):
        raise Refused(f"{str(text)[:40]!a} is not a name")
    return text


def axis_from(data: Any, atoms: Any) -> Axis:
    """Read an axis from nested lists, flattening unions of unions; Refused for unknown atomic axes."""
    fits(isinstance(data, list | tuple) and len(data) <= MOST_FACTORS)
    factors: list[Any] = []
    for factor in data:
        if not (factor in atoms if isinstance(factor, str) else 2 <= len(factor) <= MOST_PARTS):
            raise Refused(f"{str(factor)[:40]!a} is neither a declared axis nor a union of axes")
        factors.append(factor if isinstance(factor, str) else union([axis_from(part, atoms) for part in factor])[0])
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


def rational_from(text: Any) -> Fraction:
    """Read a rational such as "-3/4" (no decimal point, no power of ten); ValueError where malformed or huge."""
    fits(isinstance(text, str) and re.fullmatch(r"-?[0-9]{1,1000}(/0*[1-9][0-9]{0,999})?", text))
    return Fraction(text)


def exponent_from(text: Any) -> Fraction:
    """Read a nonzero rational exponent, such as "-1/2"; ValueError where it is none of reasonable size."""
    value = rational_from(text)
    fits(value and abs(value) <= 64 and value.denominator <= 64)
    return value


def constant_from(data: Any) -> tuple[Fraction, dict[str, Fraction]]:
    """Read an exact constant [rational, {base: exponent}]: a rational times powers of primes below 100 and of pi."""
    rational, powers = data
    fits({*powers} <= BASES)
    return rational_from(rational), {base: exponent_from(text) for base, text in powers.items()}
