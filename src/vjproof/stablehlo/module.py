"""What reading a StableHLO module gives: a program, its numbers, and everything that was read as something else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import Program
from vjproof.program.interpreter import run
from vjproof.stablehlo.approximations import Approximation
from vjproof.stablehlo.branches import Condition


class Tensor(NamedTuple):
    """An argument or a result of a module: the program's name for it, sizes, element type, the module's own label."""

    name: str
    shape: tuple[int, ...]
    element: str
    label: str


class Reading(NamedTuple):
    """A literal read as a constant that it is the nearest float of: number, format, constant in JSON form, place."""

    number: float
    element: str
    constant: list[Any]
    place: str

    def __str__(self) -> str:
        rational, powers = self.constant
        factors = "".join(f" * {base}^({exponent})" for base, exponent in powers.items())
        return f"{self.element or 'exact'} {self.number!r} read as {rational}{factors}{_at(self.place)}"


class Branch(NamedTuple):
    """An assumption under which a branch was read: every entry of a value is larger or smaller than a number."""

    value: str
    relation: str
    number: float
    place: str

    def __str__(self) -> str:
        return f"{self.value} {self.relation} {self.number:.9g} in every entry{_at(self.place)}"


def _at(place: str) -> str:
    return f" ({place})" if place else ""


@dataclass(frozen=True)
class Module:
    """A StableHLO module as a program of the kernel, over the reals; sizes of axes are those of the module.

    `captured` holds constant arrays of the module that are inputs of the program: the program says what holds for any
    numbers there. A statement about the program must be restricted to `conditions` and `guards`. `roundings` are
    conversions between formats, read as the identity. `places` gives the source line, where known, of each value of
    the program.
    """

    program: Program
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    captured: Mapping[str, Any]
    literals: tuple[Reading, ...]
    approximations: tuple[Approximation, ...]
    conditions: tuple[Condition, ...]
    roundings: tuple[tuple[str, str], ...]
    places: Mapping[str, str]
    sha256: str
    function: str = "main"
    guards: tuple[Branch, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict)

    def run(self, *arrays: Any) -> tuple[Any, ...]:
        """Return the results, a float64 array each, on an array for each argument; VjproofError if they do not fit.

        Literals have the values of the constants that they are read as, approximated functions are exact.
        """
        import numpy as np

        if len(arrays) != len(self.inputs):
            raise VjproofError("arrays", expected=f"{len(self.inputs)}, one for each argument", got=str(len(arrays)))
        given = dict(self.captured)
        for tensor, array in zip(self.inputs, arrays, strict=True):
            value = np.asarray(array, dtype=np.float64)
            if value.shape != tensor.shape:
                raise VjproofError(
                    f"argument {excerpt(tensor.label or tensor.name, 60)}", expected=f"an array {tensor.shape}",
                    got=str(value.shape),
                )  # fmt: skip
            given[tensor.name] = value
        results = run(self.program, given)
        pairs = zip(results, self.outputs, strict=True)
        return tuple(np.broadcast_to(np.asarray(result), tensor.shape).copy() for result, tensor in pairs)

    def declarations(self) -> dict[str, list[str]]:
        """Return, in words, what was read as something else: what must be believed besides the table of operations."""
        return {
            "literals": sorted({str(reading) for reading in self.literals}),
            "approximations": [str(approximation) for approximation in self.approximations],
            "conditions": [str(condition) for condition in self.conditions],
            "guards": [str(guard) for guard in self.guards],
            "roundings": sorted({f"{words}{_at(place)}" for words, place in self.roundings}),
            "captured": [f"{name} of shape {tuple(array.shape)}" for name, array in self.captured.items()],
        }
