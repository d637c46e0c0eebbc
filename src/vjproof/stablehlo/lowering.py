"""Lines of a program from a graph and the axes of its dimensions."""

from __future__ import annotations

from math import prod
from typing import Any

from vjproof.errors import VjproofError
from vjproof.kernel.program import Axis, Shape, factors_of, parts_of, union
from vjproof.program.axes import format_axis, shape_data
from vjproof.program.constants import read_literal
from vjproof.stablehlo.graph import Graph, Node

Line = list[Any]


class OutsideSubsetError(VjproofError):
    """A module is sound, and has an operation that no program can state."""


class Lowering:
    """Writes the lines of one graph; `sizes` gives the elements of atomic axes, `names` the inputs' names.

    Values with no attribute of their own are called v1, v2 ...; `places` maps them to where they stand.
    """

    def __init__(
        self, graph: Graph, axes: dict[int, Shape], sizes: dict[str, int | None], names: dict[int, str]
    ) -> None:
        self._graph, self._axes, self._sizes = graph, axes, sizes
        self._values = dict(names)
        self.lines: list[Line] = [
            [name, "input", [], {"shape": shape_data(axes[node])}] for node, name in names.items()
        ]
        self.places: dict[str, str] = {name: graph.nodes[node].place for node, name in names.items()}
        self.readings: list[tuple[float, str, list[Any], str]] = []
        self._place = ""

    def write(self, live: list[int]) -> None:
        """Write a line or more for each live node that is no input; VjproofError for one that no program can state."""
        for node in live:
            if node not in self._values:
                data = self._graph.nodes[node]
                self._place = data.place
                self._values[node] = self._node(data, self._axes[node])

    def value(self, node: int) -> str:
        """Return the name of a node's value."""
        return self._values[node]

    def _line(self, kind: str, arguments: list[str], attributes: dict[str, Any]) -> str:
        name = f"v{len(self.lines) + 1}"
        self.lines.append([name, kind, arguments, attributes])
        self.places[name] = self._place
        return name

    def _node(self, node: Node, shape: Shape) -> str:
        kind, inputs, attributes, sizes, place = node
        if kind == "refused":
            raise self._refusal(*str(attributes[0]).split(": ", 1))
        if kind in ("compare", "select"):
            raise self._refusal(f"stablehlo.{kind}", "a choice that depends on inputs")
        if prod(sizes) < 1:
            raise VjproofError(f"{kind} at {place}", expected="axes with at least one element", got=str(sizes))
        if kind == "const":
            return self._constant(*attributes)
        arguments = [self._values[one] for one in inputs]
        shapes = [self._axes[one] for one in inputs]
        if kind == "slice":
            return self._slice(arguments[0], shapes[0], shape, *attributes)
        if kind == "concat":
            return self._concat(arguments, shapes, shape, attributes[0])
        if kind == "reverse":
            return self._reverse(arguments[0], shape, attributes[0])
        if kind == "reshape":
            return self._reshape(arguments[0], shapes[0], shape)
        if kind == "larger":
            rows = [self._line("reshape", [one], {"shape": shape_data(((), *shape))}) for one in arguments]
            return self._line("max", [self._line("concat", rows, {"axis": 0})], {"axes": [0]})
        return self._line(kind, arguments, _attributes(kind, attributes, shape))

    def _refusal(self, name: str, why: str = "") -> VjproofError:
        return OutsideSubsetError(
            f"{name} at {self._place or 'an unknown line'}", expected="an operation in the subset that is read",
            got=why or name, remedy="see docs/stablehlo-subset.md",
        )  # fmt: skip

    def _constant(self, key: Any, element: str) -> str:
        value = float.fromhex(key) if isinstance(key, str) else key
        if isinstance(value, float) and not abs(value) < float("inf"):
            raise VjproofError(
                f"a constant at {self._place or 'an unknown line'}", expected="a finite number", got=str(value)
            )
        constant, exact = read_literal(value, element)
        if not exact:
            self.readings.append((float(value), element, constant, self._place))
        return self._line("const", [], {"value": constant})

    def _reshape(self, x: str, old: Shape, new: Shape) -> str:
        if old == new:
            return x
        if factors_of(old) != factors_of(new):
            raise self._unfit(old, new)
        return self._line("reshape", [x], {"shape": shape_data(new)})

    def _unfit(self, old: Any, new: Any) -> VjproofError:
        def text(shape: Any) -> str:
            return "[" + ",".join(map(format_axis, shape)) + "]"

        return VjproofError(
            f"axes at {self._place or 'an unknown line'}",
            expected=f"splits that fit {text(new)}"[:160], got=text(old)[:160],
        )  # fmt: skip

    def _count(self, axis: Axis) -> int:
        return prod(
            int(self._sizes[factor] or 0) if isinstance(factor, str) else sum(map(self._count, factor))
            for factor in axis
        )

    def _slice(self, x: str, old: Shape, new: Shape, dim: int, start: int, stop: int) -> str:
        name, axis = self._section(x, old, dim, start, stop)
        return self._reshape(name, (*old[:dim], axis, *old[dim + 1 :]), new)

    def _section(self, x: str, shape: Shape, dim: int, start: int, stop: int) -> tuple[str, Axis]:
        """Return x from start to stop - 1 along a dimension, with the axis that this dimension then is."""
        axis, before, after = shape[dim], shape[:dim], shape[dim + 1 :]
        if (start, stop) == (0, self._count(axis)):
            return x, axis
        if len(axis) > 1:  # rows of a product: cut its leading factor
            row = self._count(axis[1:])
            x = self._reshape(x, shape, (*before, axis[:1], axis[1:], *after))
            x, lead = self._section(x, (*before, axis[:1], axis[1:], *after), dim, start // row, stop // row)
            return self._reshape(x, (*before, lead, axis[1:], *after), (*before, (*lead, *axis[1:]), *after)), (
                *lead, *axis[1:],
            )  # fmt: skip
        parts = parts_of(axis)
        if len(parts) == 1:
            raise self._unfit([axis], [axis])
        pieces: list[tuple[str, Axis]] = []
        at = first = 0
        run: list[int] = []
        for place, part in enumerate(parts):
            size = self._count(part)
            low, high = max(start - at, 0), min(stop - at, size)
            at += size
            if low >= high:
                continue
            if (low, high) == (0, size):
                run = run or [place]
                run[1:] = [place + 1]
                continue
            if run:
                pieces.append(self._parts(x, shape, dim, *run))
                run = []
            inner, whole = self._parts(x, shape, dim, place, place + 1)
            pieces.append(self._section(inner, (*before, whole, *after), dim, low, high))
            first += 1
        if run:
            pieces.append(self._parts(x, shape, dim, *run))
        if len(pieces) == 1:
            return pieces[0]
        return self._line("concat", [name for name, _ in pieces], {"axis": dim}), union([part for _, part in pieces])

    def _parts(self, x: str, shape: Shape, dim: int, start: int, stop: int) -> tuple[str, Axis]:
        parts = parts_of(shape[dim])
        if (start, stop) == (0, len(parts)):
            return x, shape[dim]
        return self._line("slice", [x], {"axis": dim, "start": start, "stop": stop}), union(parts[start:stop])

    def _concat(self, values: list[str], shapes: list[Shape], new: Shape, dim: int) -> str:
        axes = [shape[dim] for shape in shapes]
        wanted, before, after = new[dim], new[:dim], new[dim + 1 :]
        if union(axes) == wanted:
            return self._line("concat", values, {"axis": dim})
        rest = wanted[1:]
        leads = [axis[: len(axis) - len(rest)] for axis in axes]
        rows = [(*lead, *rest) for lead in leads]
        if not rest or rows != axes or union(leads) != wanted[:1]:
            raise self._unfit(axes, [wanted])
        split = [
            self._reshape(value, (*before, axis, *after), (*before, lead, rest, *after))
            for value, axis, lead in zip(values, axes, leads, strict=True)
        ]
        joined = self._line("concat", split, {"axis": dim})
        return self._reshape(joined, (*before, wanted[:1], rest, *after), new)

    def _reverse(self, x: str, shape: Shape, dims: tuple[int, ...]) -> str:
        for dim in dims:
            count = len(parts_of(shape[dim]))
            pieces = [self._parts(x, shape, dim, place, place + 1)[0] for place in reversed(range(count))]
            x = self._line("concat", pieces, {"axis": dim})
        return x


def _attributes(kind: str, attributes: tuple[Any, ...], shape: Shape) -> dict[str, Any]:
    if kind == "broadcast":
        return {"places": list(attributes[0]), "shape": shape_data(shape)}
    if kind == "transpose":
        return {"order": list(attributes[0])}
    if kind in ("sum", "max"):
        return {"axes": list(attributes[0])}
    if kind == "power":
        return {"exponent": str(attributes[0])}
    if kind == "dot":
        return {"batch": [list(dims) for dims in attributes[0]], "contract": [list(dims) for dims in attributes[1]]}
    return {}
