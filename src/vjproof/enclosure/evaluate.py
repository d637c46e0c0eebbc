"""A program evaluated in ball arithmetic: each result holds the value that real arithmetic gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

from vjproof.enclosure.balls import exact_floats
from vjproof.enclosure.choices import NO_CHOICES, Choices
from vjproof.enclosure.execution import WORTH_A_CUT, Execution
from vjproof.enclosure.functions import FUNCTIONS
from vjproof.enclosure.self_test import check_primitives
from vjproof.errors import VjproofError
from vjproof.kernel.program import Program
from vjproof.layers.array import Array


def evaluate(
    program: Program,
    inputs: Mapping[str, Array],
    bits: int,
    *,
    processes: int = 1,
    worth: int = WORTH_A_CUT,
    choices: Choices = NO_CHOICES,
    after: Callable[[str, float], None] | None = None,
) -> list[Array]:
    """Return the outputs of `program` as arrays of balls, at a working precision of `bits`.

    `inputs` are finite floats by name, taken exactly; inputs of `choices` are found. With 2 `processes` another one
    takes half of the work, where a product has `worth` multiplications or more. `after` is told the name of each line
    done and the share of the work. The library's global precision is as before afterwards. VjproofError where inputs
    do not fit or the ball library fails its self-test; TooWideError where a bound is infinite.
    """
    _check_once()
    exact = {name: exact_floats(values) for name, values in inputs.items()}
    if {*exact, *choices.comparisons} != set(program.inputs):
        raise VjproofError("inputs", expected=str(sorted(program.inputs))[:200], got=str(sorted(exact))[:200])
    if processes == 1:
        return Execution(program, exact, bits, choices=choices).run(after)
    from vjproof.enclosure.partner import partner

    with partner(program, exact, bits, worth, choices) as link:
        return Execution(program, exact, bits, link, worth, choices).run(after)


@cache
def _check_once() -> None:
    check_primitives(FUNCTIONS)
