"""Indices of tensor entries: variables over factors of axes, and embeddings of a part into a union.

An index is ("v", name, factor), or ("e", union, start, stop, inner): parts start to stop of a union, where inner
are the indices of that part (one part), or one index over the smaller union (several parts).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Index: TypeAlias = tuple[Any, ...]


def variables_in(index: Index) -> set[Any]:
    """Return the names of the variables of an index."""
    return {index[1]} if index[0] == "v" else {name for inner in index[4] for name in variables_in(inner)}


def embed(union: Index, start: int, stop: int, inner: tuple[Index, ...]) -> Index:
    """Return the index of parts start to stop of a union; the whole union is no embedding, two are one."""
    if stop - start == len(union):
        return inner[0]
    if stop - start > 1 and inner[0][0] == "e":
        _, _, low, high, inside = inner[0]
        return embed(union, start + low, start + high, inside)
    return ("e", union, start, stop, tuple(inner))


def replace_in(index: Index, mapping: Mapping[Any, Index]) -> Index:
    """Return an index with variables replaced by indices of the same factor."""
    if index[0] == "v":
        return mapping.get(index[1], index)
    return embed(index[1], index[2], index[3], tuple(replace_in(inner, mapping) for inner in index[4]))


def meet(s: Index, t: Index) -> list[tuple[Index, Index]] | None:
    """Return the pairs of indices that must be equal for s = t, or None where they never are."""
    if s == t:
        return []
    if s[0] == "v" or t[0] == "v":
        return [(s, t) if str(s) < str(t) else (t, s)]
    (_, union, a, b, inside), (_, _, c, d, within) = s, t
    if b <= c or d <= a:
        return None
    if (a, b) == (c, d):
        pairs = [meet(i, j) for i, j in zip(inside, within, strict=True)]
        return None if None in pairs else [pair for some in pairs if some for pair in some]
    if c <= a and b <= d:
        return meet(t, s)
    if a <= c and d <= b:
        return meet(inside[0], embed(union[a:b], c - a, d - a, within))
    return [(s, t) if str(s) < str(t) else (t, s)]
