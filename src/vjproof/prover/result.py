"""What the prover answers: proved, refuted or not proved, with the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

PROVED, REFUTED, NOT_PROVED = "proved", "refuted", "not proved"


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
        place = ", ".join(map(str, self.entry))
        sizes = ", ".join(f"{name} = {size}" for name, size in self.sizes.items())
        kind = "enclosures disjoint" if self.confirmed else "float64 only, not confirmed"
        return f"{self.output}[{place}] is {self.got}, the true value is {self.expected} ({kind}; {sizes})"


@dataclass(frozen=True)
class Result:
    """The answer to one claim; `certificate` is there where it is proved, `counterexample` where it is refuted."""

    status: str
    statement: tuple[str, ...] = ()
    certificate: dict[str, Any] | None = None
    counterexample: Counterexample | None = None
    reason: str = ""
    equalities: int = 0
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.status == PROVED

    def __str__(self) -> str:
        if self.status == PROVED:
            return "\n".join(["proved:", *(f"  {line}" for line in self.statement)])
        return f"{self.status}: {self.counterexample or self.reason}"
