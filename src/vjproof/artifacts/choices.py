"""What an export is asked for, checked before any work."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vjproof.errors import VjproofError

FORMATS = ("stablehlo", "onnx")
PROGRAMS = {"gradient": ("gradient",), "forward": ("forward",), "both": ("forward", "gradient")}
WEIGHTS = ("inside", "arguments")
SYMBOLIC = "symbolic"
LARGEST_BATCH = 65536


@dataclass(frozen=True)
class Choices:
    """One export: its format `kind`, `programs` (forward, gradient), `batches` (None: symbolic), where the weights go.

    `target_version` is StableHLO's, `opset` ONNX's; None means the default of each.
    """

    kind: str
    programs: tuple[str, ...]
    batches: tuple[int | None, ...]
    weights_inside: bool
    target_version: str | None
    opset: int | None


def parse_choices(
    *,
    kind: str,
    what: str = "both",
    batch: str | int | Sequence[str | int] = SYMBOLIC,
    weights: str = "inside",
    target_version: str | None = None,
    opset: int | None = None,
) -> Choices:
    """Return the choices; VjproofError for a word that is none of those offered, and for an option of another format.

    `batch` is "symbolic", a number of images, or several of these: a program is written for each.
    """
    for name, given, offered in (("format", kind, FORMATS), ("what", what, PROGRAMS), ("weights", weights, WEIGHTS)):
        if given not in offered:
            raise VjproofError(f"export {name}", expected=" or ".join(offered), got=repr(given)[:40])
    if kind != "stablehlo" and target_version is not None:
        raise VjproofError("export target version", expected="the format stablehlo", got=kind)
    if kind != "onnx" and opset is not None:
        raise VjproofError("export opset", expected="the format onnx", got=kind)
    several = [batch] if isinstance(batch, str | int) else list(batch)
    batches = tuple(dict.fromkeys(map(_batch, several)))
    if not batches:
        raise VjproofError("export batch", expected="symbolic, or numbers of images", got="none")
    return Choices(kind, PROGRAMS[what], batches, weights == "inside", target_version, opset)


def _batch(given: str | int) -> int | None:
    if given == SYMBOLIC:
        return None
    text = str(given)
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 9 else 0
    if isinstance(given, bool) or not 1 <= number <= LARGEST_BATCH:
        raise VjproofError(
            "export batch", expected=f"symbolic, or a number of images from 1 to {LARGEST_BATCH}", got=repr(given)[:40]
        )
    return number
