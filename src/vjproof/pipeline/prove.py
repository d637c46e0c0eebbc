"""Prove named theorems, and check certificates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError


def list_theorems() -> list[dict[str, Any]]:
    """Return a JSON-ready record per named theorem: statement, formula, hypotheses, the seed's name, variants."""
    from vjproof.prover.registry import theorems

    return [
        {"name": tie.name, "words": tie.words, "formula": tie.formula, "hypotheses": tie.hypotheses, "seed": tie.seed,
         "variants": list(tie.variants)}
        for tie in theorems().values()
    ]  # fmt: skip


def prove_theorems(
    names: Sequence[str],
    *,
    every: bool = False,
    out: str | Path | None = None,
    workers: int = 0,
    advance: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Prove theorems by name, or every one, and return a JSON-ready record of each; certificates go to `out`.

    `workers` processes (0: one per processor); `advance` is told (variants done, variants in all). VjproofError for
    an unknown name, for none at all, and where `out` cannot be written.
    """
    from vjproof.prover.registry import theorems
    from vjproof.prover.theorem import record
    from vjproof.prover.workers import prove_many

    if bool(names) == every:
        raise VjproofError(
            "prove", expected="names of theorems, or --all", got="both" if every else "neither",
            remedy="vjproof prove --list tells the names",
        )  # fmt: skip
    proved = prove_many(list(theorems()) if every else names, workers=workers, advance=advance)
    return [record(theorem, theorem.save(out) if out is not None else ()) for theorem in proved]


def check_certificates(
    files: Sequence[str | Path], *, workers: int = 0, advance: Callable[[int, int], None] | None = None
) -> list[dict[str, Any]]:
    """Return a JSON-ready record per certificate file: the statement that it proves, or the reason of a refusal.

    `compared` is what the programs were compared with: the installed code, or the modules that the certificate names
    where they are beside it; `limits` and `declared` are what these modules were read under. `workers` processes (0:
    one per processor); `advance` is told (files done, files in all). VjproofError where there is no such file.
    """
    from vjproof.prover.workers import audit_many

    return [_compared(asdict(audit)) for audit in audit_many(files, workers=workers, advance=advance)]


def _compared(record: dict[str, Any]) -> dict[str, Any]:
    """Return the record of a certificate with what became of its modules, where it names some."""
    record |= {"compared": "the installed code" if record["theorem"] else "", "limits": (), "declared": {}}
    if record["reason"] or record["theorem"]:
        return record
    from vjproof.kernel.certificate import read
    from vjproof.validation.reread import about_modules, compare

    certificate = read(record["path"])
    if about_modules(certificate.get("notes")):
        found = compare(record["path"], certificate)
        record |= {"reason": found.reason, "limits": found.limits, "declared": dict(found.declared or {})}
        record["compared"] = "the modules that it names" if found.compared else ""
        record["missing"] = not found.compared
    return record
