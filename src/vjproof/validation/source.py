"""Modules as they are given: StableHLO text, bytes, or a path to either."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.stablehlo.limits import MOST_BYTES

Source = str | bytes


def is_module(given: Any) -> bool:
    """Whether something is StableHLO text, bytes, or a path, and not a function."""
    return isinstance(given, str | bytes | Path)


def load(given: str | bytes | Path, where: str) -> Source:
    """Return a module's text or bytes; a one-line text is a path.

    VjproofError where there is no such file, or it cannot be read or is too large.
    """
    if isinstance(given, bytes) or (isinstance(given, str) and ("\n" in given or "{" in given)):
        return given
    path = Path(given)
    try:
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise VjproofError(excerpt(path, 200), expected=f"at most {MOST_BYTES} bytes", got=str(size))
        return path.read_bytes()
    except (OSError, ValueError) as problem:
        reason = excerpt(getattr(problem, "strerror", None) or problem)
        raise VjproofError(f"{where} {excerpt(path, 200)}", expected="a StableHLO module to read", got=reason) from None
