"""Enclosures of StableHLO modules: what the module computes as it is written, and what reading it otherwise changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from vjproof.enclosure.balls import balls_of, exact_floats, outward, upper
from vjproof.enclosure.choices import Choices
from vjproof.enclosure.precision import MOST_BITS, evaluate_narrowly
from vjproof.errors import VjproofError, excerpt
from vjproof.program.constants import read_literal
from vjproof.program.recorder import program_data, program_of
from vjproof.stablehlo.as_written import Written, read_as_written
from vjproof.stablehlo.module import Reading
from vjproof.stablehlo.source import Source
from vjproof.vit.params import Array

FIRST_BITS = 128
HELD = {"f32": "float32", "f16": "float16"}  # formats of arguments that hold fewer numbers than float64


@dataclass(frozen=True)
class Effect:
    """How far the results move, at most and in any entry, where one thing is read otherwise than it is written."""

    words: str
    absolute: float


@dataclass(frozen=True, eq=False)
class ModuleEnclosure:
    """What a module computes over the reals, as written, on given arrays: |result - mid| <= rad, a pair per result.

    `balls` are the same at full precision; `effects` are of each constant that a literal stands for, and of erf and
    erfc where a composite of that name is computed by its body.
    """

    mid: tuple[Array, ...]
    rad: tuple[Array, ...]
    balls: tuple[Array, ...] = field(repr=False)
    bits: int
    sha256: str
    effects: tuple[Effect, ...] = ()


def enclose_module(
    source: Source,
    *arrays: Any,
    function: str = "main",
    bits: int | None = None,
    effects: bool = False,
    processes: int | None = None,
    advance: Callable[[float], None] | None = None,
) -> ModuleEnclosure:
    """Return the enclosure of a StableHLO module's results, as text, bytecode or portable artifact.

    `arrays` are its arguments, finite floats that their formats hold. Literals are their own binary values, erf and
    erfc what the module computes in their place; a choice counts both sides where it is not certain. With `effects`
    the results are enclosed again for each reading. The rest as for `vjproof.enclose`. VjproofError for what is not in
    the subset (docs/stablehlo-subset.md), for arrays that do not fit, and where a bound stays too wide.
    """
    import numpy as np

    written = read_as_written(source, function)
    inputs = _inputs(written, arrays)
    balls, used = _evaluated(written, inputs, bits, processes, advance)
    found: list[Effect] = []
    if effects:
        found = [
            Effect(words, _distance(balls, _evaluated(other, _inputs(other, arrays), used, processes, None)[0]))
            for words, other in _readings(source, function, written)
        ]
    pairs = [np.array([outward(ball) for ball in part.flat]).reshape((*part.shape, 2)) for part in balls]
    return ModuleEnclosure(
        tuple(pair[..., 0] for pair in pairs), tuple(pair[..., 1] for pair in pairs), tuple(balls), used,
        written.sha256, tuple(found),
    )  # fmt: skip


def bound_results(enclosed: ModuleEnclosure, results: Sequence[Array]) -> list[float]:
    """Return for each result that was computed elsewhere a bound on its largest error; VjproofError if one misfits."""
    if len(results) != len(enclosed.balls):
        raise VjproofError("results", expected=f"{len(enclosed.balls)} arrays", got=str(len(results)))
    return [_largest(balls, exact_floats(result)) for balls, result in zip(enclosed.balls, results, strict=True)]


def _largest(balls: Array, result: Array) -> float:
    if result.shape != balls.shape:
        raise VjproofError("a result", expected=f"an array {balls.shape}", got=str(result.shape))
    return _distance([balls], [balls_of(result)])


def _inputs(written: Written, arrays: Sequence[Any]) -> dict[str, Array]:
    import numpy as np

    if len(arrays) != len(written.inputs):
        raise VjproofError("arrays", expected=f"{len(written.inputs)}, one for each argument", got=str(len(arrays)))
    given: dict[str, Array] = dict(written.captured)
    for tensor, array in zip(written.inputs, arrays, strict=True):
        where = f"argument {excerpt(tensor.label or tensor.name, 60)}"
        value = exact_floats(array)
        if value.shape != tensor.shape:
            raise VjproofError(where, expected=f"an array {tensor.shape}", got=str(value.shape))
        if tensor.element in HELD and not np.array_equal(value.astype(HELD[tensor.element]), value):
            raise VjproofError(where, expected=f"numbers that {tensor.element} holds", got="others")
        given[tensor.name] = value
    return given


def _evaluated(
    written: Written, inputs: Mapping[str, Array], bits: int | None, processes: int | None, advance: Any
) -> tuple[list[Array], int]:
    import numpy as np

    choices = Choices(written.comparisons, written.complements)
    outputs, used = evaluate_narrowly(
        written.program, inputs, bits, start=FIRST_BITS, choices=choices, processes=processes, advance=advance
    )
    shapes = [tensor.shape for tensor in written.outputs]
    return [np.broadcast_to(balls, shape) for balls, shape in zip(outputs, shapes, strict=True)], used


def _readings(source: Source, function: str, written: Written) -> Iterator[tuple[str, Written]]:
    """Yield (words, the module with one thing read otherwise): each literal as a constant, composites as functions."""
    for name, (number, element) in written.literals.items():
        constant, exact = read_literal(number, element)
        if not exact:
            data = program_data(written.program)
            for line in data["lines"]:
                if line[0] == name:
                    line[3] = {"value": constant}
            yield str(Reading(number, element, constant, "")), replace(written, program=program_of(data))
    other = read_as_written(source, function, bodies=False)
    if program_data(other.program) != program_data(written.program):
        yield "composites read as erf and erfc", other


def _distance(left: Sequence[Array], right: Sequence[Array]) -> float:
    """Return an upper bound of the largest difference of an entry."""
    import flint

    with flint.ctx.workprec(MOST_BITS):
        return max(upper(x - y) for a, b in zip(left, right, strict=True) for x, y in zip(a.flat, b.flat, strict=True))
