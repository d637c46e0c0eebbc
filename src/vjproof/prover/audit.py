"""A certificate checked by the kernel and, for a library theorem, against the code that is installed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.certificate import check, digest, read
from vjproof.kernel.program import Refused
from vjproof.prover.claim import outline, outline_of
from vjproof.prover.registry import find, record_variant, theorems


@dataclass(frozen=True)
class Audit:
    """What became of one certificate: `reason` is empty where it stands, `statement` is what it then proves.

    `theorem` is the library theorem whose code it speaks of, "" for the certificate of other programs.
    """

    path: str
    theorem: str = ""
    variant: str = ""
    words: str = ""
    statement: tuple[str, ...] = ()
    reason: str = ""

    def __bool__(self) -> bool:
        return not self.reason


def audit(path: str | Path) -> Audit:
    """Return whether a certificate file stands: the kernel accepts it, and the installed code is what it speaks of.

    VjproofError where there is no such file; whatever is wrong inside is a refusal.
    """
    require_file(path)
    try:
        certificate = read(path)
        statement = tuple(check(certificate))
        name, variant = _named(certificate.get("notes"))
        if name and digest(outline_of(certificate)) != digest(outline(record_variant(name, variant))):
            raise Refused(f"recorded from other code than the installed one: not the programs of {name}")
    except Refused as refusal:
        return Audit(str(path), reason=" ".join(excerpt(refusal, 300).split()))
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:  # of a lemma that nothing uses
        return Audit(str(path), reason=f"malformed certificate ({type(error).__name__})")
    return Audit(str(path), name, variant, find(name).words if name else "", statement)


def require_file(path: str | Path) -> None:
    """Raise VjproofError unless there is a file of this name."""
    if not Path(path).is_file():
        raise VjproofError(excerpt(path, 200), expected="a certificate file", got="no file of that name")


def _named(notes: Any) -> tuple[str, str]:
    """Return the theorem and the variant that notes name, or twice nothing; Refused for an unknown name."""
    if not isinstance(notes, dict) or "theorem" not in notes:
        return "", ""
    name, variant = notes["theorem"], notes.get("variant", "")
    if not isinstance(name, str) or not isinstance(variant, str) or variant not in _variants(name):
        said = f"{excerpt(name, 60)!r}, variant {excerpt(variant, 40)!r}"
        raise Refused(f"it claims to be {said}: no theorem of this version")
    return name, variant


def _variants(name: str) -> Collection[str]:
    return theorems()[name].variants if name in theorems() else ()
