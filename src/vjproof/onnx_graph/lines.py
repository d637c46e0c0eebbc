"""What each operation of a program becomes as ONNX nodes.

ONNX broadcasts by itself, so a value may stand with a smaller shape that NumPy's rules broadcast to its own; it is
expanded only where an operator needs all of it. One axis at most has a symbolic size, the batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from vjproof.errors import VjproofError
from vjproof.kernel.program import Operation, Program, parts_of
from vjproof.onnx_graph.graph import Graph
from vjproof.onnx_graph.scalars import fold
from vjproof.onnx_graph.sizes import Sizes, axis_size, common_sizes, product, total, unit_axes

BINARY = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
BOUNDS = ("start", "stop")
UNARY = {"neg": "Neg", "exp": "Exp", "erf": "Erf", "tanh": "Tanh", "logistic": "Sigmoid"}


@dataclass(frozen=True)
class Value:
    """A name in the graph with the shape that it has there, which broadcasts to the program's shape."""

    name: str
    sizes: Sizes


class Lines:
    """Writes the lines of a program into a graph.

    `inputs` gives their names there, `numbers` the values of inputs that become constants; the leading axis of
    `batched`, a name in the graph, is the batch.
    """

    def __init__(
        self, program: Program, graph: Graph, inputs: Mapping[str, str], numbers: Mapping[str, float], batched: str
    ) -> None:
        self._program, self._graph, self._inputs, self._source = program, graph, inputs, batched
        self._folded = fold(program, numbers)
        self._values: dict[str, Value] = {}

    def write(self) -> list[str]:
        """Write what the outputs need and return the outputs' names."""
        needed, pending = set(), list(self._program.outputs)
        while pending:
            name = pending.pop()
            if name not in needed:
                needed.add(name)
                pending += () if name in self._folded else self._program.operations[name].arguments
        for name, op in self._program.operations.items():
            if name in needed:
                self._values[name] = self._line(op)
        return [self._whole(output).name for output in self._program.outputs]

    def _line(self, op: Operation) -> Value:
        if op.name in self._folded:
            return Value(self._graph.number(self._folded[op.name]), ())
        if op.kind == "input":
            return Value(self._inputs[op.name], self._sizes(op.name))
        if op.kind in BINARY:
            left, right = (self._values[name] for name in op.arguments)
            return Value(
                self._graph.node(BINARY[op.kind], [left.name, right.name]), common_sizes(left.sizes, right.sizes)
            )
        if op.kind in UNARY or op.kind in ("erfc", "power"):
            x = self._values[op.arguments[0]]
            return Value(self._unary(op, x.name), x.sizes)
        write: Callable[[Operation], str] | None = getattr(self, f"_{op.kind}", None)
        if op.kind == "broadcast":
            return self._broadcast(op)
        if op.kind == "size":
            raise _refusal(op.name, "a number that does not depend on how many images there are")
        if write is None:
            raise VjproofError(f"operation {op.kind}", expected="one that ONNX graphs are written for")
        return Value(write(op), self._sizes(op.name))

    def _unary(self, op: Operation, x: str) -> str:
        graph = self._graph
        if op.kind == "erfc":  # ONNX has no erfc: the far tail keeps an absolute error of one rounding
            return graph.node("Sub", [graph.number(1.0), graph.node("Erf", [x])])
        if op.kind != "power":
            return graph.node(UNARY[op.kind], [x])
        exponent = Fraction(op.attributes["exponent"])
        if abs(exponent) not in (Fraction(1, 2), 1):
            return graph.node("Pow", [x, graph.number(float(exponent))])
        root = graph.node("Sqrt", [x]) if exponent.denominator == 2 else x
        return graph.node("Reciprocal", [root]) if exponent < 0 else root

    def _broadcast(self, op: Operation) -> Value:
        """Put the axes in their order and unit axes behind them; leading axes are added by whoever reads the value."""
        x, places = self._values[op.arguments[0]], op.attributes["places"]
        if not x.sizes:
            return x
        if len(x.sizes) < len(places):
            x = self._whole(op.arguments[0])
        order = sorted(range(len(places)), key=places.__getitem__)
        name = self._permuted(x.name, order)
        first, rank = min(places), len(op.shape)
        missing = [place - first for place in range(first, rank) if place not in places]
        sizes = dict(zip(places, x.sizes, strict=True))
        if missing:
            name = self._graph.node("Unsqueeze", [name, self._graph.integers(missing)])
        return Value(name, tuple(sizes.get(place, 1) for place in range(first, rank)))

    def _sum(self, op: Operation) -> str:
        return self._reduced("ReduceSum", op)

    def _max(self, op: Operation) -> str:
        return self._reduced("ReduceMax", op)

    def _reduced(self, operator: str, op: Operation) -> str:
        axes = self._graph.integers(op.attributes["axes"])
        return self._graph.node(operator, [self._whole(op.arguments[0]).name, axes], keepdims=0)

    def _transpose(self, op: Operation) -> str:
        return self._permuted(self._whole(op.arguments[0]).name, op.attributes["order"])

    def _reshape(self, op: Operation) -> str:
        return self._reshaped(self._whole(op.arguments[0]), self._sizes(op.name))

    def _concat(self, op: Operation) -> str:
        names = [self._whole(argument).name for argument in op.arguments]
        return self._graph.node("Concat", names, axis=op.attributes["axis"])

    def _slice(self, op: Operation) -> str:
        at = op.attributes["axis"]
        parts = parts_of(self._program.shape(op.arguments[0])[at])
        bounds = [total([axis_size(part, self._program) for part in parts[: op.attributes[end]]]) for end in BOUNDS]
        known = [bound for bound in bounds if bound is not None]
        if len(known) < len(bounds):
            raise _refusal(op.name, "a slice whose bounds are numbers")
        numbers = [self._graph.integers([number]) for number in (*known, at)]
        return self._graph.node("Slice", [self._whole(op.arguments[0]).name, *numbers])

    def _dot(self, op: Operation) -> str:
        """Write a MatMul; axes are put in order first, and grouped where there is not one of each kind."""
        (batch_x, batch_y), (sum_x, sum_y) = op.attributes["batch"], op.attributes["contract"]
        x, y = (self._whole(argument) for argument in op.arguments)
        free_x = [place for place in range(len(x.sizes)) if place not in batch_x + sum_x]
        free_y = [place for place in range(len(y.sizes)) if place not in batch_y + sum_y]
        left, right = self._permuted(x.name, batch_x + free_x + sum_x), self._permuted(y.name, batch_y + sum_y + free_y)
        rows_fit = len(free_x) == 1 or (not batch_x and len(free_x) > 1)
        if rows_fit and len(sum_x) == 1 and len(free_y) == 1:
            return self._graph.node("MatMul", [left, right])
        lead = [x.sizes[place] for place in batch_x]
        rows, summed, columns = (
            product([sizes[place] for place in places])
            for sizes, places in ((x.sizes, free_x), (x.sizes, sum_x), (y.sizes, free_y))
        )
        grouped = self._graph.node(
            "MatMul", [self._to_shape(left, [*lead, rows, summed]), self._to_shape(right, [*lead, summed, columns])]
        )
        return self._to_shape(grouped, list(self._sizes(op.name)))

    def _permuted(self, name: str, order: Sequence[int]) -> str:
        in_order = list(order) == list(range(len(order)))
        return name if in_order else self._graph.node("Transpose", [name], perm=list(order))

    def _reshaped(self, x: Value, sizes: Sizes) -> str:
        """Write Unsqueeze or Squeeze where only unit axes come or go, else Reshape."""
        for more, less, operator in ((sizes, x.sizes, "Unsqueeze"), (x.sizes, sizes, "Squeeze")):
            units = unit_axes(more, less)
            if units is not None:
                return self._graph.node(operator, [x.name, self._graph.integers(units)])
        return self._to_shape(x.name, list(sizes))

    def _to_shape(self, name: str, sizes: Sequence[int | None]) -> str:
        return self._graph.node("Reshape", [name, self._graph.integers([-1 if n is None else n for n in sizes])])

    def _whole(self, name: str) -> Value:
        """Return a value with all its axes and sizes."""
        value, sizes = self._values[name], self._sizes(name)
        if value.sizes == sizes:
            return value
        return Value(self._graph.node("Expand", [value.name, self._shape(name, sizes)]), sizes)

    def _shape(self, name: str, sizes: Sizes) -> str:
        """Return the name of a list of sizes; the batch in it is read off an input when the graph runs."""
        graph = self._graph
        if None not in sizes:
            return graph.integers([n for n in sizes if n is not None])
        at = sizes.index(None)
        axis = self._program.shape(name)[at]
        if len(axis) != 1 or not isinstance(axis[0], str):
            raise _refusal(name, "the batch as an axis of its own where a value repeats along it")
        parts = [graph.integers([n or 0 for n in part]) for part in (sizes[:at], sizes[at + 1 :]) if part]
        parts.insert(1 if at else 0, graph.node("Shape", [self._source], start=0, end=1))
        return graph.node("Concat", parts, axis=0) if len(parts) > 1 else parts[0]

    def _sizes(self, name: str) -> Sizes:
        sizes = tuple(axis_size(axis, self._program) for axis in self._program.shape(name))
        if sizes.count(None) > 1:
            raise _refusal(name, "one batch axis at most")
        return sizes


def _refusal(name: str, expected: str) -> VjproofError:
    return VjproofError(f"line {name}", expected=expected, got="another use of the batch")
