"""Whether two JAX functions have the same value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from vjproof.errors import VjproofError
from vjproof.prover.result import PROVED
from vjproof.prover.search import prove_programs
from vjproof.stablehlo.read import End, Link, read_pair
from vjproof.validation.trace import leaves_of, result_of, trace
from vjproof.validation.validation import Validation


def same_value(f: Callable[..., Any], other: Callable[..., Any], args: Sequence[Any]) -> Validation:
    """Return whether other(*args) equals f(*args), for all real inputs; VjproofError as `validate`."""
    ours, theirs = (leaves_of(result_of(function, args, "f"), "f") for function in (f, other))
    if [leaf.shape for leaf in ours] != [leaf.shape for leaf in theirs]:
        raise VjproofError("the rule's forward", expected=f"results shaped as f's, {[leaf.shape for leaf in ours]}",
                           got=str([leaf.shape for leaf in theirs]))  # fmt: skip
    texts = trace(f, args, "f"), trace(other, args, "the rule's forward")
    links = [Link(End("input", i), End("input", i)) for i in range(len(leaves_of(tuple(args), "args")))]
    links += [Link(End("output", k), End("output", k)) for k in range(len(ours))]
    left, right = read_pair(*texts, links)
    result = prove_programs(left.program, right.program, given={**left.captured, **right.captured})
    return Validation(
        result.status,
        statement=result.statement,
        certificate=result.certificate,
        counterexample=result.counterexample,
        reason=tuple(result.lines()) if result.status != PROVED and result.counterexample is None else (),
        modules={"forward": texts[0], "gradient": texts[1]},
        seconds=result.seconds,
    )
