"""Choices that a program leaves to whoever evaluates it: inputs that are 1 where a comparison holds, else 0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Choices:
    """Inputs of a program that are found: each from (difference, direction), a value and how it compares with 0.

    `complements` are values of the program that are 1 less such an input.
    """

    comparisons: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    complements: frozenset[str] = frozenset()


NO_CHOICES = Choices()


def compared(direction: str, difference: Any) -> Any:
    """Return 1 where a ball certainly compares with 0 as LT, LE, GT, GE, EQ or NE says, 0 where it certainly does not.

    Elsewhere the ball [0, 1], which makes both sides of the choice count.
    """
    import flint

    if direction in ("GT", "GE"):
        return compared({"GT": "LT", "GE": "LE"}[direction], -difference)
    if direction == "LT":
        yes, no = difference < 0, difference >= 0
    elif direction == "LE":
        yes, no = difference <= 0, difference > 0
    else:
        yes, no = difference.is_zero(), not difference.contains(0)
        yes, no = (no, yes) if direction == "NE" else (yes, no)
    return flint.arb(1) if yes else flint.arb(0) if no else flint.arb(0.5, 0.5)
