"""Choices that no tensor tells: given as arguments, declared in a file, or a stated default, in this order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from vjproof.errors import VjproofError
from vjproof.weights.declared import Declared
from vjproof.weights.report import Notes

Value = TypeVar("Value", int, float, str)
HEAD_WIDTH = 64
CONVENTIONAL = range(192, 1025)  # ViT-Tiny to ViT-Large; smaller and larger ones have heads of 32, 80, 88, 104


@dataclass(frozen=True)
class Choices:
    """The arguments of `weights.load`; None where the caller leaves the choice to the files."""

    heads: int | None = None
    eps: float | None = None
    gelu: str | None = None
    pooling: str | None = None
    grid: tuple[int, int] | None = None
    image_size: int | tuple[int, int] | None = None
    positions: str = "bicubic-antialias"
    mean: float | Sequence[float] | None = None
    std: float | Sequence[float] | None = None
    labels: Sequence[str] | None = None


def pair(name: str, value: int | tuple[int, int]) -> tuple[int, int]:
    """Return two whole numbers from one (twice) or two; raises VjproofError for anything else."""
    try:
        first, second = (value, value) if isinstance(value, int) else value
        if first == int(first) and second == int(second):
            return int(first), int(second)
    except (TypeError, ValueError):
        pass
    raise VjproofError(name, expected="one or two whole numbers", got=repr(value))


def settle(
    notes: Notes, name: str, given: Value | None, declared: Value | None, where: str, default: Value, why: str
) -> Value:
    """Return the value of one choice and note where it comes from."""
    if given is not None:
        other = f", {where} says {declared}" if declared is not None and declared != given else ""
        notes.recognised.append(f"{name} {given} (argument{other})")
        return given
    if declared is not None:
        notes.recognised.append(f"{name} {declared} ({where})")
        return declared
    notes.assumed.append(f"{name} {default}: {why}")
    return default


def settle_heads(choices: Choices, declared: Declared, hidden: int, where: str, notes: Notes) -> int:
    """Return the number of heads; 64 columns a head are assumed from width 192 to 1024 only."""
    known = choices.heads is not None or declared.heads is not None
    if not known and (hidden % HEAD_WIDTH or hidden not in CONVENTIONAL):
        raise VjproofError(
            where, expected="the number of attention heads, which no tensor tells", got=f"width {hidden} alone",
            remedy="pass heads=..., or a folder whose config.json states it",
        )  # fmt: skip
    default = max(hidden // HEAD_WIDTH, 1)
    why = f"width {hidden}, by the convention of {HEAD_WIDTH} columns a head"
    return settle(notes, "heads", choices.heads, declared.heads, declared.where, default, why)


def settle_eps(choices: Choices, declared: Declared, layout: str, dialect: str, notes: Notes) -> float:
    """Return the eps inside the root of the layer norms."""
    default = 1e-6 if dialect == "timm" or layout == "dinov2" else 1e-12
    family = "DINOv2" if layout == "dinov2" else "timm" if dialect == "timm" else "Hugging Face ViT and DeiT"
    why = f"the value of {family}; no file states it"
    return settle(notes, "eps", choices.eps, declared.eps, declared.where, default, why)


def settle_gelu(choices: Choices, declared: Declared, notes: Notes) -> str:
    """Return the form of the GELU; raises VjproofError for families whose activation no file states."""
    if declared.gelu == "unknown" and choices.gelu is None:
        raise VjproofError(
            f"{declared.where}: architecture", expected="a family with the exact GELU", got=declared.family,
            remedy="pass gelu='erf' or 'tanh' (and eps) if you know that it is a plain ViT",
        )  # fmt: skip
    stated = None if declared.gelu == "unknown" else declared.gelu
    why = "the exact form, the layout's usual choice; no file states it"
    return settle(notes, "gelu", choices.gelu, stated, declared.where, "erf", why)


def settle_pooling(choices: Choices, declared: Declared, prefix: int, fc_norm: bool, notes: Notes) -> str:
    """Return what the head reads; `fc_norm` (timm) normalises after the mean."""
    stated = "mean" if fc_norm and declared.pooling == "norm-mean" else declared.pooling
    default = "mean" if fc_norm else "cls" if prefix else "norm-mean"
    why = (
        "the tensors are named fc_norm" if fc_norm
        else "there is a class token; no file states the pooling" if prefix else "there is no class token"
    )  # fmt: skip
    return settle(notes, "pooling", choices.pooling, stated, declared.where, default, why)
