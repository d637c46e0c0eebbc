"""Reading StableHLO: a module, or a forward and a gradient module over common axes, as programs of the kernel."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from vjproof.errors import VjproofError, excerpt
from vjproof.program.recorder import program_of
from vjproof.stablehlo.approximations import Approximation, recognise_functions
from vjproof.stablehlo.axis_inference import Dimensions
from vjproof.stablehlo.branches import Condition, settle_choices
from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.guards import Guard, assume_guards
from vjproof.stablehlo.isolated import PARSER
from vjproof.stablehlo.lowering import Lowering
from vjproof.stablehlo.module import Branch, Module, Reading, Tensor
from vjproof.stablehlo.module_document import FLOATS, Function
from vjproof.stablehlo.unfold import Unfolding
from vjproof.stablehlo.values import Captured, Value

Source = str | bytes


class End(NamedTuple):
    """An argument or a result of one of two modules: "input" or "output", and its place from 0."""

    kind: Literal["input", "output"]
    place: int


class Link(NamedTuple):
    """An end of the forward module that has the same axes as an end of the gradient module.

    Two linked inputs are one input: both programs call it by one name.
    """

    forward: End
    gradient: End


@dataclass
class _Read:
    """A module unfolded and not yet lowered."""

    source: Source
    function: Function
    unfolding: Unfolding
    inputs: list[int]
    outputs: list[int]
    live: list[int]
    classes: dict[int, list[int]]
    conditions: list[Condition]
    approximations: list[Approximation]
    guards: list[Guard]


def read_stablehlo(source: Source, function: str = "main") -> Module:
    """Return a StableHLO module, as text, bytecode or portable artifact, as a Program with all that was read into it.

    Sizes are those of the module; axes are told apart by dataflow. VjproofError, with the operation and its line, for
    what is not in the subset (docs/stablehlo-subset.md), does not parse, or is too large.
    """
    dimensions = Dimensions()
    one = _unfold(source, function, dimensions, "StableHLO module")
    dimensions.infer()
    lowering = _lower(one, dimensions, [f"arg{place}" for place in range(len(one.inputs))])
    return _module(one, lowering, dimensions.atoms())


def read_pair(
    forward: Source,
    gradient: Source,
    links: Sequence[Link],
    *,
    functions: tuple[str, str] = ("main", "main"),
    cotangent: str = "d_y",
    guards: bool = False,
) -> tuple[Module, Module]:
    """Return two modules as Programs over the same axes, which are inferred in both together.

    `links` says which arguments and results of the two have the same axes: shared arguments, results of the forward
    module and the cotangents of them, results of the gradient module and the arguments that they belong to. The inputs
    of the forward program are arg0, arg1 ...; a linked input of the gradient program has the same name, one that is
    linked to result k of the forward module is called d_y (d_y0, d_y1 ... if there are several results), others
    extra0, extra1 ...  With `guards` a maximum with a literal, or a choice by a comparison with one, is read as one of
    its sides, where it is the same everywhere at a random point; `Module.guards` lists what is assumed so. VjproofError
    as `read_stablehlo`, and where linked arrays have different sizes.
    """
    dimensions = Dimensions()
    first = _unfold(forward, functions[0], dimensions, "forward module", guards)
    second = _unfold(gradient, functions[1], dimensions, "gradient module", guards)
    names = [f"arg{place}" for place in range(len(first.inputs))]
    theirs = [f"extra{place}" for place in range(len(second.inputs))]
    for here, there in links:
        left, right = _end(first, here, "forward module"), _end(second, there, "gradient module")
        if first.unfolding.graph.shape(left) != second.unfolding.graph.shape(right):
            raise VjproofError(
                f"{there.kind} {there.place} of the gradient module", got=str(second.unfolding.graph.shape(right)),
                expected=f"{first.unfolding.graph.shape(left)}, as {here.kind} {here.place} of the forward module",
            )  # fmt: skip
        dimensions.link(first.classes[left], second.classes[right])
        if there.kind == "input":
            several = str(here.place) if len(first.outputs) > 1 else ""
            theirs[there.place] = names[here.place] if here.kind == "input" else f"{cotangent}{several}"
    if len(set(theirs)) != len(theirs):
        raise VjproofError(
            "links", expected="each argument of the gradient module linked to another one", got="one twice"
        )
    _link_captured(first, second, dimensions)
    dimensions.infer()
    lowered = _lower(first, dimensions, names), _lower(second, dimensions, theirs)
    atoms = dimensions.atoms()  # both programs declare the axes of both
    return _module(first, lowered[0], atoms), _module(second, lowered[1], atoms)


def _unfold(source: Source, name: str, dimensions: Dimensions, where: str, guards: bool = False) -> _Read:
    from vjproof.stablehlo.subset import SUBSET

    functions = PARSER.parse(source, where)
    if name not in functions:
        known = ", ".join(functions) or "none"
        raise VjproofError(where, expected=f"a function {excerpt(repr(name), 40)}", got=excerpt(known, 100))
    function, graph = functions[name], Graph()
    unfolding = Unfolding(functions, graph, Captured(), SUBSET)
    arguments: list[Value] = []
    for place, kind in enumerate(function.block.types):
        if kind.shape is None or 0 in kind.shape:
            expected = "a tensor of static shape, no size 0"
            raise VjproofError(f"{where}, argument {place}", expected=expected, got=excerpt(kind.element, 60))
        arguments.append(graph.input(f"arg{place}", kind.shape))
    inputs = [value for value in arguments if isinstance(value, int)]
    for place, kind in enumerate(function.block.types):
        if kind.element not in FLOATS:
            arguments[place] = graph.refused(f"argument {place}: {kind} numbers", kind.shape or (), (inputs[place],))
    results = [unfolding.node(value) for value in unfolding.call(name, arguments, 0, where)]
    if not results:
        raise VjproofError(f"{where}, function {name}", expected="at least one result", got="none")
    graph, ends, approximations = recognise_functions(graph, [*inputs, *results])
    graph, ends, conditions = settle_choices(graph, ends)
    graph, ends, assumed = assume_guards(graph, ends) if guards else (graph, ends, [])
    unfolding.graph, inputs, results = graph, ends[: len(inputs)], ends[len(inputs) :]
    live = sorted({*graph.live([*results, *(guard.node for guard in assumed)]), *inputs})
    for node in live:
        if 0 in graph.shape(node):
            raise VjproofError(f"{where}, {graph.nodes[node].place}", expected="axes with at least one element",
                               got=str(graph.shape(node)))  # fmt: skip
    return _Read(
        source,
        function,
        unfolding,
        inputs,
        results,
        live,
        dimensions.add(graph, live),
        conditions,
        approximations,
        assumed,
    )


def _end(module: _Read, end: End, where: str) -> int:
    nodes = module.inputs if end.kind == "input" else module.outputs
    if not 0 <= end.place < len(nodes):
        raise VjproofError(f"links, {where}", expected=f"{end.kind} 0 to {len(nodes) - 1}", got=str(end.place))
    return nodes[end.place]


def _captured(module: _Read) -> dict[str, int]:
    nodes = module.unfolding.graph.nodes
    found = {nodes[node].attributes[0]: node for node in module.live if nodes[node].kind == "input"}
    return {name: node for name, node in found.items() if name in module.unfolding.captured.arrays}


def _link_captured(first: _Read, second: _Read, dimensions: Dimensions) -> None:
    """Equal constant arrays of both modules are one input."""
    theirs = _captured(second)
    for name, node in _captured(first).items():
        if name in theirs:
            dimensions.link(first.classes[node], second.classes[theirs[name]])


def _lower(module: _Read, dimensions: Dimensions, names: list[str]) -> Lowering:
    """Write the lines of a module; the axes get their names on the way."""
    axes = {node: dimensions.axes(classes) for node, classes in module.classes.items()}
    inputs = dict(zip(module.inputs, names, strict=True)) | {node: name for name, node in _captured(module).items()}
    lowering = Lowering(module.unfolding.graph, axes, dimensions.atoms(), inputs)
    lowering.write(module.live)
    return lowering


def _module(module: _Read, lowering: Lowering, atoms: dict[str, int | None]) -> Module:
    unfolding, function = module.unfolding, module.function
    names = [lowering.value(node) for node in module.outputs]
    places = zip(module.inputs, function.block.types, function.labels, strict=True)
    text = module.source.encode() if isinstance(module.source, str) else bytes(module.source)
    return Module(
        program=program_of({"axes": atoms, "lines": lowering.lines, "outputs": names}),
        inputs=tuple(Tensor(lowering.value(n), kind.shape or (), kind.element, label) for n, kind, label in places),
        outputs=tuple(
            Tensor(name, kind.shape or (), kind.element, "") for name, kind in zip(names, function.results, strict=True)
        ),
        captured={name: unfolding.captured.arrays[name] for name in _captured(module)},
        literals=tuple(Reading(*reading) for reading in lowering.readings),
        approximations=tuple(module.approximations),
        conditions=tuple(module.conditions),
        guards=tuple(Branch(lowering.value(g.node), g.relation, g.number, g.place) for g in module.guards),
        roundings=tuple(dict.fromkeys(unfolding.declared)),
        places=lowering.places,
        sha256=hashlib.sha256(text).hexdigest(),
        function=function.name,
    )
