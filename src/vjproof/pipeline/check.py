"""Check certificates of both kinds: of theorems, by the kernel, and of enclosures, from their stored numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vjproof.errors import VjproofError
from vjproof.pipeline.prove import check_certificates
from vjproof.weights.json_file import read_json


def check_files(
    files: Sequence[str | Path], *, advance: Callable[[int, int], None] | None = None
) -> list[dict[str, Any]]:
    """Return a JSON-ready record per certificate file, by kind: what it proves or bounds, or the reason of a refusal.

    `advance` is told (files done, files in all). VjproofError where there is no such file.
    """
    paths = list(dict.fromkeys(map(Path, files)))
    documents = {path: _enclosure(path) for path in paths}
    others = [path for path in paths if documents[path] is None]
    told = (lambda done, _total: advance(done, len(paths))) if advance else None
    records = dict(zip(others, check_certificates(others, advance=told) if others else [], strict=True))
    for done, (path, document) in enumerate(documents.items()):
        if document is not None:
            records[path] = _checked(path, document)
            if advance:
                advance(len(others) + done + 1, len(paths))
    return [records[path] for path in paths]


def _enclosure(path: Path) -> dict[str, Any] | None:
    """Return the document of an enclosure; None for any other file, which the kernel then judges."""
    from vjproof.certification.document import KIND

    try:
        document = read_json(path).values
    except VjproofError:
        return None
    return dict(document) if document.get("kind") == KIND else None


def _checked(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    from vjproof.certification.document import KIND, check_certificate

    record: dict[str, Any] = {"path": str(path), "kind": KIND, "statement": [], "reason": ""}
    try:
        record["statement"] = check_certificate(document, path.parent)
    except VjproofError as refusal:
        record["reason"] = str(refusal)
    return record
