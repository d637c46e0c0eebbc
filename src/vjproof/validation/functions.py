"""Questions about JAX functions: both are traced to modules on the shapes of their arguments."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.validation.question import Chosen, Question, chosen
from vjproof.validation.trace import Leaf, leaves_of, result_of, trace


def question_of_functions(
    f: Callable[..., Any], g: Callable[..., Any], args: Sequence[Any], cotangent: Any = None, wrt: Chosen = 0
) -> Question:
    """Return the question about two JAX functions; arguments and errors as `validate`."""
    if not args:
        raise VjproofError("validate", expected="the arguments of f: arrays or shape structs", got="none")
    result = result_of(f, args, "f")
    d_y = result if cotangent is None else cotangent
    results, given = leaves_of(result, "f"), leaves_of(d_y, "d_y")
    if [leaf.shape for leaf in results] != [leaf.shape for leaf in given]:
        raise VjproofError("cotangent", expected=f"shapes of f's result, {_shapes(results)}", got=_shapes(given))
    starts = [0]
    for place, argument in enumerate(args):
        starts.append(starts[-1] + len(leaves_of(argument, f"args[{place}]")))
    goals = chosen(wrt, [""] * len(args), "wrt")
    wanted = [leaf for place in goals for leaf in leaves_of(args[place], f"args[{place}]")]
    for leaf in wanted:
        if not leaf.is_float:
            raise VjproofError(f"wrt, {leaf.name}", expected="floating-point numbers", got=leaf.dtype)
    gradients = leaves_of(result_of(g, (*args, d_y), "g"), "gradient")
    if [leaf.shape for leaf in gradients] != [leaf.shape for leaf in wanted]:
        expected = f"gradients of {_names(wanted)}: {_shapes(wanted)}"
        raise VjproofError("what g returns", expected=expected, got=_shapes(gradients))
    places = tuple(i for goal in goals for i in range(starts[goal], starts[goal + 1]))
    count = starts[-1]
    cotangents = tuple(range(count, count + len(given)))
    return Question(trace(f, args, "f"), trace(g, (*args, d_y), "g"), places, tuple(range(count)), cotangents)


def _shapes(leaves: Sequence[Leaf]) -> str:
    return excerpt(", ".join(str(leaf.shape) for leaf in leaves) or "no array", 200)


def _names(leaves: Sequence[Leaf]) -> str:
    return excerpt(", ".join(leaf.name for leaf in leaves), 100)
