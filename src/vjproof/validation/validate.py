"""Whether a gradient that somebody wrote is the vector-Jacobian product of a function that somebody wrote."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import Program
from vjproof.prover import words
from vjproof.prover.result import NOT_PROVED, PROVED, Result
from vjproof.prover.search import prove_programs
from vjproof.stablehlo.parse import parse_module
from vjproof.validation.pair import ReadPair, read
from vjproof.validation.question import Chosen, Question, Signature, ask
from vjproof.validation.source import Source, is_module, load
from vjproof.validation.validation import Validation, sha256

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
            raise VjproofError("validate", expected="no args: modules have shapes of their own", got=f"{len(args)} args")
        return answer(question_of_modules(load(f, "forward"), load(g, "gradient"), wrt, cotangent))  # type: ignore[arg-type]
    from vjproof.validation.functions import question_of_functions

    return answer(question_of_functions(f, g, args, cotangent, wrt))  # type: ignore[arg-type]


def question_of_modules(forward: Source, gradient: Source, wrt: Chosen = 0, cotangent: Chosen = None) -> Question:
    """Return the question about two modules; VjproofError where a module does not parse, or arguments do not fit."""
    ends = []
    for where, source in (("forward module", forward), ("gradient module", gradient)):
        functions = parse_module(source, where)
        if "main" not in functions:
            raise VjproofError(where, expected="a function main", got=excerpt(", ".join(functions) or "none"))
        ends.append(Signature(tuple(functions["main"].labels), len(functions["main"].results)))
    return ask(forward, gradient, (ends[0], ends[1]), wrt, cotangent)


def answer(question: Question) -> Validation:
    """Return the answer to a question; VjproofError where a module cannot be read."""
    began = time.perf_counter()
    pair = read(question)
    _require_results(pair)
    notes = {
        "modules": {"forward": sha256(question.forward), "gradient": sha256(question.gradient)},
        "question": question.record(), "declared": pair.declarations(),
    }  # fmt: skip
    result = prove_programs(
        pair.forward, pair.gradient, wrt=pair.wrt, cotangents=pair.cotangents, notes=notes,
    )  # fmt: skip
    result = replace(result, programs=(pair.forward, pair.gradient))
    return Validation(
        result.status,
        statement=tuple(words.statement(result.statement, *result.programs)) if result.status == PROVED else (),  # type: ignore[misc]
        certificate=result.certificate,
        counterexample=result.counterexample,
        reason=tuple(_located(result, pair)) if result.status == NOT_PROVED else (),
        declared={kind: lines for kind, lines in pair.declarations().items() if lines},
        modules={"forward": question.forward, "gradient": question.gradient},
        equalities=result.equalities,
        seconds=time.perf_counter() - began,
    )


def _require_results(pair: ReadPair) -> None:
    """Raise VjproofError unless each result of the gradient module is shaped as the argument that it belongs to."""
    count = len(pair.gradient.outputs)
    if count != len(pair.wrt):
        raise VjproofError(
            "gradient module", expected=f"{len(pair.wrt)} results, for {excerpt(', '.join(pair.wrt))}", got=str(count)
        )


def _located(result: Result, pair: ReadPair) -> list[str]:
    """Return the reason why something is not proved, with the source lines of the values that it names."""
    lines = result.lines()
    found = words.RESISTED.fullmatch(result.reason)
    if found:
        sides: Sequence[tuple[str, str, Program, Any]] = (
            ("gradient", found[1], pair.gradient, pair.places[1]),
            ("forward", found[3], pair.forward, pair.places[0]),
        )
        said = [f"{name} at {places[name]} in the {side} module" for side, name, _, places in sides if places.get(name)]
        lines += said
    return lines
