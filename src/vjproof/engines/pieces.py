"""Large batches in pieces, so that memory does not grow with the batch; each image's result is its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from vjproof.vit.config import Config
from vjproof.vit.params import Array

MEMORY = 2**31  # bytes of activations that one piece may take; one image is always allowed


def cut(count: int, workers: int, most: int) -> Iterator[slice]:
    """Yield slices of range(count): nearly equal, at most `most` long, as many for each worker where that can be."""
    pieces = -(-count // max(1, most))
    pieces = min(count, -(-pieces // workers) * workers)
    for piece in range(pieces):
        yield slice(count * piece // pieces, count * (piece + 1) // pieces)


def images_together(config: Config, dtype: str) -> int:
    """Return how many images may run together in `dtype` where every activation is an array of its own."""
    row = 14 * config.hidden + 4 * config.mlp + 3 * config.heads * config.tokens
    image = max(1, config.depth) * config.tokens * row * (8 if dtype == "float64" else 4)
    return max(1, MEMORY // image)


def in_pieces(function: Callable[..., Any], most: int, *arrays: Array) -> Any:
    """Return function(*arrays), an array or a tuple of arrays, computed on at most `most` leading entries at a time."""
    import numpy as np

    places = list(cut(len(arrays[0]), 1, most))
    if len(places) < 2:
        return function(*arrays)
    parts = [function(*(array[place] for array in arrays)) for place in places]
    if isinstance(parts[0], tuple):
        return tuple(np.concatenate(several) for several in zip(*parts, strict=True))
    return np.concatenate(parts)
