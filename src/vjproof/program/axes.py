"""Axes as text and as JSON: `h*c` is a product, `1+N` a union, `1` the unit axis, `3` a union of three units."""

from __future__ import annotations

import re
from itertools import groupby
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import parts_of, union

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]*")
MOST_UNITS = 4096  # a longer axis has a name
DEEPEST = 20
_TOKEN = re.compile(rf"({NAME.pattern})|([0-9]{{1,9}})|([+*()])")


def format_axis(axis: tuple[Any, ...]) -> str:
    """Return an axis as text that `parse_axis` reads back."""
    parts = parts_of(axis)
    if parts == (axis,):
        return "*".join(factor if isinstance(factor, str) else _union_factor(factor) for factor in axis) or "1"
    texts = []
    for is_unit, run in groupby(parts, key=lambda part: part == ()):
        members = list(run)
        texts += [str(len(members))] if is_unit else [format_axis(part) for part in members]
    return "+".join(texts)


def _union_factor(parts: tuple[Any, ...]) -> str:
    text = format_axis((parts,))
    return text if text.isdigit() else f"({text})"


def format_shape(shape: tuple[Any, ...]) -> str:
    """Return a shape as text, such as `[1+N,h*c]`."""
    return f"[{','.join(map(format_axis, shape))}]"


def parse_axis(text: str) -> tuple[Any, ...]:
    """Return the axis that `text` writes; VjproofError where it is malformed, too deep or too long."""
    tokens, end = [], 0
    bare = text.replace(" ", "")
    while end < len(bare):
        found = _TOKEN.match(bare, end)
        if not found or end > MOST_UNITS:
            raise _malformed(text)
        tokens.append(found.group())
        end = found.end()
    axis, rest = _sum(tokens, 0, 0, text)
    if rest != len(tokens):
        raise _malformed(text)
    return axis


def _sum(tokens: list[str], at: int, depth: int, text: str) -> tuple[tuple[Any, ...], int]:
    parts: list[tuple[Any, ...]] = []
    while True:
        part, at = _product(tokens, at, depth, text)
        parts.append(part)
        if sum(len(parts_of(each)) for each in parts) > MOST_UNITS:
            raise _malformed(text)
        if at == len(tokens) or tokens[at] != "+":
            return union(parts), at
        at += 1


def _product(tokens: list[str], at: int, depth: int, text: str) -> tuple[tuple[Any, ...], int]:
    factors: tuple[Any, ...] = ()
    while True:
        word = tokens[at] if at < len(tokens) else ""
        if word == "(" and depth < DEEPEST:
            factor, at = _sum(tokens, at + 1, depth + 1, text)
            if at == len(tokens) or tokens[at] != ")":
                raise _malformed(text)
        elif word.isdigit() and 1 <= int(word) <= MOST_UNITS:
            factor = union([()] * int(word))
        elif NAME.fullmatch(word):
            factor = (word,)
        else:
            raise _malformed(text)
        factors += factor
        at += 1
        if at == len(tokens) or tokens[at] != "*":
            return factors, at
        at += 1


def _malformed(text: str) -> VjproofError:
    return VjproofError(
        f"axis {excerpt(text, 40)!r}",
        expected=f"names and counts from 1 to {MOST_UNITS} joined by + and *, such as 1+rows*cols",
    )


def axis_data(axis: tuple[Any, ...]) -> list[Any]:
    """Return an axis as nested lists, the JSON form."""
    return [factor if isinstance(factor, str) else [axis_data(part) for part in factor] for factor in axis]


def shape_data(shape: tuple[Any, ...]) -> list[Any]:
    """Return a shape as nested lists, the JSON form."""
    return [axis_data(axis) for axis in shape]
