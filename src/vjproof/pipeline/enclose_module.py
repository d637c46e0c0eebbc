"""Enclose a StableHLO module on arrays from files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from vjproof.certification.gradient_file import read_gradient
from vjproof.certification.module import bound_results, enclose_module
from vjproof.files import read_bounded
from vjproof.stablehlo.limits import MOST_BYTES


def enclose_file(
    module: str | Path,
    arrays: Sequence[str | Path],
    *,
    results: Sequence[str | Path] = (),
    function: str = "main",
    effects: bool = False,
    bits: int | None = None,
    advance: Callable[[float], None] | None = None,
) -> dict[str, Any]:
    """Return a JSON-ready record of what a module computes: per result its size, radius and, where given, the error.

    VjproofError for bad arguments and files, and as `vjproof.enclose_module`.
    """
    import numpy as np

    given, computed = [read_gradient(file) for file in arrays], [read_gradient(file) for file in results]
    enclosed = enclose_module(
        read_bounded(Path(module), MOST_BYTES), *given, function=function, effects=effects, bits=bits, advance=advance
    )
    errors = bound_results(enclosed, computed) if computed else [None] * len(enclosed.mid)
    return {
        "module": str(module), "sha256": enclosed.sha256, "bits": enclosed.bits,
        "results": [
            {"shape": list(mid.shape), "largest": float(np.abs(mid).max()), "radius": float(rad.max()), "error": error}
            for mid, rad, error in zip(enclosed.mid, enclosed.rad, errors, strict=True)
        ],
        "effects": [{"reading": effect.words, "absolute": effect.absolute} for effect in enclosed.effects],
    }  # fmt: skip
