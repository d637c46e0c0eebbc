"""Programs as readable text that reads back to the same program.

axes N rows D=192
input x [1+N,D]
v1 = const value=-1/2*2^1/2
v2 = dot x x batch=[;] contract=[1;1]
return v2
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import MOST_LINES, Program
from vjproof.program.axes import NAME, axis_data, format_axis, parse_axis, shape_data
from vjproof.program.recorder import program_data, program_of

LONGEST = 2**24  # characters of one text
LONGEST_LINE = 2**16
MOST_FACTORS = 2**20  # factors and parts of all axes together: "4096" is short to write
_PAIRS = {"batch", "contract"}
_LISTS = {"places", "order", "axes"}
_INTS = {"start", "stop", "lead", "axis"}
_TEXTS = {"exponent", "symbol"}


def format_program(program: Program) -> str:
    """Return a program as text; VjproofError where a name of it cannot be written."""
    data = program_data(program)
    for name in (*data["axes"], *program.operations):
        _check_name(name)
    axes = [name if size is None else f"{name}={size}" for name, size in data["axes"].items()]
    lines = [" ".join(["axes", *axes])]
    for name, kind, arguments, attributes in data["lines"]:
        if kind == "input":
            lines.append(f"input {name} {_write('shape', attributes['shape'])}")
        else:
            written = [f"{key}={_write(key, value)}" for key, value in attributes.items()]
            lines.append(" ".join([name, "=", kind, *arguments, *written]))
    return "\n".join([*lines, " ".join(["return", *data["outputs"]]), ""])


def parse_program(text: str) -> Program:
    """Return the program that `text` writes; VjproofError with the number of the line that is malformed.

    Empty lines and lines that start with # are skipped.
    """
    if len(text) > LONGEST:
        raise VjproofError("program text", expected=f"at most {LONGEST} characters", got=str(len(text)))
    axes: dict[str, int | None] | None = None
    lines: list[Any] = []
    outputs: list[str] | None = None
    read = _Reader()
    numbers = []  # of the text's line for each of `lines`, then of `return`
    for number, line in enumerate(text.split("\n"), start=1):
        words = read.words(line, number)
        if not words:
            continue
        if outputs is not None or len(lines) > MOST_LINES:
            raise _malformed(number, line, "nothing after `return`, and no endless text")
        if axes is None:
            axes = read.axes(words, line, number)
            continue
        numbers.append(number)
        if words[1:2] == ["="]:
            lines.append(read.operation(words, line, number))
        elif words[0] == "input" and len(words) == 3:
            lines.append([_check_name(words[1]), "input", [], {"shape": read.attribute("shape", words[2], number)}])
        elif words[0] == "return":
            outputs = words[1:]
        else:
            raise _malformed(number, line, "`input NAME SHAPE`, `NAME = KIND ...` or `return NAME ...`")
    if axes is None or outputs is None:
        raise VjproofError("program text", expected="a first line `axes ...` and a last line `return ...`")
    return _checked({"axes": axes, "lines": lines, "outputs": outputs}, numbers)


def _checked(data: dict[str, Any], numbers: list[int]) -> Program:
    """Read a program; where it is refused, name the first line with which it is refused."""
    try:
        return program_of(data)
    except VjproofError as error:
        lines = data["lines"]

        def is_refused(count: int) -> bool:
            try:
                program_of({**data, "lines": lines[:count], "outputs": [lines[0][0]]})
            except VjproofError:
                return True
            return False

        first = bisect_left(range(1, len(lines) + 1), True, key=is_refused) if lines else 0
        raise VjproofError(f"program text, line {numbers[first]}: {error}") from None


class _Reader:
    def __init__(self) -> None:
        self._factors = 0

    def words(self, line: str, number: int) -> list[str]:
        """Split a line at its blanks; a blank after a comma, semicolon or bracket separates nothing."""
        if len(line) > LONGEST_LINE:
            raise _malformed(number, line, f"at most {LONGEST_LINE} characters")
        return [] if line.lstrip().startswith("#") else re.sub(r"(?<=[,;\[]) +", "", line).split()

    def axes(self, words: list[str], line: str, number: int) -> dict[str, int | None]:
        """Read `axes N D=192`."""
        axes: dict[str, int | None] = {}
        for word in words[1:]:
            found = re.fullmatch(rf"({NAME.pattern})(?:=([0-9]{{1,16}}))?", word)
            if not found or found[1] in axes:
                raise _malformed(number, line, "each axis once, as NAME or NAME=SIZE")
            axes[found[1]] = int(found[2]) if found[2] else None
        if words[0] != "axes":
            raise _malformed(number, line, "a first line `axes NAME NAME=SIZE ...`")
        return axes

    def operation(self, words: list[str], line: str, number: int) -> list[Any]:
        """Read `name = kind arguments key=value`."""
        name, _, kind, *rest = words if len(words) > 2 else [*words, ""]
        arguments = [word for word in rest if "=" not in word]
        pairs = [word.partition("=") for word in rest if "=" in word]
        if not NAME.fullmatch(name) or len({key for key, _, _ in pairs}) < len(pairs):
            raise _malformed(number, line, "a name, and each attribute once")
        return [name, kind, arguments, {key: self.attribute(key, value, number, kind) for key, _, value in pairs}]

    def attribute(self, key: str, text: str, number: int, kind: str = "input") -> Any:
        """Read the value of one attribute, in JSON form."""
        try:
            if key == "shape":
                return shape_data(tuple(self._axis(part) for part in _inside(text, ",")))
            if key == "axis" and kind == "size":
                return axis_data(self._axis(text))
            if key == "value":
                return _constant(text)
            if key in _PAIRS:
                left, right = _inside(text, ";")
                return [_integers(left), _integers(right)]
            if key in _LISTS:
                return _integers(text[1:-1] if text[:1] + text[-1:] == "[]" else "?")
            if key in _INTS:
                return _integers(text)[0]
        except (ValueError, IndexError):
            raise _malformed(number, f"{key}={text}", "a value of that attribute's form") from None
        except VjproofError as error:
            raise VjproofError(f"program text, line {number}: {error}") from None
        if key in _TEXTS:
            return text
        raise _malformed(number, f"{key}={text}", "an attribute of an operation")

    def _axis(self, text: str) -> tuple[Any, ...]:
        axis = parse_axis(text)
        self._factors += _weight(axis)
        if self._factors > MOST_FACTORS:
            raise VjproofError("axes", expected=f"at most {MOST_FACTORS} factors in all")
        return axis


def _write(key: str, value: Any) -> str:
    writers: dict[str, Callable[[Any], str]] = {
        "shape": lambda shape: f"[{','.join(format_axis(_axis_from(axis)) for axis in shape)}]",
        "value": lambda constant: "*".join([constant[0], *(f"{base}^{e}" for base, e in constant[1].items())]),
        "symbol": _check_name,
        **dict.fromkeys(_PAIRS, lambda pair: f"[{';'.join(','.join(map(str, places)) for places in pair)}]"),
        **dict.fromkeys(_LISTS, lambda places: f"[{','.join(map(str, places))}]"),
        "axis": lambda axis: str(axis) if isinstance(axis, int) else format_axis(_axis_from(axis)),
    }
    return writers.get(key, str)(value)


def _axis_from(data: Any) -> tuple[Any, ...]:
    return tuple(f if isinstance(f, str) else tuple(_axis_from(part) for part in f) for f in data)


def _inside(text: str, separator: str) -> list[str]:
    if text[:1] != "[" or text[-1:] != "]":
        raise ValueError(text)
    return text[1:-1].split(separator) if text != "[]" else []


def _integers(text: str) -> list[int]:
    numbers = text.split(",") if text else []
    if not all(re.fullmatch(r"[0-9]{1,6}", number) for number in numbers):
        raise ValueError(text)
    return [int(number) for number in numbers]


def _constant(text: str) -> list[Any]:
    rational, *powers = text.split("*")
    pairs = [power.split("^") for power in powers]
    constant = dict(pairs)
    if len(constant) < len(pairs):
        raise ValueError(text)
    return [rational, constant]


def _weight(axis: tuple[Any, ...]) -> int:
    return 1 + sum(1 if isinstance(factor, str) else sum(map(_weight, factor)) for factor in axis)


def _check_name(name: Any) -> str:
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise VjproofError(f"name {excerpt(name, 40)!r}", expected="letters, digits, _ and . after a letter or _")
    return name


def _malformed(number: int, line: str, expected: str) -> VjproofError:
    return VjproofError(f"program text, line {number}", expected=expected, got=excerpt(line))
