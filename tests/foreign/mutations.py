"""Mutants of a module's text: one operation of the StableHLO is changed at a time."""

import re
import struct
from collections.abc import Iterator
from itertools import permutations
from typing import NamedTuple

ASSIGNED = re.compile(r"^\s*(%[\w#]+) = ")
FLOAT = re.compile(r"dense<(-?\d\.\d+E[+-]\d+)>", re.IGNORECASE)
TYPE = re.compile(r"tensor<([\dx]*)f(?:32|64)>")
OTHER = {
    "stablehlo.add": ["stablehlo.subtract", "stablehlo.multiply"],
    "stablehlo.subtract": ["stablehlo.add"],
    "stablehlo.multiply": ["stablehlo.divide", "stablehlo.add"],
    "stablehlo.divide": ["stablehlo.multiply"],
    "stablehlo.rsqrt": ["stablehlo.sqrt"],
    "stablehlo.sqrt": ["stablehlo.rsqrt"],
    "chlo.erfc": ["chlo.erf"],
}


class Mutant(NamedTuple):
    """A changed text: the kind of change, the line where it is, the text."""

    kind: str
    line: int
    text: str


def mutants(text: str, function: str = "main") -> Iterator[Mutant]:
    """Yield the mutants of one function, some of which mean the same as the original; unused lines stay as they are."""
    lines = text.splitlines()
    begin = next(i for i, line in enumerate(lines) if f"@{function}(" in line)
    end = next(i for i in range(begin, len(lines)) if lines[i].strip() == "}" or lines[i].strip().startswith("return"))
    for number in sorted(live(lines, begin, end)):
        for kind, changed in _changes(lines[number]):
            yield Mutant(kind, number + 1, "\n".join([*lines[:number], changed, *lines[number + 1 :], ""]))
        for kind, name, source in _aliases(lines[number]):
            rest = [re.sub(rf"{re.escape(name)}(?![\w#])", source, line) for line in lines[number + 1 :]]
            yield Mutant(kind, number + 1, "\n".join([*lines[:number], *rest, ""]))


def live(lines: list[str], begin: int, end: int) -> set[int]:
    """Return the numbers of the lines that what is returned needs, directly or not."""
    needed, found = set(re.findall(r"%[\w]+", lines[end])), set()
    for number in range(end - 1, begin, -1):
        name = ASSIGNED.match(lines[number])
        if name and name[1].partition(":")[0] in needed:
            found.add(number)
            needed |= set(re.findall(r"%[\w]+", lines[number]))
    return found


def _changes(line: str) -> Iterator[tuple[str, str]]:
    """Yield (kind, changed line)."""
    for name, others in OTHER.items():
        if f" {name} " in line and "applies" not in line:
            for other in others:
                yield f"{name.split('.')[1]} for {other.split('.')[1]}", line.replace(f" {name} ", f" {other} ", 1)
    found = re.search(r"stablehlo\.(subtract|divide) (%[\w#]+), (%[\w#]+) :", line)
    if found and found[2] != found[3]:
        yield "operands swapped", line.replace(f"{found[2]}, {found[3]} :", f"{found[3]}, {found[2]} :", 1)
    found = re.search(r"stablehlo\.concatenate (%[\w#]+), (%[\w#]+), dim = \d : \((tensor<\S+>), (tensor<\S+>)\)", line)
    if found and found[3] == found[4]:
        yield "operands swapped", line.replace(f"{found[1]}, {found[2]},", f"{found[2]}, {found[1]},", 1)
    found = re.search(r"dot_general (%[\w#]+), (%[\w#]+),.*: \((tensor<\S+>), (tensor<\S+>)\)", line)
    if found and found[3] == found[4] and found[1] != found[2]:
        yield "operands swapped", line.replace(f"{found[1]}, {found[2]},", f"{found[2]}, {found[1]},", 1)
    yield from _literals(line)
    yield from _dimensions(line)
    yield from _places(line)


def _literals(line: str) -> Iterator[tuple[str, str]]:
    for found in FLOAT.finditer(line):
        bits = struct.unpack("<i", struct.pack("<f", float(found[1])))[0]
        if float(found[1]) in (0.0,):
            yield "literal", line.replace(found[0], "dense<1.000000e+00>", 1)
            continue
        for step in (2, -3):
            value = struct.unpack("<f", struct.pack("<i", bits + step))[0]
            yield "literal by some ulps", line.replace(found[0], f"dense<{value:.9e}>", 1)
        yield "sign", line.replace(found[0], f"dense<{-float(found[1]):.9e}>", 1)


