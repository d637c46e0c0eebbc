"""Reading StableHLO: a module, or a forward and a gradient module over common axes, as programs of the kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from vjproof.errors import VjproofError, excerpt
from vjproof.program.recorder import program_of
from vjproof.stablehlo.approximations import Approximation, recognise_functions
from vjproof.stablehlo.axis_inference import Clash, Dimensions
from vjproof.stablehlo.branches import Condition, settle_choices
from vjproof.stablehlo.graph import Graph
from vjproof.stablehlo.guards import Guard, assume_guards
from vjproof.stablehlo.isolated import PARSER
from vjproof.stablehlo.lowering import Lowering
from vjproof.stablehlo.module import Branch, Module, Reading, Tensor
from vjproof.stablehlo.module_document import FLOATS, Function
from vjproof.stablehlo.relinking import MOST_CLASHES, relink
from vjproof.stablehlo.source import Source, sha256
from vjproof.stablehlo.unfold import Unfolding
from vjproof.stablehlo.values import Captured, Value


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
    conditions: list[Condition]
    approximations: list[Approximation]
    guards: list[Guard]
    kept: list[int] = field(default_factory=list)  # nodes that a declaration is about
    classes: dict[int, list[int]] = field(default_factory=dict)

    @property
    def graph(self) -> Graph:
        """The graph of the module."""
        return self.unfolding.graph

    @property
    def live(self) -> list[int]:
        """The nodes that the outputs need, and all inputs."""
        return sorted({*self.graph.live([*self.outputs, *self.kept]), *self.inputs})

    def relink(self, clash: Clash) -> None:
        """Write the operation of a clash as a product."""
        ends = [*self.inputs, *self.outputs, *self.kept]
        self.unfolding.graph, ends = relink(self.graph, self.unfolding.captured, ends, clash)
        first, second = len(self.inputs), len(self.inputs) + len(self.outputs)
        self.inputs, self.outputs, self.kept = ends[:first], ends[first:second], ends[second:]


def read_stablehlo(source: Source, function: str = "main") -> Module:
    """Return a StableHLO module, as text, bytecode or portable artifact, as a Program with all that was read into it.

    Sizes are those of the module; axes are told apart by dataflow, and where their splits clash an operation is written
    as a product with a constant array (see `relinking`). VjproofError, with the operation and its line, for
    what is not in the subset (docs/stablehlo-subset.md), does not parse, or is too large.
    """
    one = _unfold(source, function, "StableHLO module")
    dimensions = _inferred([one], lambda _: None, MOST_CLASHES)
    lowering = _lower(one, dimensions, [f"arg{place}" for place in range(len(one.inputs))])
    return _module(one, lowering, dimensions.atoms())


def read_pair(
    forward: Source,
    gradient: Source,
    links: Sequence[Link],
    *,
    functions: tuple[str, str] = ("main", "main"),
    cotangent: str = "d_y",
    relinked: bool = False,
    guards: bool = False,
) -> tuple[Module, Module]:
    """Return two modules as Programs over the same axes, which are inferred in both together.

    `links` says which arguments and results of the two have the same axes: shared arguments, results of the forward
    module and the cotangents of them, results of the gradient module and the arguments that they belong to. The inputs
    of the forward program are arg0, arg1 ...; a linked input of the gradient program has the same name, one that is
    linked to result k of the forward module is called d_y (d_y0, d_y1 ... if there are several results), others
    extra0, extra1 ...  With `relinked`, an operation where splits of axes clash is written as a product with a constant
    array (see `relinking`), whose numbers a counterexample must have. With `guards` a maximum with a literal, or a
    choice by a comparison with one, is read as one of its sides, where it is the same everywhere at random points;
    `Module.guards` lists what is assumed so. VjproofError as `read_stablehlo`, where linked arrays have different
    sizes, and without `relinked` where splits clash.
    """
    first = _unfold(forward, functions[0], "forward module", guards)
    second = _unfold(gradient, functions[1], "gradient module", guards)
    names = [f"arg{place}" for place in range(len(first.inputs))]
    theirs = [f"extra{place}" for place in range(len(second.inputs))]
    for here, there in links:
        left, right = _end(first, here, "forward module"), _end(second, there, "gradient module")
        if first.graph.shape(left) != second.graph.shape(right):
            raise VjproofError(
                f"{there.kind} {there.place} of the gradient module", got=str(second.graph.shape(right)),
                expected=f"{first.graph.shape(left)}, as {here.kind} {here.place} of the forward module",
            )  # fmt: skip
        if there.kind == "input":
            several = str(here.place) if len(first.outputs) > 1 else ""
            theirs[there.place] = names[here.place] if here.kind == "input" else f"{cotangent}{several}"
    if len(set(theirs)) != len(theirs):
        raise VjproofError(
            "links", expected="each argument of the gradient module linked to another one", got="one twice"
        )

    def link(dimensions: Dimensions) -> None:
        for here, there in links:
            left, right = _end(first, here, "forward module"), _end(second, there, "gradient module")
            dimensions.link(first.classes[left], second.classes[right], (1, right))
        _link_captured(first, second, dimensions)

    dimensions = _inferred([first, second], link, MOST_CLASHES if relinked else 0)
    lowered = _lower(first, dimensions, names), _lower(second, dimensions, theirs)
    atoms = dimensions.atoms()  # both programs declare the axes of both
    return _module(first, lowered[0], atoms), _module(second, lowered[1], atoms)


def _inferred(modules: list[_Read], link: Callable[[Dimensions], None], most_clashes: int) -> Dimensions:
    """Return the axes of modules; so many operations where splits of axes clash are written as products."""
    while True:
        dimensions = Dimensions()
        for module in modules:
            module.classes = dimensions.add(module.graph, module.live)
        link(dimensions)
        try:
            dimensions.infer()
        except Clash as clash:
            if not most_clashes:
                raise clash.error from None
            most_clashes -= 1
            modules[clash.graph].relink(clash)
        else:
            return dimensions


def _unfold(source: Source, name: str, where: str, guards: bool = False) -> _Read:
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
    kept = [guard.node for guard in assumed]
    read = _Read(source, function, unfolding, inputs, results, conditions, approximations, assumed, kept)
    for node in read.live:
        if 0 in graph.shape(node):
            raise VjproofError(
                f"{where}, {graph.nodes[node].place}", expected="axes with at least one element",
                got=str(graph.shape(node)),
            )  # fmt: skip
    return read


def _end(module: _Read, end: End, where: str) -> int:
    nodes = module.inputs if end.kind == "input" else module.outputs
    if not 0 <= end.place < len(nodes):
        raise VjproofError(f"links, {where}", expected=f"{end.kind} 0 to {len(nodes) - 1}", got=str(end.place))
    return nodes[end.place]


def _captured(module: _Read) -> dict[str, int]:
    nodes = module.graph.nodes
    found = {nodes[node].attributes[0]: node for node in module.live if nodes[node].kind == "input"}
    return {name: node for name, node in found.items() if name in module.unfolding.captured.arrays}


def _link_captured(first: _Read, second: _Read, dimensions: Dimensions) -> None:
    """Equal constant arrays of both modules are one input."""
    theirs = _captured(second)
    for name, node in _captured(first).items():
        if name in theirs:
            dimensions.link(first.classes[node], second.classes[theirs[name]], (1, theirs[name]))


def _lower(module: _Read, dimensions: Dimensions, names: list[str]) -> Lowering:
    """Write the lines of a module; the axes get their names on the way."""
    axes = {node: dimensions.axes(classes) for node, classes in module.classes.items()}
    inputs = dict(zip(module.inputs, names, strict=True)) | {node: name for name, node in _captured(module).items()}
    lowering = Lowering(module.graph, axes, dimensions.atoms(), inputs)
    lowering.write(module.live)
    return lowering


def _module(module: _Read, lowering: Lowering, atoms: dict[str, int | None]) -> Module:
    unfolding, function = module.unfolding, module.function
    names = [lowering.value(node) for node in module.outputs]
    places = zip(module.inputs, function.block.types, function.labels, strict=True)
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
        guards=tuple(
            Branch(lowering.value(node), guard.relation, guard.number, guard.place)
            for node, guard in zip(module.kept, module.guards, strict=True)
        ),
        roundings=tuple(dict.fromkeys(unfolding.declared)),
        places=lowering.places,
        sha256=sha256(module.source),
        function=function.name,
    )
