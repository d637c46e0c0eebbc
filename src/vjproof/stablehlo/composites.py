"""erf and erfc kept whole in an exported program, as composites named after the operations.

A portable artifact has no erf: JAX expands it into a piecewise polynomial, which is another function. A composite is a
call with a name: whoever knows `chlo.erf` and `chlo.erfc` reads the function itself, everybody else runs the body,
which is that polynomial. A body has fixed shapes, so a symbolic batch has no composites.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

KEPT = ("erf", "erfc")


def keep_special_functions(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` on the same JAX arrays or trees of them, each erf and erfc in it a composite `chlo.NAME`.

    The operations are those that JAX traces from `function`; nothing else about them changes.
    """
    import jax

    composites = {name: jax.lax.composite(getattr(jax.lax, name), f"chlo.{name}", version=1) for name in KEPT}

    def rewritten(*arguments: Any) -> Any:
        traced, shape = jax.make_jaxpr(function, return_shape=True)(*arguments)
        program = traced.jaxpr
        values: dict[Any, Any] = dict(zip(program.constvars, traced.consts, strict=True))
        values.update(zip(program.invars, jax.tree.leaves(arguments), strict=True))

        def read(operand: Any) -> Any:
            return operand.val if hasattr(operand, "val") else values[operand]

        for line in program.eqns:
            operands, name = map(read, line.invars), line.primitive.name
            result = composites[name](*operands) if name in KEPT else line.primitive.bind(*operands, **line.params)
            results = result if line.primitive.multiple_results else [result]
            values.update(zip(line.outvars, results, strict=True))
        return jax.tree.unflatten(jax.tree.structure(shape), map(read, program.outvars))

    return rewritten
