"""Bounds on what a module may ask for, looked at before the MLIR parser and before any memory is asked for."""

from __future__ import annotations

import re

from vjproof.errors import VjproofError

MOST_BYTES = 256 * 2**20  # of a module, weights inside
DEEPEST = 200  # brackets within brackets in a text
MOST_OPERATIONS = 200_000  # of a module, and of what it unfolds to
MOST_CALLS = 64  # calls within calls
MOST_STATIC = 2**24  # elements of an array whose numbers are needed while reading
MOST_RANK = 16
_TEXT = re.compile(rb'"[^"\\\n]*(?:\\.[^"\\\n]*)*"?|//[^\n]*|->|[()\[\]{}<>]')
_CLOSED_BY = {b")": b"(", b"]": b"[", b"}": b"{", b">": b"<"}
BYTECODE = b"ML\xefR"


def require_sane(text: bytes, where: str) -> None:
    """Raise VjproofError where a module is too large, or a text is not UTF-8 or nests brackets too deeply."""
    if len(text) > MOST_BYTES:
        raise VjproofError(where, expected=f"at most {MOST_BYTES} bytes", got=str(len(text)))
    if text.startswith(BYTECODE):
        return
    try:
        text.decode("utf-8")
    except UnicodeDecodeError:
        raise VjproofError(
            where, expected="StableHLO as text, bytecode or portable artifact", got="other bytes"
        ) from None
    if b"\0" in text:
        raise VjproofError(where, expected="StableHLO text", got="a zero byte")
    depth = 0
    for found in _TEXT.finditer(text):
        token = found.group()
        if token in (b"(", b"[", b"{", b"<"):
            depth += 1
            if depth > DEEPEST:
                line = text.count(b"\n", 0, found.start()) + 1
                raise VjproofError(f"{where}, line {line}", expected=f"at most {DEEPEST} brackets within brackets")
        elif token in _CLOSED_BY:
            depth = max(0, depth - 1)
