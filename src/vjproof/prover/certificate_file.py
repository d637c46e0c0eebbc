"""Certificates as files: written whole or not at all, and read for the checker."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt


def write_certificates(
    folder: Path, certificates: Mapping[str, Mapping[str, Any]], others: Mapping[str, bytes] | None = None
) -> list[Path]:
    """Write each certificate to folder/name, all of them completely before the first takes its place.

    `others` are files that belong to them. VjproofError where the folder cannot be written; then nothing is left
    half-written.
    """
    texts = {n: json.dumps(c, separators=(",", ":")).encode("ascii") + b"\n" for n, c in certificates.items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with ExitStack() as cleanup:
            moves = []
            for number, (name, content) in enumerate((texts | dict(others or {})).items()):
                draft = folder / f".vjproof-{os.getpid()}-{number}.tmp"
                cleanup.callback(_remove, draft)
                draft.write_bytes(content)
                moves.append((draft, folder / name))
            for draft, path in moves:
                draft.replace(path)
    except OSError as problem:
        raise VjproofError(
            excerpt(problem.filename or folder), expected="a folder to write certificates to",
            got=excerpt(problem.strerror or problem), remedy="choose another one with -o",
        ) from None  # fmt: skip
    return [path for _, path in moves]


def _remove(draft: Path) -> None:
    with suppress(OSError):
        draft.unlink()
