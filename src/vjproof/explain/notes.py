"""What a reader of a gradient must be told before looking at its picture."""

from __future__ import annotations

from vjproof.vit.params import Array


def gradient_notes(gradient: Array) -> tuple[str, ...]:
    """Return the notes on a finite `gradient` (C, H, W): exactly zero, of one sign, partly zero."""
    total = gradient.sum(axis=0)
    zeros = int((gradient == 0).sum())
    if zeros == gradient.size:
        return (
            "the gradient is exactly zero: to first order the target does not depend on this image"
            " (a head or a branch with zero weights, or units that are saturated beyond the number format)",
        )
    notes = []
    if (total <= 0).all():
        notes.append("no entry is positive: brightening any pixel lowers the target, to first order")
    if (total >= 0).all():
        notes.append("no entry is negative: brightening any pixel raises the target, to first order")
    if zeros:
        notes.append(f"{zeros} of {gradient.size} entries are exactly zero")
    return tuple(notes)
