"""What several commands share: exit statuses, the --json option, and options for models."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from vjproof.errors import VjproofError

DONE, NEGATIVE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]

Heads = Annotated[int | None, typer.Option(help="Attention heads, where the file does not tell.")]
Eps = Annotated[float | None, typer.Option(help="Layer norm's eps, where the file does not tell.")]
Gelu = Annotated[str | None, typer.Option(help="erf or tanh, where the file does not tell.")]
ImageSize = Annotated[str | None, typer.Option(help="Pixels: SIDE, or HEIGHTxWIDTH.")]


def model_choices(heads: int | None, eps: float | None, gelu: str | None, image_size: str | None) -> dict[str, Any]:
    """Return the choices that were given, as `vjproof.load` takes them; VjproofError for a malformed size."""
    given = {"heads": heads, "eps": eps, "gelu": gelu, "image_size": parse_size(image_size)}
    return {name: value for name, value in given.items() if value is not None}


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Return (height, width) for `SIDE` or `HEIGHTxWIDTH`; raises VjproofError for anything else."""
    if text is None:
        return None
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(side.isascii() and side.isdigit() and len(side) < 6 for side in sides):
        raise VjproofError("--image-size", expected="SIDE or HEIGHTxWIDTH in pixels", got=repr(text[:40]))
    return int(sides[0]), int(sides[-1])
