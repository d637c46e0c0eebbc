"""Whether a gradient that somebody wrote is the vector-Jacobian product of a function that somebody wrote."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.prover import words
from vjproof.prover.result import NOT_PROVED, PROVED, Result
from vjproof.prover.search import ASSUMED, prove_programs
from vjproof.stablehlo.isolated import PARSER
from vjproof.stablehlo.lowering import OutsideSubsetError
from vjproof.stablehlo.source import Source, is_module, load, sha256
from vjproof.validation.pair import ReadPair, read
from vjproof.validation.question import Chosen, Question, Signature, ask
from vjproof.validation.validation import Validation, shortened

Given = Callable[..., Any] | str | bytes | Path


def validate(f: Given, g: Given, *args: Any, cotangent: Any = None, wrt: Chosen = 0) -> Validation:
    """Return whether g(*args, d_y) is the vector-Jacobian product of f(*args), for all real inputs.

    `f`, `g`: both JAX functions, or both StableHLO modules (text, bytes, or a path). For functions `args` are pytrees
    of arrays or shape structs, whose numbers do not count; `cotangent` is one shaped as f(*args), which it is taken
    from where it is None; g returns the gradient with respect to the argument `wrt` (a tuple of them where wrt is a
    sequence of places, or "all"), shaped as that. For modules args are left out: `wrt` and `cotangent` are places or
    labels of arguments, see `question.ask`. Sizes are those given. Formula: d_x[i] = sum_j d_y[j] d f(x)[j] / d x[i].
    VjproofError for functions that JAX cannot trace, results of other shapes, and modules that cannot be read.
    """
    if is_module(f) != is_module(g):
        raise VjproofError("validate", expected="two functions, or two modules", got="one of each")
    if is_module(f):
        if args:
            raise VjproofError(
                "validate", expected="no args: modules have shapes of their own", got=f"{len(args)} args"
            )
        return answer(question_of_modules(load(f, "forward"), load(g, "gradient"), wrt, cotangent))  # type: ignore[arg-type]
    from vjproof.validation.functions import question_of_functions

    return answer(question_of_functions(f, g, args, cotangent, wrt))  # type: ignore[arg-type]


def question_of_modules(forward: Source, gradient: Source, wrt: Chosen = 0, cotangent: Chosen = None) -> Question:
    """Return the question about two modules; VjproofError where a module does not parse, or arguments do not fit."""
    ends = []
    for where, source in (("forward module", forward), ("gradient module", gradient)):
        functions = PARSER.parse(source, where)
        if "main" not in functions:
            raise VjproofError(where, expected="a function main", got=excerpt(", ".join(functions) or "none"))
        ends.append(Signature(tuple(functions["main"].labels), len(functions["main"].results)))
    return ask(forward, gradient, (ends[0], ends[1]), wrt, cotangent)


def answer(question: Question) -> Validation:
    """Return the answer to a question; VjproofError where a module cannot be read.

    A module with an operation that no program can state, such as a choice that depends on the data, is not proved.
    Where an assumption about a branch fails at a random input, the modules are read again without any.
    """
    began = time.perf_counter()
    modules = {"forward": question.forward, "gradient": question.gradient}
    try:
        pair = read(question)
    except OutsideSubsetError as reason:
        return Validation(NOT_PROVED, reason=(str(reason),), modules=modules, seconds=time.perf_counter() - began)
    count = len(pair.gradient.outputs)
    if count != len(pair.wrt):
        expected = f"{len(pair.wrt)} results, for {excerpt(', '.join(pair.wrt))}"
        raise VjproofError("gradient module", expected=expected, got=str(count))
    declared = {kind: lines for kind, lines in pair.declarations().items() if lines}
    result = prove_programs(
        pair.forward, pair.gradient, wrt=pair.wrt, cotangents=pair.cotangents, assumed=pair.assumed(),
        given=pair.captured(), notes=notes_of(question, declared),
    )  # fmt: skip
    if result.status == NOT_PROVED and result.reason.startswith(ASSUMED):
        without = answer(replace(question, guards=False))
        return replace(without, seconds=time.perf_counter() - began)
    return Validation(
        result.status,
        statement=tuple(stated(result, pair)),
        certificate=result.certificate,
        counterexample=result.counterexample,
        reason=tuple(located(result, pair)) if result.status == NOT_PROVED else (),
        declared=declared,
        modules=modules,
        equalities=result.equalities,
        seconds=time.perf_counter() - began,
    )


def notes_of(question: Question, declared: dict[str, list[str]]) -> dict[str, Any]:
    """Return what a certificate tells of its modules: their SHA-256, how they belong together, what was read."""
    return {
        "modules": {"forward": sha256(question.forward), "gradient": sha256(question.gradient)},
        "question": question.record(),
        "declared": declared,
    }


def stated(result: Result, pair: ReadPair) -> list[str]:
    """Return what is proved, in words: the kernel's statement, limited to the assumptions of the reading."""
    if result.status != PROVED:
        return []
    first, *rest = words.statement(result.statement, pair.forward, pair.gradient)
    return [first, *pair.limits(), *rest]


def located(result: Result, pair: ReadPair) -> list[str]:
    """Return the reason why something is not proved, with the source lines of the values that it names."""
    lines = replace(result, programs=(pair.forward, pair.gradient)).lines()
    found = words.RESISTED.fullmatch(result.reason)
    for side, name in (("gradient", found[1]), ("forward", found[3])) if found else ():
        if place := pair.place(side == "gradient", name):
            lines.append(f"{name} of the {side} module: {place}")
    if result.reason.endswith("is not differentiated"):
        maxima = [pair.place(False, op.name) for op in pair.forward.operations.values() if op.kind == "max"]
        lines += [f"a maximum of the forward module: {place}" for place in dict.fromkeys(filter(None, maxima))]
    return shortened(lines)
