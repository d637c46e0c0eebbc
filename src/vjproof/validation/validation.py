"""The answer about a gradient: proved, refuted or not proved, with what it rests on, in words and as files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vjproof.prover.certificate_file import write_certificates
from vjproof.prover.result import NOT_PROVED, PROVED, Counterexample
from vjproof.stablehlo.source import Source, sha256

MOST_LINES = 12  # of one kind that are printed
LARGEST = 100_000  # entries of an input of a counterexample that goes into a record


@dataclass(frozen=True)
class Validation:
    """Whether a gradient is the vector-Jacobian product of a function, for all real inputs.

    `statement` is what is proved, in the kernel's words; `declared` lists what was read as something else, by kind
    (`TITLES`; "conditions" and "guards"); `reason` says what resisted, with its source line;
    `modules` holds both modules ("forward", "gradient") as they were read; `value`, of a custom_vjp rule, is a second
    certificate: its forward returns what the function does.
    """

    status: str
    statement: tuple[str, ...] = ()
    certificate: dict[str, Any] | None = None
    counterexample: Counterexample | None = None
    reason: tuple[str, ...] = ()
    declared: Mapping[str, list[str]] = field(default_factory=dict)
    modules: Mapping[str, Source] = field(default_factory=dict)
    value: dict[str, Any] | None = None
    equalities: int = 0
    seconds: float = 0.0

    def __bool__(self) -> bool:
        return self.status == PROVED

    def lines(self) -> list[str]:
        """Return the answer in words, without its first word."""
        if self.counterexample is not None:
            return [*self.reason, str(self.counterexample), *(f"where {line}" for line in self.counterexample.lines())]
        if self.status == NOT_PROVED:
            return list(self.reason)
        said = shortened(list(self.statement))
        for kind, title in TITLES.items():
            said += shortened([f"{title} {line}" for line in self.declared.get(kind, ())])
        return said

    def __str__(self) -> str:
        return "\n".join([f"{self.status}:", *(f"  {line}" for line in self.lines())])

    def save(self, folder: str | Path, name: str = "certificate") -> list[Path]:
        """Write the certificate (name.json) and both modules, which it names by SHA-256, and return the paths.

        `vjproof check` reads all three again. VjproofError where it is not proved, or the folder cannot be written.
        """
        from vjproof.errors import VjproofError

        if self.certificate is None:
            raise VjproofError("save", expected="a proved answer", got=self.status)
        certificates = {f"{name}.json": self.certificate}
        certificates |= {} if self.value is None else {f"{name}.value.json": self.value}
        return write_certificates(Path(folder), certificates, module_files(self.modules))

    def record(self) -> dict[str, Any]:
        """Return the answer as a JSON-ready record."""
        example = self.counterexample
        inputs = {} if example is None else {n: a.tolist() for n, a in example.inputs.items() if a.size <= LARGEST}
        shown = None if example is None else {
            "output": example.output, "entry": list(example.entry), "expected": example.expected, "got": example.got,
            "confirmed": example.confirmed, "inputs": inputs,
        }  # fmt: skip
        return {
            "status": self.status, "statement": list(self.statement), "reason": list(self.reason),
            "declared": dict(self.declared), "counterexample": shown, "equalities": self.equalities,
            "seconds": round(self.seconds, 3), "digests": (self.certificate or {}).get("digests"),
        }  # fmt: skip


# Conditions and guards are part of the statement.
TITLES = {
    "literals": "Literal:",
    "approximations": "Approximation, taken as exact:",
    "roundings": "Rounding, left out:",
    "captured": "Holds for any numbers in the constant array",
}


def shortened(lines: list[str]) -> list[str]:
    """Return lines with the middle of a long list left out, and long lines cut."""
    cut = [line if len(line) <= 300 else f"{line[:200]} ... {line[-80:]}" for line in lines]
    if len(cut) <= MOST_LINES:
        return cut
    return [*cut[: MOST_LINES - 3], f"... ({len(cut) - MOST_LINES + 1} more)", *cut[-2:]]


def file_name(source: Source) -> str:
    """Return the name of a module's file beside a certificate: the first digits of its SHA-256."""
    return f"{sha256(source)[:16]}.mlir"


def module_files(modules: Mapping[str, Source]) -> dict[str, bytes]:
    """Return the modules by the names of their files."""
    return {file_name(source): source.encode() if isinstance(source, str) else source for source in modules.values()}
