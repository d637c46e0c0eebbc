"""Validate a gradient module against a forward module."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


def validate_modules(
    forward: str | Path,
    gradient: str | Path,
    *,
    wrt: Sequence[str] = (),
    cotangent: Sequence[str] = (),
    out: str | Path | None = None,
) -> Any:
    """Return the `Validation` of two StableHLO files, and write its certificate and both modules to `out`.

    `wrt` and `cotangent` are places or labels of arguments; none: argument 0, and what the forward module does not
    take; "all" as the only one: every argument. VjproofError for files that cannot be read, before anything is written.
    """
    from vjproof.validation.gradient_claim import validate

    chosen: Any = "all" if list(wrt) == ["all"] else list(wrt) or 0
    validation = validate(Path(forward), Path(gradient), wrt=chosen, cotangent=list(cotangent) or None)
    if out is not None and validation:
        validation.save(out)
    return validation
