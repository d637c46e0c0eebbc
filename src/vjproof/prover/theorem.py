"""A named theorem with the answer to each of its variants, and its certificates as files."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vjproof.prover.certificate_file import write_certificates
from vjproof.prover.result import NOT_PROVED, PROVED, REFUTED, Result


@dataclass(frozen=True)
class Theorem:
    """What was asked and what was found: `results` maps each variant (a declared choice, "" for none) to its answer.

    `words` is the statement, `formula` the reverse as it is written, `hypotheses` what is assumed, `seed` the seed's
    name where it has one. True where every variant is proved.
    """

    name: str
    words: str
    formula: str
    hypotheses: str
    seed: str
    results: Mapping[str, Result]

    @property
    def status(self) -> str:
        """Proved where every variant is; refuted where one is; else not proved."""
        found = {result.status for result in self.results.values()}
        return REFUTED if REFUTED in found else PROVED if found == {PROVED} else NOT_PROVED

    @property
    def seconds(self) -> float:
        """Seconds of search and check; what is shared with another variant or theorem counts in each."""
        return sum(result.seconds for result in self.results.values())

    @property
    def equalities(self) -> int:
        """Local equalities that the kernel accepted."""
        return sum(result.equalities for result in self.results.values())

    @property
    def certificates(self) -> dict[str, dict[str, Any]]:
        """The certificate of each variant that is proved, by the name of its file."""
        return {
            file_name(self.name, variant): {**result.certificate, "notes": self._notes(variant, result)}
            for variant, result in self.results.items() if result.certificate is not None
        }  # fmt: skip

    def _notes(self, variant: str, result: Result) -> dict[str, Any]:
        return {**(result.certificate or {}).get("notes", {}), "theorem": self.name, "variant": variant}

    def save(self, folder: str | Path) -> list[Path]:
        """Write each certificate as JSON to folder/file name, all or none, and return the paths; see `certificates`.

        VjproofError where the folder cannot be written.
        """
        return write_certificates(Path(folder), self.certificates)

    def __bool__(self) -> bool:
        return self.status == PROVED

    def __str__(self) -> str:
        lines = [f"{self.name}: {self.status}", f"  {self.words}", f"  {self.formula}"]
        for variant, result in self.results.items():
            lines += [f"  {variant or 'in every case'}: {result.status}", *(f"    {line}" for line in result.lines())]
        return "\n".join(lines)


def record(theorem: Theorem, files: Sequence[Path] = ()) -> dict[str, Any]:
    """Return a theorem as a JSON-ready record; `files` are the certificates' paths, as `Theorem.save` returns them."""
    saved = {path.name: str(path) for path in files}
    return {
        "name": theorem.name, "status": theorem.status, "words": theorem.words, "formula": theorem.formula,
        "hypotheses": theorem.hypotheses, "seed": theorem.seed, "seconds": round(theorem.seconds, 3),
        "equalities": theorem.equalities,
        "variants": [
            {"variant": variant, "status": result.status, "lines": result.lines(), "equalities": result.equalities,
             "seconds": round(result.seconds, 3), "digests": (result.certificate or {}).get("digests"),
             "certificate": saved.get(file_name(theorem.name, variant))}
            for variant, result in theorem.results.items()
        ],
    }  # fmt: skip


def file_name(name: str, variant: str) -> str:
    """Return the name of a variant's certificate file: letters, digits, points, _ and - alone."""
    words = re.findall(r"[A-Za-z0-9]+", variant)
    return f"{re.sub(r'[^A-Za-z0-9_]', '_', name)}{'.' if words else ''}{'-'.join(words)}.json"
