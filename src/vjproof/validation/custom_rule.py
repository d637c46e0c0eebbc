"""Questions about a custom_vjp function alone: is its reverse the derivative of the function, and its value that?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.prover.result import PROVED
from vjproof.validation.equality import same_value
from vjproof.validation.functions import question_of_functions
from vjproof.validation.gradient_claim import answer
from vjproof.validation.trace import leaves_of
from vjproof.validation.validation import Validation


def validate_custom_vjp(f: Any, *args: Any) -> Validation:
    """Return whether the rule of a `jax.custom_vjp` function is the derivative of the function, for all real inputs.

    `args` are the function's arguments: pytrees of arrays or shape structs; those at its nondiff_argnums are taken as
    they are. The function itself is the forward, without its rule; the gradient, with respect to all arguments of
    floating-point numbers, is the rule's backward after its forward. The value that the rule's forward returns must be
    the function's too. VjproofError where f has no such rule, and as `validate`.
    """
    parts: list[Any] = [getattr(f, name, None) for name in ("fun", "fwd", "bwd")]
    if not all(map(callable, parts)):
        raise VjproofError(
            "validate_custom_vjp", expected="a jax.custom_vjp function with a rule", got=excerpt(repr(f), 60),
            remedy="set its rule with defvjp",
        )  # fmt: skip
    if getattr(f, "symbolic_zeros", False):
        raise VjproofError("validate_custom_vjp", expected="a rule on arrays", got="one with symbolic_zeros=True")
    primal, forward, backward = parts
    fixed = {place % len(args) for place in getattr(f, "nondiff_argnums", ()) if -len(args) <= place < len(args)}
    statics = [args[place] for place in sorted(fixed)]
    free = [argument for place, argument in enumerate(args) if place not in fixed]
    goals = [place for place, argument in enumerate(free) if _differentiable(argument)]
    if not goals:
        raise VjproofError("args", expected="an argument of floating-point numbers", got="none")

    signature = _signature(primal, fixed)

    def whole(function: Any) -> Callable[..., Any]:
        def called(*some: Any) -> Any:
            rest = iter(some)
            return function(*(argument if place in fixed else next(rest) for place, argument in enumerate(args)))

        called.__signature__ = signature  # type: ignore[attr-defined]  # the names that arguments go by
        return called

    def gradient(*given: Any) -> Any:
        *some, d_y = given
        _, saved = whole(forward)(*some)
        d_args = backward(*statics, saved, d_y)
        if not isinstance(d_args, tuple | list) or len(d_args) != len(free):
            raise VjproofError(
                "the rule's backward", expected=f"a tuple of {len(free)} cotangents", got=type(d_args).__name__
            )
        return tuple(_cotangent(some[place], d_args[place]) for place in goals)

    validation = answer(question_of_functions(whole(primal), gradient, free, None, goals))
    if validation.status != PROVED:
        return validation
    value = same_value(whole(primal), lambda *some: whole(forward)(*some)[0], free)
    if value.status == PROVED:
        return replace(validation, value=value.certificate, seconds=validation.seconds + value.seconds)
    words = ("the rule's forward does not return the function's value:",)
    if value.counterexample is None:
        words = ("the value that the rule's forward returns is not shown to be the function's:",)
    return replace(value, reason=(*words, *value.reason))


def _differentiable(argument: Any) -> bool:
    leaves = leaves_of(argument, "argument")
    return bool(leaves) and all(leaf.is_float for leaf in leaves)


def _cotangent(argument: Any, given: Any) -> Any:
    """Return a cotangent that a rule returns; None stands for zeros."""
    import jax

    return jax.tree_util.tree_map(lambda x: 0 * x, argument) if given is None else given


def _signature(function: Callable[..., Any], fixed: set[int]) -> inspect.Signature:
    """Return a signature with the names of a function's arguments, without those that are fixed."""
    try:
        given = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        given = []
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if not given or any(parameter.kind not in kinds for parameter in given):
        return inspect.signature(lambda *args: args)
    kept = [
        parameter.replace(default=inspect.Parameter.empty)
        for place, parameter in enumerate(given)
        if place not in fixed
    ]
    return inspect.Signature(kept)
