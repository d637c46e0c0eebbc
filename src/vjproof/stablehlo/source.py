"""Modules as they are given: StableHLO text, bytes, or a path to either."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from vjproof.errors import excerpt
from vjproof.files import read_bounded
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
    named = f"{where} {excerpt(Path(given), 200)}"
    return read_bounded(Path(given), MOST_BYTES, where=named, wanted="a StableHLO module to read")


def sha256(source: Source) -> str:
    """Return the SHA-256 of a module's bytes, of a text in UTF-8."""
    return hashlib.sha256(source.encode() if isinstance(source, str) else source).hexdigest()
