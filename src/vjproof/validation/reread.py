"""Certificates about modules compared with the modules: read again, and their programs with those of the claim."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.certificate import digest
from vjproof.program.recorder import program_data
from vjproof.stablehlo.source import load, sha256
from vjproof.validation.pair import read
from vjproof.validation.question import question_from


@dataclass(frozen=True)
class Comparison:
    """What became of a certificate's modules: `reason` is empty unless they are not what it speaks of.

    `compared` says whether both were there. `limits` and `declared` are what reading them again assumed and read as
    something else, as in `Validation`.
    """

    compared: bool
    limits: tuple[str, ...] = ()
    declared: Mapping[str, list[str]] | None = None
    reason: str = ""


def about_modules(notes: Any) -> bool:
    """Whether a certificate's notes name modules."""
    return isinstance(notes, dict) and "modules" in notes


def compare(path: str | Path, certificate: Any) -> Comparison:
    """Return whether the modules that a certificate names by SHA-256 are what it speaks of.

    They are looked for beside the certificate at `path`, which the kernel has accepted; what its notes say is not
    believed. A module that is not there is not compared.
    """
    notes, folder = certificate["notes"], Path(path).parent
    try:
        named = [str(notes["modules"][side]) for side in ("forward", "gradient")]
        if any(len(text) != 64 or not set(text) <= set("0123456789abcdef") for text in named):
            return Comparison(False, reason="the notes name modules, and not by SHA-256")
        files = [folder / f"{text[:16]}.mlir" for text in named]
        if not all(file.is_file() for file in files):
            return Comparison(False)
        sources = [load(file, "module") for file in files]
        for file, source, text in zip(files, sources, named, strict=True):
            if sha256(source) != text:
                return Comparison(True, reason=f"module {file.name} has another SHA-256 than the certificate names")
        pair = read(question_from(notes["question"], sources[0], sources[1]))
    except VjproofError as problem:
        return Comparison(True, reason=f"its modules cannot be read: {excerpt(problem, 200)}")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
        return Comparison(True, reason=f"malformed notes ({type(error).__name__})")
    claim = certificate["claim"]
    ours = {"kind": "vjp", "forward": program_data(pair.forward), "second": program_data(pair.gradient)}
    ours |= {"wrt": list(pair.wrt), "cotangents": list(pair.cotangents), "positive": []}
    if digest(ours) != digest({name: claim.get(name) for name in ours}):
        return Comparison(True, reason="its programs are not what the modules say")
    declared = {kind: lines for kind, lines in pair.declarations().items() if lines}
    return Comparison(True, tuple(pair.limits()), declared)
