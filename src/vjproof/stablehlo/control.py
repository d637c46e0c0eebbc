"""Control flow: calls are entered, loops run while their condition is a known number, branches chosen by one."""

from __future__ import annotations

from vjproof.stablehlo.unfold import Call
from vjproof.stablehlo.values import Known, Value


def call_function(call: Call) -> list[Value]:
    """Return what the called function returns on the operands."""
    return call.unfolding.call(str(call.attributes.get("callee")), call.operands, call.depth + 1, call.where)


def composite(call: Call) -> list[Value]:
    """Return what the decomposition returns: the name of a composite is no statement about it."""
    body = str(call.attributes.get("decomposition"))
    return call.unfolding.call(body, call.operands, call.depth + 1, call.where)


def while_loop(call: Call) -> list[Value]:
    """Return the loop's values once its condition, a known number each time, is false."""
    condition, body = call.operation.regions
    values = list(call.operands)
    while True:
        (more,) = call.unfolding.run(condition, values, call.values, call.depth + 1, call.where)
        if not isinstance(more, Known):
            return call.refuse("a loop whose length depends on inputs")
        if not more.array.all():
            return values
        values = call.unfolding.run(body, values, call.values, call.depth + 1, call.where)


def case(call: Call) -> list[Value]:
    """Return the results of the branch that a known index or truth value chooses."""
    (index,), branches = call.operands, call.operation.regions
    if not isinstance(index, Known):
        return call.refuse("a branch that depends on inputs")
    at = int(index.array)
    if call.operation.name == "stablehlo.if":
        at = 1 - at
    at = at if 0 <= at < len(branches) else len(branches) - 1
    return call.unfolding.run(branches[at], [], call.values, call.depth + 1, call.where)
