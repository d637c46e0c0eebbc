"""Export a network from its name or file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vjproof import classifier
from vjproof.artifacts.choices import parse_choices
from vjproof.artifacts.writer import export


def export_network(
    model: str | Path,
    out: str | Path | None,
    *,
    kind: str,
    batch: Sequence[str] = (),
    what: str = "both",
    weights: str = "inside",
    target_version: str | None = None,
    opset: int | None = None,
    advance: Callable[[int, int], None] | None = None,
    **choices: Any,
) -> dict[str, Any]:
    """Write the programs of a model into the folder `out` (None: NAME-FORMAT here), and return manifest and folder.

    `kind` is the format. `choices` go to `vjproof.load`, all else to `vjproof.export`, which says what it means.
    """
    asked: dict[str, Any] = {
        "batch": batch or "symbolic", "what": what, "weights": weights, "target_version": target_version,
        "opset": opset,
    }  # fmt: skip
    parse_choices(kind=kind, **asked)  # before a large file is read
    network = classifier.load(model, **choices)
    folder = Path(out) if out is not None else Path(f"{network.name}-{kind}")
    return {"folder": str(folder), **export(network, folder, format=kind, **asked, advance=advance)}
