"""Values of a program in words: what a side condition or a value that resisted is, written out from the inputs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from vjproof.kernel.program import Operation, Program, parts_of
from vjproof.program.axes import format_axis

LONGEST = 160  # characters of one expression
DEEPEST = 8  # operations inside one another
LOOSE, PRODUCT, TIGHT = 0, 1, 2  # how strongly an expression holds together
_SIGNS = {"add": ("+", LOOSE), "sub": ("-", LOOSE), "mul": ("*", PRODUCT), "div": ("/", PRODUCT)}
_CONDITION = re.compile(r"where (forward|second): (\S+) (.+)")
RESISTED = re.compile(r"(\S+) is not shown to be the (value|adjoint) of (\S+)(.*)")


def expression(program: Program, name: str, limit: int = LONGEST) -> str:
    """Return what defines a value, as text over the program's inputs; what is longer than `limit` is left out as ..."""
    for depth in range(DEEPEST, 0, -1):
        text, _ = _written(program, name, depth)
        if len(text) <= limit:
            return text
    return "..."


def constant(data: Any) -> str:
    """Return a constant in the kernel's JSON form as text, such as 1/2 * 2^(1/2)."""
    rational, powers = data
    factors = [f"{base}^({exponent})" for base, exponent in powers.items()]
    return " * ".join([*([] if rational == "1" and factors else [rational]), *factors])


def statement(lines: Sequence[str], forward: Program, second: Program) -> list[str]:
    """Return a statement with the values that its side conditions name written out, each condition once."""
    programs = {"forward": forward, "second": second}
    said: dict[str, str] = {}
    for line in lines:
        found = _CONDITION.fullmatch(line)
        if found and found[2] in programs[found[1]].operations:
            text = expression(programs[found[1]], found[2])
            place = "" if text == found[2] else f" ({found[2]} of the {found[1]} program)"
            said.setdefault(f"where {text} {found[3]}", place)
        else:
            said.setdefault(line, "")
    return [line + place for line, place in said.items()]


def resisted(reason: str, forward: Program, second: Program) -> list[str]:
    """Return the reason why something is not proved, with the values that it names written out."""
    found = RESISTED.fullmatch(reason)
    if not found or found[1] not in second.operations or found[3] not in forward.operations:
        return [reason]
    what = "the cotangent of" if found[2] == "adjoint" else ""
    lines = [f"{found[1]} = {expression(second, found[1])}, in the second program,"]
    lines.append(f"is not shown to be {what} {found[3]}".replace("  ", " ") + found[4])
    if forward.operations[found[3]].kind != "input":
        lines[-1] += f", where {found[3]} = {expression(forward, found[3])}"
    return lines


def _written(program: Program, name: str, depth: int) -> tuple[str, int]:
    """Return the text of a value and how strongly it holds together."""
    operation = program.operations[name]
    if operation.kind == "input":
        return name, TIGHT
    if operation.kind in ("const", "size"):
        return _number(operation)
    if depth == 0:
        return "...", TIGHT

    def inside(argument: str, least: int = LOOSE) -> str:
        text, strength = _written(program, argument, depth - 1)
        return text if strength >= least else f"({text})"

    kind, arguments = operation.kind, operation.arguments
    if kind in ("broadcast", "reshape"):
        return _written(program, arguments[0], depth)
    if kind in _SIGNS:
        sign, strength = _SIGNS[kind]
        right = strength + 1 if kind in ("sub", "div") else strength
        return f"{inside(arguments[0], strength)} {sign} {inside(arguments[1], right)}", strength
    if kind == "neg":
        return f"-{inside(arguments[0], PRODUCT)}", LOOSE
    if kind == "power":
        exponent = operation.attributes["exponent"]
        return f"{inside(arguments[0], TIGHT)}^{exponent if exponent.isdigit() else f'({exponent})'}", PRODUCT
    return _call(program, operation, inside), TIGHT


def _call(program: Program, operation: Operation, inside: Callable[[str], str]) -> str:
    kind, attributes = operation.kind, operation.attributes
    texts = ", ".join(map(inside, operation.arguments))
    if kind in ("sum", "max"):
        shape = program.shape(operation.arguments[0])
        return f"{kind}({texts} over {', '.join(format_axis(shape[place]) for place in attributes['axes'])})"
    if kind == "dot":
        shape = program.shape(operation.arguments[0])
        return f"dot({texts} over {', '.join(format_axis(shape[place]) for place in attributes['contract'][0])})"
    if kind == "slice":
        parts = parts_of(program.shape(operation.arguments[0])[attributes["axis"]])
        taken = "+".join(map(format_axis, parts[attributes["start"] : attributes["stop"]]))
        return f"part({texts}, {taken})"
    label = attributes["symbol"] if kind in ("call", "call_back") else kind
    return f"{label}{' back' if kind == 'call_back' else ''}({texts})"


def _number(operation: Operation) -> tuple[str, int]:
    """Return a constant, or a power of a size, as text."""
    attributes: dict[str, Any] = operation.attributes
    if operation.kind == "size":
        axis = tuple(_axis(attributes["axis"]))
        bare, exponent = format_axis(axis), attributes["exponent"]
        bare = bare if len(axis) == 1 and isinstance(axis[0], str) else f"({bare})"
        return (bare if exponent == "1" else f"{bare}^{exponent if exponent.isdigit() else f'({exponent})'}"), TIGHT
    text = constant(attributes["value"])
    return text, TIGHT if text.isdigit() else LOOSE if text[0] == "-" else PRODUCT


def _axis(data: Any) -> list[Any]:
    return [factor if isinstance(factor, str) else tuple(tuple(_axis(part)) for part in factor) for factor in data]
