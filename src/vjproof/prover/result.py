"""What the prover answers: proved, refuted or not proved, with the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from vjproof.errors import excerpt
from vjproof.kernel.program import Program
from vjproof.prover import words

PROVED, REFUTED, NOT_PROVED = "proved", "refuted", "not proved"
SHOWN = 40  # entries of an input that are printed


@dataclass(frozen=True)
class Counterexample:
    """An input at which the two sides differ in one entry: both values, apart by more than their error bounds."""

    sizes: dict[str, int]
    inputs: dict[str, Any]  # NumPy float64 arrays, read as exact binary numbers
    output: str
    entry: tuple[int, ...]
    expected: str  # the true value, with a rigorous error bound
    got: str  # the program's value, likewise
    confirmed: bool  # the two enclosures are disjoint

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.entry))}]" if self.entry else ""
        kind = "the enclosures are disjoint" if self.confirmed else "in float64, not confirmed in balls"
        sizes = f" at {', '.join(f'{name} = {size}' for name, size in self.sizes.items())}" if self.sizes else ""
        return f"{self.output}{place} is {self.got}, the true value is {self.expected}{sizes}; {kind}"

    def lines(self) -> list[str]:
        """Return the inputs, one line each; long ones by their shape alone."""
        return [f"{name} = {_shown(array)}" for name, array in self.inputs.items()]


@dataclass(frozen=True)
class Result:
    """The answer to one claim; `certificate` is there where it is proved, `counterexample` where it is refuted.

    `statement` holds the checker's own lines; `programs` are the forward and the second program where they are known.
    """

    status: str
    statement: tuple[str, ...] = ()
    certificate: dict[str, Any] | None = None
    counterexample: Counterexample | None = None
    reason: str = ""
    equalities: int = 0
    seconds: float = 0.0
    programs: tuple[Program, Program] | None = None

    def __bool__(self) -> bool:
        return self.status == PROVED

    def lines(self) -> list[str]:
        """Return what is known, in words: the statement, or the counterexample with its inputs, or what resisted."""
        if self.counterexample is not None:
            return [str(self.counterexample), *(f"where {line}" for line in self.counterexample.lines())]
        if self.status != PROVED:
            return words.resisted(self.reason, *self.programs) if self.programs else [self.reason]
        said = words.statement(self.statement, *self.programs) if self.programs else self.statement
        return [*said, *self._readings()]

    def _readings(self) -> list[str]:
        """Return how float literals were read that are not exactly a small fraction."""
        notes = (self.certificate or {}).get("notes", {})
        texts = (words.constant(value) for _, value in notes.get("readings", []))
        numbers = (float.fromhex(literal) for literal, _ in notes.get("readings", []))
        return [f"The literal {number!r} is read as {text}." for number, text in zip(numbers, texts, strict=True)]

    def __str__(self) -> str:
        return "\n".join([f"{self.status}:", *(f"  {line}" for line in self.lines())])


def _shown(array: Any) -> str:
    if array.size > SHOWN:
        return f"an array of shape {array.shape}"
    return excerpt(str(array.tolist()), 1000)