def _dimensions(line: str) -> Iterator[tuple[str, str]]:
    """Other dimension numbers under which the line keeps its types."""
    sizes = [[int(n) for n in found.split("x") if n] for found in TYPE.findall(line)]
    found = re.search(r"stablehlo\.transpose %[\w#]+, dims = \[([\d, ]+)\]", line)
    if found and len(sizes) >= 2:
        order = [int(n) for n in found[1].split(",")]
        for other in permutations(range(len(order))):
            if list(other) != order and [sizes[0][k] for k in other] == sizes[1]:
                yield "dimension numbers", line.replace(f"dims = [{found[1]}]", f"dims = {list(other)}", 1)
    found = re.search(r"contracting_dims = \[(\d)\] x \[(\d)\]", line)
    if found and len(sizes) >= 2:
        left, right = sizes[0], sizes[1]
        for i, n in enumerate(left):
            for j, m in enumerate(right):
                if n == m and (i, j) != (int(found[1]), int(found[2])):
                    yield "dimension numbers", line.replace(found[0], f"contracting_dims = [{i}] x [{j}]", 1)
    found = re.search(r"batching_dims = \[(\d), (\d)\] x \[(\d), (\d)\]", line)
    if found:
        swapped = f"batching_dims = [{found[1]}, {found[2]}] x [{found[4]}, {found[3]}]"
        yield "dimension numbers", line.replace(found[0], swapped, 1)
    found = re.search(r"stablehlo\.broadcast_in_dim %[\w#]+, dims = \[([\d, ]+)\]", line)
    if found and len(sizes) >= 2:
        dims = [int(n) for n in found[1].split(",")]
        for other in permutations(range(len(sizes[1])), len(dims)):
            fits = all(n in (1, sizes[1][k]) for n, k in zip(sizes[0], other, strict=True))
            if list(other) != dims and fits and any(n > 1 for n in sizes[0]):
                yield "dimension numbers", line.replace(f"dims = [{found[1]}]", f"dims = {list(other)}", 1)
    found = re.search(r"across dimensions = \[(\d)\]", line)
    if found and len(sizes) >= 2:
        for axis in range(len(sizes[0])):
            rest = [n for k, n in enumerate(sizes[0]) if k != axis]
            if axis != int(found[1]) and rest == sizes[-1]:
                yield "dimension numbers", line.replace(found[0], f"across dimensions = [{axis}]", 1)


def _places(line: str) -> Iterator[tuple[str, str]]:
    """Slices that begin elsewhere, and paddings on the other side."""
    found = re.search(r"stablehlo\.slice %[\w#]+ \[([\d:, ]+)\] :", line)
    if found:
        sizes = [int(n) for n in TYPE.findall(line)[0].split("x") if n]
        parts = found[1].split(", ")
        for place, part in enumerate(parts):
            start, stop = map(int, part.split(":"))
            for step in (1, -1):
                if start + step >= 0 and stop + step <= sizes[place]:
                    moved = [*parts[:place], f"{start + step}:{stop + step}", *parts[place + 1 :]]
                    yield "slice start", line.replace(f"[{found[1]}]", f"[{', '.join(moved)}]", 1)
    found = re.search(r"low = \[([\d, ]+)\], high = \[([\d, ]+)\]", line)
    if found and found[1] != found[2]:
        yield "slice start", line.replace(found[0], f"low = [{found[2]}], high = [{found[1]}]", 1)
    if "applies stablehlo.add" in line:
        yield "sum for maximum", line.replace("applies stablehlo.add", "applies stablehlo.maximum", 1)


def _aliases(line: str) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, name, what it is taken for) of an operation that is left out."""
    name = ASSIGNED.match(line)
    found = re.search(r"stablehlo\.(add|subtract|multiply) (%[\w#]+), (%[\w#]+) :", line)
    if name and found:
        word = {"add": "dropped add", "subtract": "dropped add", "multiply": "dropped factor"}[found[1]]
        yield word, name[1], found[2]
        if found[2] != found[3] and found[1] != "subtract":
            yield word, name[1], found[3]
    found = re.search(r"stablehlo\.negate (%[\w#]+) :", line)
    if name and found:
        yield "sign", name[1], found[1]
