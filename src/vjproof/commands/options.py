"""What several commands share: exit statuses, the --json option, and options for models."""

from __future__ import annotations

from typing import Annotated

import typer

from vjproof.errors import VjproofError

DONE, NEGATIVE, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


def parse_size(text: str | None) -> tuple[int, int] | None:
    """Return (height, width) for `SIDE` or `HEIGHTxWIDTH`; raises VjproofError for anything else."""
    if text is None:
        return None
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(side.isascii() and side.isdigit() and len(side) < 6 for side in sides):
        raise VjproofError("--image-size", expected="SIDE or HEIGHTxWIDTH in pixels", got=repr(text[:40]))
    return int(sides[0]), int(sides[-1])
