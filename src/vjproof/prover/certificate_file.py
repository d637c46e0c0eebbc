"""Certificates as files: written whole or not at all, and read for the checker."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.files import bytes_writer, write_together


def write_certificates(
    folder: Path, certificates: Mapping[str, Mapping[str, Any]], others: Mapping[str, bytes] | None = None
) -> list[Path]:
    """Write each certificate to folder/name, all of them completely before the first takes its place.

    `others` are files that belong to them. VjproofError where the folder cannot be written; then nothing is left
    half-written.
    """
    texts = {n: json.dumps(c, separators=(",", ":")).encode("ascii") + b"\n" for n, c in certificates.items()}
    writers = {folder / name: bytes_writer(content) for name, content in (texts | dict(others or {})).items()}
    try:
        folder.mkdir(parents=True, exist_ok=True)
        write_together(writers)
    except OSError as problem:
        raise VjproofError(
            excerpt(problem.filename or folder), expected="a folder to write certificates to",
            got=excerpt(problem.strerror or problem), remedy="choose another one with -o",
        ) from None  # fmt: skip
    return list(writers)
