"""A gradient from elsewhere, as a .npy file."""

from __future__ import annotations

from pathlib import Path

from vjproof.errors import VjproofError, excerpt
from vjproof.vit.params import Array

MOST_BYTES = 2**28


def read_gradient(file: str | Path) -> Array:
    """Return the array of a .npy file; VjproofError where it is absent, too large, or not plain numbers."""
    import numpy as np

    path = Path(file)
    try:
        if path.stat().st_size > MOST_BYTES:
            raise ValueError("a larger file")
        with path.open("rb") as stream:
            return np.lib.format.read_array(stream, allow_pickle=False, max_header_size=2**16)
    except (OSError, ValueError, EOFError, MemoryError, SyntaxError) as problem:
        raise VjproofError(
            excerpt(path), expected=f"a .npy file of floats, at most {MOST_BYTES} bytes", got=excerpt(problem)
        ) from None
