"""Unfolding: a module's main function as one graph; calls entered, loops of known length run, branches chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.limits import MOST_CALLS, MOST_OPERATIONS
from vjproof.stablehlo.module_document import FLOATS, INTEGERS, Block, Function, Operation, TensorType
from vjproof.stablehlo.values import Captured, Known, Value, as_node, refuse

MOST_KNOWN = 2**28  # numbers of known arrays, in all
PASSING = {  # operations that may leave an operand unused
    "func.call", "stablehlo.composite", "stablehlo.while", "stablehlo.case", "stablehlo.if", "stablehlo.select",
    "stablehlo.optimization_barrier",
}  # fmt: skip
LARGEST = 2**40  # elements of one tensor; none of them is made here


@dataclass
class Unfolding:
    """What unfolding a module knows and gathers: its functions, the graph, and what is to be declared.

    `declared` lists (words, place) of each thing that is read as something else: a conversion of number formats.
    """

    functions: dict[str, Function]
    graph: Graph
    captured: Captured
    table: Any
    declared: list[tuple[str, str]] = field(default_factory=list)
    steps: int = 0
    known: int = 0

    def node(self, value: Value) -> int:
        """Return a value as a node of the graph."""
        return as_node(self.graph, self.captured, value)

    def call(self, name: str, arguments: Sequence[Value], depth: int, where: str) -> list[Value]:
        """Return the results of a function; VjproofError where there is none of that name or calls nest too deeply."""
        if name not in self.functions:
            raise VjproofError(where, expected="a function of the module", got=excerpt(repr(name), 60))
        if depth > MOST_CALLS:
            raise VjproofError(where, expected=f"at most {MOST_CALLS} calls within calls", got="more")
        return self.run(self.functions[name].block, arguments, {}, depth, where)

    def run(
        self, block: Block, arguments: Sequence[Value], outer: dict[int, Value], depth: int, where: str
    ) -> list[Value]:
        """Return what a block returns on arguments; `outer` holds the values around it."""
        if len(arguments) != len(block.arguments) or not block.operations:
            raise VjproofError(where, expected=f"{len(block.arguments)} arguments and a body", got=str(len(arguments)))
        values = dict(outer)
        values.update(zip(block.arguments, arguments, strict=True))
        for operation in block.operations:
            self.steps += 1
            if self.steps > MOST_OPERATIONS:
                raise VjproofError(where, expected=f"at most {MOST_OPERATIONS} operations once unfolded", got="more")
            operands = [values[operand] for operand in operation.operands]
            if operation.name in ("func.return", "stablehlo.return"):
                return operands
            results = self.operation(operation, operands, values, depth)
            values.update(zip(operation.results, results, strict=True))
        raise VjproofError(where, expected="a block that ends in return", got=excerpt(block.operations[-1].name, 60))

    def operation(
        self, operation: Operation, operands: list[Value], values: dict[int, Value], depth: int
    ) -> list[Value]:
        """Return the results of one operation, by its entry in the table; refused values where it has none."""
        graph = self.graph
        place, graph.place = graph.place, operation.place or graph.place
        try:
            for kind in operation.types:
                if reason := _unreadable(kind):
                    return self.refused(operation, f"a result of type {reason}", operands)
            if operation.name not in PASSING and any(map(self.is_refused, operands)):
                return self.refused(operation, "an operand that is refused", operands)
            entry = self.table.get(operation.name)
            if entry is None:
                return self.refused(operation, "not in the subset that is read", operands)
            results = list(entry.handler(Call(self, operation, operands, values, depth)))
            self.known += sum(value.array.size for value in results if isinstance(value, Known))
            if self.known > MOST_KNOWN:
                raise VjproofError(operation.name, expected=f"at most {MOST_KNOWN} known numbers in all", got="more")
            return results
        finally:
            graph.place = place

    def is_refused(self, value: Value) -> bool:
        """Say whether a value is one that no program can state."""
        return not isinstance(value, Known) and self.graph.nodes[value].kind == "refused"

    def refused(self, operation: Operation, why: str, operands: Sequence[Value]) -> list[Value]:
        """Return refused values for the results of an operation."""
        name = excerpt(operation.attributes.get("call_target_name", ""), 60)
        words = f"{operation.name}{f' @{name}' if name else ''}: {why}"
        inputs = tuple(value for value in operands if not isinstance(value, Known))
        return refuse(self.graph, words, operation.types, inputs)


@dataclass
class Call:
    """One operation being read: its operands, attributes and result types, and helpers for its handler."""

    unfolding: Unfolding
    operation: Operation
    operands: list[Value]
    values: dict[int, Value]
    depth: int

    @property
    def graph(self) -> Graph:
        """The graph that is being made."""
        return self.unfolding.graph

    @property
    def attributes(self) -> dict[str, Any]:
        """The operation's attributes."""
        return self.operation.attributes

    @property
    def shape(self) -> tuple[int, ...]:
        """The sizes of the first result."""
        return self.operation.types[0].shape or ()

    @property
    def element(self) -> str:
        """The element type of the first result."""
        return self.operation.types[0].element

    @property
    def where(self) -> str:
        """The operation's name and place, for messages."""
        return f"{self.operation.name} at {self.operation.place or 'an unknown line'}"

    def node(self, place: int) -> int:
        """Return an operand as a node."""
        return self.unfolding.node(self.operands[place])

    def nodes(self) -> list[int]:
        """Return all operands as nodes."""
        return [self.unfolding.node(value) for value in self.operands]

    def sizes(self, value: Value) -> tuple[int, ...]:
        """Return the sizes of an array, known or not."""
        return value.shape if isinstance(value, Known) else self.graph.shape(value)

    def known(self) -> list[Any] | None:
        """Return the numbers of all operands where all are known arrays, else None."""
        arrays = [value.array for value in self.operands if isinstance(value, Known)]
        return arrays if len(arrays) == len(self.operands) else None

    def refuse(self, why: str) -> list[Value]:
        """Return refused values for the results."""
        return self.unfolding.refused(self.operation, why, self.operands)


Handler = Callable[[Call], Sequence[Value]]


def _unreadable(kind: TensorType) -> str:
    """Return the words for a type that is not read, "" for one that is."""
    if kind.shape is None:
        return kind.element
    if kind.element not in FLOATS and kind.element not in INTEGERS:
        return str(kind)
    return f"{kind}, which is too large" if prod(kind.shape) > LARGEST else ""
