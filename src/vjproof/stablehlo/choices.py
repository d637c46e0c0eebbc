"""Comparisons and choices: by known numbers at once, by others as nodes that `branches` may settle."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from vjproof.stablehlo.graph_arithmetic import binary, choice
from vjproof.stablehlo.graph_numbers import DIRECTIONS
from vjproof.stablehlo.module_document import FLOATS
from vjproof.stablehlo.unfold import Call
from vjproof.stablehlo.values import Known, Value, known_array

GAP = 1e-5  # relative: nearer numbers are not compared, as a literal may be read as another number near to it


def compare(call: Call) -> list[Value]:
    """Return the truth value of a comparison of known numbers; of others it is refused."""
    import numpy as np

    arrays = [known_array(call.graph, value) for value in call.operands]
    name = DIRECTIONS.get(str(call.attributes.get("comparison_direction")))
    left, right = arrays
    if name is None:
        return call.refuse("a direction that is not read")
    if left is None or right is None:
        return _compare_nodes(call, str(call.attributes["comparison_direction"]))
    rounded = [v for v in call.operands if not isinstance(v, Known) and call.graph.number(v) is None]
    if rounded and not _apart(left, right):
        return call.refuse("literals too near to each other")
    result = np.broadcast_to(getattr(np, name)(left, right), call.shape)
    return [Known(np.array(result), "i1")]


def _apart(left: Any, right: Any) -> bool:
    """Say whether floats are so far from each other that no reading of a literal changes how they compare."""
    import numpy as np

    with np.errstate(invalid="ignore"):
        near = np.abs(left - right) <= GAP * np.abs(left)
    return bool(np.all(np.isinf(left) | np.isinf(right) | ~(near | np.isnan(left) | np.isnan(right))))


def _compare_nodes(call: Call, direction: str) -> list[Value]:
    """Return a comparison as a node; of a value with itself it is known."""
    import numpy as np

    if any(isinstance(value, Known) and value.element not in FLOATS for value in call.operands):
        return call.refuse("numbers that depend on inputs")
    left, right = call.nodes()
    if left == right:
        return [Known(np.full(call.shape, direction in ("EQ", "LE", "GE")), "i1")]
    return [call.graph.add("compare", (left, right), (direction,), call.shape)]


def select(call: Call) -> list[Value]:
    """Return one of two arrays by a known truth value, entry by entry."""
    import numpy as np

    chosen, yes, no = call.operands
    if not isinstance(chosen, Known):
        if call.element not in FLOATS or not call.graph.is_truth(chosen):
            return call.refuse("a choice that depends on inputs")
        node = call.graph.broadcast(chosen, (), call.shape) if call.graph.shape(chosen) == () else chosen
        return [choice(call.graph, node, call.node(1), call.node(2))]
    truth = np.broadcast_to(chosen.array, call.shape)
    if truth.all() or not truth.any():
        return [yes if truth.all() else no]
    arrays = [array for value in (yes, no) if (array := known_array(call.graph, value)) is not None]
    if len(arrays) == 2:
        wide = [np.broadcast_to(array, call.shape) for array in arrays]
        return [Known(np.where(truth, *wide), call.element)]
    if call.element not in FLOATS or any(call.unfolding.is_refused(value) for value in (yes, no)):
        return call.refuse(f"{call.element} numbers that depend on inputs, or an operand that is refused")
    return [choose(call, truth, call.unfolding.node(yes), call.unfolding.node(no))]


def choose(call: Call, truth: Any, yes: int, no: int) -> int:
    """Return yes where `truth`, else no: joined along the dimension it depends on, or t yes + (1 - t) no if several."""
    import numpy as np

    graph = call.graph
    varying = [dim for dim in range(truth.ndim) if not np.all(truth == np.take(truth, [0], axis=dim))]
    if len(varying) == 1:
        (dim,) = varying
        line = np.moveaxis(truth, dim, 0).reshape(truth.shape[dim], -1)[:, 0]
        ends = [0, *(k for k in range(1, len(line)) if line[k] != line[k - 1]), len(line)]
        return graph.concat([graph.slice(yes if line[a] else no, dim, a, b) for a, b in pairwise(ends)], dim)
    masks = [call.unfolding.node(Known(mask.astype(np.float64), call.element)) for mask in (truth, ~truth)]
    return binary(graph, "add", binary(graph, "mul", masks[0], yes), binary(graph, "mul", masks[1], no))
