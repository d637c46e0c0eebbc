"""A module as it is written: literals are the floats that they are, composites their bodies, choices left to be made.

`read` asks what function a module means; this asks what it computes, up to the rounding of each operation. A choice by
numbers that depend on inputs becomes an input of the program, 1 where it holds and 0 where not, that whoever evaluates
the program finds from the difference of the two sides.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from vjproof.errors import VjproofError
from vjproof.kernel.program import Program, Shape
from vjproof.program.axes import shape_data
from vjproof.program.recorder import program_of
from vjproof.stablehlo.axis_inference import Clash, Dimensions
from vjproof.stablehlo.control import composite
from vjproof.stablehlo.graph import Graph, Node
from vjproof.stablehlo.graph_arithmetic import unary
from vjproof.stablehlo.isolated import PARSER
from vjproof.stablehlo.lowering import Lowering
from vjproof.stablehlo.module import Tensor
from vjproof.stablehlo.module_document import FLOATS
from vjproof.stablehlo.source import Source, sha256
from vjproof.stablehlo.unfold import Call, Unfolding
from vjproof.stablehlo.values import Captured, Value

COMPOSITE = "stablehlo.composite"
FUNCTIONS = {"chlo.erf": "erf", "chlo.erfc": "erfc"}
INFINITE = (float("inf"), float("-inf"))


@dataclass(frozen=True)
class Written:
    """A module as a program over the reals that computes what is written.

    `comparisons` maps an input of the program to (difference, direction): it is 1 where the difference of the two sides
    compares so with 0 (LT, LE, GT, GE, EQ, NE), else 0. `complements` are 1 less such values. `captured` holds constant
    arrays that are inputs too. `literals` maps a constant's line to (number, element type).
    """

    program: Program
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    captured: Mapping[str, Any]
    comparisons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    complements: frozenset[str] = frozenset()
    literals: Mapping[str, tuple[float, str]] = field(default_factory=dict)
    sha256: str = ""


def read_as_written(source: Source, function: str = "main", *, bodies: bool = True) -> Written:
    """Return a StableHLO module as it is written; without `bodies`, composites named chlo.erf and chlo.erfc are these.

    VjproofError as `read_stablehlo`.
    """
    from vjproof.stablehlo.subset import SUBSET

    where, graph, captured = "StableHLO module", _Exact(), Captured()
    functions = PARSER.parse(source, where)
    if function not in functions:
        raise VjproofError(where, expected=f"a function {function[:40]!r}", got=", ".join(functions)[:100] or "none")
    block, labels = functions[function].block, functions[function].labels
    table = SUBSET if bodies else {**SUBSET, COMPOSITE: SUBSET[COMPOSITE]._replace(handler=_by_name)}
    unfolding = Unfolding(functions, graph, captured, table)
    inputs = []
    for place, kind in enumerate(block.types):
        if kind.element not in FLOATS or kind.shape is None or 0 in kind.shape:
            raise VjproofError(
                f"{where}, argument {place}", expected="floats of a static shape, no size 0", got=str(kind)
            )
        inputs.append(graph.input(f"arg{place}", kind.shape))
    results = [unfolding.node(value) for value in unfolding.call(function, list(inputs), 0, where)]
    live, dimensions = sorted({*graph.live(results), *inputs}), Dimensions()
    classes = dimensions.add(graph, live)
    try:
        dimensions.infer()
    except Clash as clash:
        raise clash.error from None
    axes = {node: dimensions.axes(of) for node, of in classes.items()}
    kept = {
        node: str(graph.nodes[node].attributes[0])
        for node in live if graph.nodes[node].kind == "input" and graph.nodes[node].attributes[0] in captured.arrays
    }  # fmt: skip
    names = {node: f"arg{place}" for place, node in enumerate(inputs)} | kept
    lowering = _Lowering(graph, axes, dimensions.atoms(), names)
    lowering.write(live)
    outputs = [lowering.value(node) for node in results]
    return Written(
        program_of({"axes": dimensions.atoms(), "lines": lowering.lines, "outputs": outputs}),
        tuple(
            Tensor(names[node], kind.shape or (), kind.element, label)
            for node, kind, label in zip(inputs, block.types, labels, strict=True)
        ),
        tuple(
            Tensor(name, kind.shape or (), kind.element, "")
            for name, kind in zip(outputs, functions[function].results, strict=True)
        ),
        {name: captured.arrays[name] for name in kept.values()}, lowering.comparisons, frozenset(lowering.complements),
        lowering.literals, sha256(source),
    )  # fmt: skip


def _by_name(call: Call) -> list[Value]:
    """Return erf or erfc for the composite of that name, and what the decomposition returns for any other."""
    function = FUNCTIONS.get(str(call.attributes.get("name")))
    if function and len(call.operands) == 1:
        return [unary(call.graph, function, call.node(0))]
    return composite(call)


class _Exact(Graph):
    """A graph in which every literal is its own exact value."""

    def number(self, node: int) -> Fraction | None:
        found = self.literal(node)
        return None if found is None or found[0] in INFINITE or found[0] != found[0] else Fraction(found[0])


class _Lowering(Lowering):
    """Lines of a module as it is written, with its choices."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.comparisons: dict[str, tuple[str, str]] = {}
        self.complements: set[str] = set()
        self.literals: dict[str, tuple[float, str]] = {}

    def _node(self, node: Node, shape: Shape) -> str:
        if node.kind == "compare":
            difference = self._line("sub", [self._values[one] for one in node.inputs], {})
            name = f"choice{len(self.comparisons)}"
            self.comparisons[name] = difference, str(node.attributes[0])
            self.lines.append([name, "input", [], {"shape": shape_data(shape)}])
            return name
        if node.kind == "select":
            truth, yes, no = (self._values[one] for one in node.inputs)
            one = self._line("const", [], {"value": ["1", {}]})
            ones = self._line("broadcast", [one], {"places": [], "shape": shape_data(shape)})
            other = self._line("sub", [ones, truth], {})
            self.complements.add(other)
            return self._line("add", [self._line("mul", [truth, yes], {}), self._line("mul", [other, no], {})], {})
        return super()._node(node, shape)

    def _constant(self, key: Any, element: str) -> str:
        value = float.fromhex(key) if isinstance(key, str) else key
        if value in INFINITE or value != value:
            return super()._constant(key, element)
        name = self._line("const", [], {"value": [str(Fraction(value)), {}]})
        if isinstance(value, float):
            self.literals[name] = value, element
        return name
