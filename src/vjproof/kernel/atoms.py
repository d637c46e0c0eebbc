"""Indices of tensor entries, and atoms: what monomials are products of. Equal atoms are one object.

entry (name, indices)      one entry of a tensor           delta (s, t)         1 where s = t, else 0
sum (variables, product)   the sum of one product over its variables, all factors linked by them
exp (product)              e to one product                erfc (p)             1 - erf(p)
power (p)                  p, where it has several terms   number (p), pi       a prime (or large number), pi
size (a)                   the number of elements of an atomic axis
opaque (name, indices, variables, ps)   an entry of an unknown function of the arrays that ps are over variables
"""

from __future__ import annotations

from typing import Any, NamedTuple
from zlib import crc32


class Variable(NamedTuple):
    """An index that is free over a factor."""

    name: Any
    factor: Any


class Part(NamedTuple):
    """An index in parts start to stop of a union: indices of that part, or one index of the smaller union."""

    union: tuple[Any, ...]
    start: int
    stop: int
    inner: tuple[Any, ...]


Index = Variable | Part


def embed(union: Any, start: int, stop: int, inner: Any) -> Index:
    """Return the index of parts start to stop of a union; the whole union is no embedding, two are one."""
    if stop - start == len(union):
        return inner[0]
    if stop - start > 1 and isinstance(inner[0], Part):
        return embed(union, start + inner[0].start, start + inner[0].stop, inner[0].inner)
    return Part(union, start, stop, tuple(inner))


def replace_in(index: Index, mapping: Any) -> Index:
    """Return an index with variables replaced by indices of the same factor."""
    if isinstance(index, Variable):
        return mapping.get(index.name, index)
    return embed(*index[:3], tuple(replace_in(inner, mapping) for inner in index.inner))


def meet(s: Index, t: Index) -> list[tuple[Index, Index]] | None:
    """Return the pairs of indices that must be equal for s = t, or None where they never are."""
    if s == t:
        return []
    if isinstance(s, Variable) or isinstance(t, Variable):
        return [(s, t)]
    (union, a, b, inside), (_, c, d, within) = s, t
    if b <= c or d <= a:
        return None
    if (a, b) == (c, d):
        pairs = [meet(i, j) for i, j in zip(inside, within, strict=True)]
        return None if None in pairs else [pair for some in pairs for pair in some or []]
    if a <= c and d <= b:
        return meet(inside[0], embed(union[a:b], c - a, d - a, within))
    return meet(t, s) if c <= a and b <= d else [(s, t)]


def leaves(data: Any) -> list[Any]:
    """Return the atoms and the variables directly inside nested data."""
    if isinstance(data, Atom | Variable):
        return [data]
    return [leaf for item in data for leaf in leaves(item)] if isinstance(data, tuple | frozenset) else []


def hashed(data: Any, colours: Any) -> int:
    """Return a hash of nested data, the same in every run, in which a variable counts by its colour.

    Without colours (None) it counts by its factor alone; one that has no colour counts by its name.
    """
    if isinstance(data, Atom):
        return data.signature if colours is None else data.coloured(colours)
    if isinstance(data, Variable):
        colour = 0 if colours is None else colours.get(data.name)
        return hash((hashed(data.factor, None), hashed(data.name, None) if colour is None else colour))
    if isinstance(data, tuple | frozenset):
        inside = [hashed(item, colours) for item in data]
        return hash(tuple(inside if isinstance(data, tuple) else sorted(inside)))
    return crc32(data.encode()) if isinstance(data, str) else hash(data)


class Atom:
    """One atom: free variables, tensors inside, nesting level of bound variables, a signature without names."""

    __slots__ = ("data", "free", "kind", "level", "number", "positive", "signature", "tensors")

    free: frozenset[Any]
    tensors: frozenset[str]
    positive: bool
    level: int

    def __init__(self, kind: str, data: tuple[Any, ...], number: int) -> None:
        self.kind, self.data, self.number = kind, data, number
        found = leaves(data)
        inner = [leaf for leaf in found if isinstance(leaf, Atom)]
        names = {name for leaf in found for name in (leaf.free if isinstance(leaf, Atom) else [leaf.name])}
        self.free = frozenset(names - {v.name for v in {"sum": data[:1], "opaque": data[2:3]}.get(kind, [()])[0]})
        self.tensors = frozenset(data[:1] if kind == "entry" else ()).union(*(atom.tensors for atom in inner))
        self.level = max((atom.level for atom in inner), default=0) + (kind in ("sum", "opaque"))
        sums = kind == "sum" or (kind == "power" and all(c > 0 for _, c in data[0]))
        self.positive = kind in ("number", "pi", "size", "exp") or (sums and all(atom.positive for atom in inner))
        self.signature = self.coloured(None)

    def __hash__(self) -> int:
        return self.number

    def coloured(self, colours: Any) -> int:
        """Return a hash in which a variable counts by its colour; without colours, by its factor alone."""
        if colours is not None and not colours.keys() & self.free:
            return hash((self.signature, *sorted(hashed(name, None) for name in self.free)))
        return hash(
            (hashed(self.kind, None), hashed(frozenset(self.data) if self.kind == "delta" else self.data, colours))
        )
