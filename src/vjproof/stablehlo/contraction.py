"""dot_general, and reductions with a body of one operation."""

from __future__ import annotations

import math

from vjproof.stablehlo.graph_arithmetic import binary, dot, total, unary
from vjproof.stablehlo.module_document import FLOATS
from vjproof.stablehlo.unfold import Call
from vjproof.stablehlo.values import Known, Value, number_type

NEUTRAL = {"add": 0.0, "multiply": 1.0, "maximum": -math.inf, "minimum": math.inf}
MOST_FACTORS = 256  # of a product along an axis, which is written out


def dot_general(call: Call) -> list[Value]:
    """Return the sum over the contracted dimensions of products, for each place along the batch dimensions."""
    if call.element not in FLOATS:
        return call.refuse(f"{call.element} numbers")
    numbers = call.attributes["dot_dimension_numbers"]
    batch = numbers["lhs_batching_dimensions"], numbers["rhs_batching_dimensions"]
    contract = numbers["lhs_contracting_dimensions"], numbers["rhs_contracting_dimensions"]
    return [dot(call.graph, call.node(0), call.node(1), batch, contract)]


def reduce(call: Call) -> list[Value]:
    """Return the sum, max, min or product over dimensions; the start value must be the one that changes nothing.

    StableHLO leaves open how often another start value is put in.
    """
    body = _body(call)
    if len(call.operands) != 2 or body is None:
        return call.refuse("a reduction whose body is not one add, maximum, minimum or multiply")
    dims = call.attributes["dimensions"]
    if call.element not in FLOATS:
        return _reduce_known(call, body, dims)
    x, start = call.nodes()
    graph = call.graph
    literal = graph.literal(start)
    if body not in NEUTRAL or literal is None or literal[0] != NEUTRAL[body]:
        return call.refuse(f"a reduction by {body} that does not start from {NEUTRAL.get(body)}")
    if body in ("add", "maximum"):
        return [total(graph, "sum" if body == "add" else "max", x, dims)]
    if body == "minimum":
        return [unary(graph, "neg", total(graph, "max", unary(graph, "neg", x), dims))]
    if math.prod(graph.shape(x)[dim] for dim in dims) > MOST_FACTORS:
        return call.refuse(f"a product of more than {MOST_FACTORS} factors")
    for dim in sorted(dims, reverse=True):
        shape = graph.shape(x)
        rest = (*shape[:dim], *shape[dim + 1 :])
        factors = [graph.reshape(graph.slice(x, dim, k, k + 1), rest) for k in range(shape[dim])]
        x = factors[0]
        for factor in factors[1:]:
            x = binary(graph, "mul", x, factor)
    return [x]


def _body(call: Call) -> str | None:
    """Return the operation that a reduction repeats, where its body is nothing but that."""
    (block,) = call.operation.regions
    if len(block.operations) != 2 or len(block.arguments) != 2:
        return None
    step, end = block.operations
    ends = step.results == end.operands and sorted(step.operands) == sorted(block.arguments)
    name = step.name.removeprefix("stablehlo.")
    return name if ends and name in ("add", "maximum", "minimum", "multiply", "and", "or") else None


def _reduce_known(call: Call, body: str, dims: list[int]) -> list[Value]:
    import numpy as np

    arrays = call.known()
    function = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "multiply": np.multiply,
                "and": np.logical_and, "or": np.logical_or}[body]  # fmt: skip
    if arrays is None or (body in ("and", "or") and call.element != "i1"):
        return call.refuse(f"{call.element} numbers that depend on inputs")
    number = number_type(call.element)
    reduced = function.reduce(arrays[0].astype(number), axis=tuple(dims))
    result = function(reduced, arrays[1].astype(number))
    if not np.array_equal(result, reduced):
        return call.refuse("a start value that changes the result")
    return [Known(np.asarray(result).astype(number), call.element)]
