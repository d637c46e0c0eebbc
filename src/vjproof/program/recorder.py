"""The tape: running a function on recorded arrays writes the program of what it computes.

    tape = Tape()
    x = tape.input("x", ("1+N", "h*c"))
    program = tape.program([softmax.forward(x)[0]])

A program says what holds for every size: code that looks at numbers, or at how large an axis is, is refused.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from math import prod
from numbers import Integral
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import MALFORMED, Program, Refused, parts_of, program_from, shape_of
from vjproof.program import shaping
from vjproof.program.axes import NAME, axis_data, format_shape, shape_data
from vjproof.program.constants import read_literal
from vjproof.program.namespace import Namespace
from vjproof.program.recorded import RecordedArray, refusal
from vjproof.program.size import Size, SizeFactor

Line = tuple[str, list[RecordedArray], dict[str, Any]]


class Tape:
    """Atomic axes with their sizes (None: symbolic), and the lines recorded so far; equal lines are one line.

    `readings` lists each float literal that was read as a constant with another exact value:
    (float.hex, constant in JSON form).
    """

    def __init__(self, axes: Mapping[str, int | None] | None = None) -> None:
        self.axes: dict[str, int | None] = {}
        self.readings: list[tuple[str, list[Any]]] = []
        self.namespace = Namespace(self)
        self._lines: dict[str, Line] = {}
        self._values: dict[str, RecordedArray] = {}  # by content, so that equal lines are recorded once
        for name, size in (axes or {}).items():
            self.axis(name, size)

    def axis(self, name: str, size: int | None = None) -> Size:
        """Return the Size of the atomic axis `name`, declared now or before; `size` fixes its number of elements.

        VjproofError for a malformed name, a size that is no positive int, or one that contradicts an earlier one.
        """
        if not NAME.fullmatch(name):
            raise VjproofError(f"axis {excerpt(name, 40)!r}", expected="a name such as N or mlp.width")
        if size is not None and (not isinstance(size, int) or not 1 <= size < 2**53):
            raise VjproofError(f"axis {name}", expected="a positive int, or None for every size", got=repr(size))
        known = self.axes.setdefault(name, size)
        if size not in (known, None):
            raise VjproofError(f"axis {name}", expected=f"its size as declared, {known}", got=str(size))
        return Size((name,))

    def input(self, name: str, shape: Sequence[Any]) -> RecordedArray:
        """Return the input `name`; `shape` holds Sizes, texts such as "1+N", axes or ints; new names are declared.

        VjproofError for a name that is malformed or taken.
        """
        if not NAME.fullmatch(name) or name in self._lines:
            raise VjproofError(
                f"input {excerpt(name, 40)!r}", expected="a name that is not taken, such as x or blocks.0.w_q",
                remedy="declare inputs before computing with them: lines are called v1, v2 and so on",
            )  # fmt: skip
        axes = shaping.shape_from(tuple(shape))
        for atom in _atoms(axes):
            self.axis(atom)
        return self.line("input", [], {"shape": shape_data(axes)}, name)

    def line(
        self, kind: str, arguments: Sequence[Any], attributes: dict[str, Any] | None = None, name: str = ""
    ) -> RecordedArray:
        """Return the value of one operation of `kernel.program`, recorded unless an equal line is there already."""
        attributes = attributes or {}
        for argument in arguments:
            if not isinstance(argument, RecordedArray):
                raise refusal(f"{kind} of {excerpt(argument, 40)!r}", "operands are recorded arrays")
            if argument.tape is not self:
                raise VjproofError(kind, expected="arrays of one tape", got=f"{argument.name} of another tape")
        content = json.dumps([kind, [argument.name for argument in arguments], attributes, name], sort_keys=True)
        if content in self._values:
            return self._values[content]
        try:
            shape = shape_of(kind, [argument.axes for argument in arguments], attributes, self.axes)
        except Refused as error:
            raise VjproofError(f"{kind} line", expected="attributes that fit", got=excerpt(error)) from None
        except MALFORMED:
            shapes = " and ".join(format_shape(argument.axes) for argument in arguments) or "no argument"
            got = f"{shapes}, {excerpt(attributes)}"
            raise VjproofError(f"{kind} line", expected="shapes and attributes that fit", got=got) from None
        count = len(self._lines) + 1
        while not name or (name in self._lines and kind != "input"):
            name, count = f"v{count}", count + 1
        self._lines[name] = (kind, list(arguments), attributes)
        self._values[content] = RecordedArray(self, name, shape)
        return self._values[content]

    def constant(self, value: float | int | Fraction) -> RecordedArray:
        """Return a number as an array with no axes; a float is read as `constants.read_literal` says."""
        exact_value = int(value) if isinstance(value, Integral) else value
        constant, exact = read_literal(exact_value)
        if not exact and (float(value).hex(), constant) not in self.readings:
            self.readings.append((float(value).hex(), constant))
        return self.line("const", [], {"value": constant})

    def factor(self, value: SizeFactor) -> RecordedArray:
        """Return a product of powers of sizes and of numbers as an array with no axes."""
        factors = [self.constant(number) for number in value.numbers]
        for axis, exponent in value.powers:
            factors.append(self.line("size", [], {"axis": axis_data(axis), "exponent": str(exponent)}))
        total = factors[0] if factors else self.constant(1)
        for factor in factors[1:]:
            total = self.line("mul", [total, factor])
        return total

    def binary(self, kind: str, left: Any, right: Any) -> RecordedArray:
        """Return left (add, sub, mul, div) right, broadcast; operands: arrays, Python numbers, Sizes and powers."""
        if kind == "div" and isinstance(right, Size):  # a size is never 0, so this is no division
            kind, right = "mul", right**-1
        left, right = self._operand(left), self._operand(right)
        shape = shaping.common_shape(left.axes, right.axes)
        return self.line(kind, [shaping.broadcast_to(left, shape), shaping.broadcast_to(right, shape)])

    def call(self, symbol: str, x: RecordedArray, shape: Sequence[Any], lead: int) -> RecordedArray:
        """Return symbol(x), an opaque function of the axes after `lead`: (*x.shape[:lead], *shape)."""
        attributes = {"symbol": symbol, "lead": lead, "shape": shape_data(shaping.shape_from(tuple(shape)))}
        return self.line("call", [x], attributes)

    def call_back(self, symbol: str, x: RecordedArray, d_y: RecordedArray, lead: int) -> RecordedArray:
        """Return the reverse of the opaque function at x: d_x, shaped as x."""
        return self.line("call_back", [x, d_y], {"symbol": symbol, "lead": lead})

    def definition(self, x: RecordedArray) -> Line:
        """Return the kind, arguments and attributes of the line that defines x."""
        return self._lines[x.name]

    def known_size(self, axis: tuple[Any, ...]) -> int | None:
        """Return the number of elements of an axis where it is fixed, else None."""
        sizes = [
            self.axes.get(factor) if isinstance(factor, str)
            else _total([self.known_size(part) for part in parts_of((factor,))])
            for factor in axis
        ]  # fmt: skip
        return None if None in sizes else prod(size for size in sizes if size is not None)

    def program(self, outputs: Sequence[RecordedArray]) -> Program:
        """Return the program of `outputs`: every input, and the lines that they need; VjproofError if none is given."""
        if not outputs or not all(isinstance(output, RecordedArray) and output.tape is self for output in outputs):
            raise VjproofError("outputs", expected="arrays of this tape, at least one", got=excerpt(list(outputs)))
        live, pending = set(), [output.name for output in outputs]
        while pending:
            name = pending.pop()
            if name not in live:
                live.add(name)
                pending += [argument.name for argument in self._lines[name][1]]
        lines = [
            [name, kind, [argument.name for argument in arguments], attributes]
            for name, (kind, arguments, attributes) in self._lines.items()
            if name in live or kind == "input"
        ]
        data = {"axes": dict(self.axes), "lines": lines, "outputs": [output.name for output in outputs]}
        return program_of(data)

    def _operand(self, value: Any) -> RecordedArray:
        if isinstance(value, RecordedArray):
            return value
        if isinstance(value, Size):
            return self.factor(value**1)
        if isinstance(value, SizeFactor):
            return self.factor(value)
        if isinstance(value, Integral | float | Fraction) and not isinstance(value, bool):
            return self.constant(value)  # type: ignore[arg-type]
        raise refusal(
            f"an operand {excerpt(value, 40)!r}", "operands are recorded arrays, Python numbers and sizes",
            "make an array of numbers an input",
        )  # fmt: skip


def _total(sizes: list[int | None]) -> int | None:
    return None if None in sizes else sum(size for size in sizes if size is not None)


def _atoms(axes: tuple[Any, ...]) -> list[str]:
    return [atom for item in axes for atom in ([item] if isinstance(item, str) else _atoms(item))]


def program_of(data: Any) -> Program:
    """Return the Program of its JSON form; VjproofError, with the kernel's reason, where it is refused."""
    try:
        program: Program = program_from(data)
    except Refused as reason:
        raise VjproofError("program", expected="well-formed lines", got=excerpt(reason, 200)) from None
    return program


def program_data(program: Program) -> dict[str, Any]:
    """Return the JSON form of a program, which `kernel.program.program_from` reads back."""
    lines = [[op.name, op.kind, list(op.arguments), op.attributes] for op in program.operations.values()]
    return {"axes": dict(program.atoms), "lines": lines, "outputs": list(program.outputs)}


def record(
    function: Callable[..., Any],
    shapes: Mapping[str, Sequence[Any]] | Sequence[Sequence[Any]],
    axes: Mapping[str, int | None] | None = None,
) -> Program:
    """Return the program of `function` on positional inputs of `shapes`: a mapping from names, or a list (x0, x1...).

    `axes` fixes sizes. The function returns an array, or (nested) tuples and lists of arrays. VjproofError where it
    does something that cannot be recorded.
    """
    tape = Tape(axes)
    named = shapes if isinstance(shapes, Mapping) else {f"x{index}": shape for index, shape in enumerate(shapes)}
    result = function(*[tape.input(name, shape) for name, shape in named.items()])
    return tape.program(_leaves(result))


def _leaves(tree: Any) -> list[Any]:
    if isinstance(tree, tuple | list):
        return [leaf for branch in tree for leaf in _leaves(branch)]
    return [tree]
