"""Atoms: what monomials are products of. Equal atoms are one object, so that equality is identity.

entry (name, indices)      one entry of a tensor           delta (s, t)         1 where s = t, else 0
sum (variables, factors)   the sum of one product over its variables, all factors linked by them
exp (m)                    e to the monomial m             erfc (p)             1 - erf(p)
power (p)                  p, where it has several terms   number (p), pi       a prime (or large number), pi
size (a)                   the number of elements of an atomic axis
opaque (name, indices, variables, ps)   an entry of an unknown function of the arrays that ps are over variables
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from zlib import crc32

from vjproof.kernel.indices import Index, variables_in

POSITIVE = ("number", "pi", "size", "exp")


def code(data: Any) -> int:
    """Return an integer for nested data that is the same in every run, unlike the hash of a text."""
    return crc32(repr(data).encode())


class Atom:
    """One atom: free variables, tensors inside, nesting level of bound variables, a signature without names."""

    __slots__ = ("data", "free", "kind", "level", "number", "positive", "signature", "tensors")
    free: frozenset[Any]
    tensors: frozenset[str]
    positive: bool

    def __init__(self, kind: str, data: tuple[Any, ...], number: int) -> None:
        self.kind, self.data, self.number = kind, data, number
        inner: list[Atom] = [atom for m in self.products() for atom, _ in m]
        bound = {v[1] for v in (data[0] if kind == "sum" else data[2] if kind == "opaque" else ())}
        indices = data[1] if kind in ("entry", "opaque") else data if kind == "delta" else ()
        free = {name for atom in inner for name in atom.free} - bound
        self.free = frozenset(free | {name for index in indices for name in variables_in(index)})
        self.tensors = frozenset(data[:1] if kind == "entry" else ()).union(*(atom.tensors for atom in inner))
        self.level: int = max((atom.level for atom in inner), default=0) + (kind in ("sum", "opaque"))
        self.positive = kind in POSITIVE or (kind == "sum" and all(atom.positive for atom in inner))
        if kind == "power":
            self.positive = all(c > 0 for c in dict(data[0]).values()) and all(atom.positive for atom in inner)
        self.signature = self.coloured(None)

    def products(self) -> list[Any]:
        """Return the monomials directly inside."""
        if self.kind in ("sum", "exp"):
            return [self.data[-1]]
        polynomials = self.data[3] if self.kind == "opaque" else self.data if self.kind in ("erfc", "power") else ()
        return [monomial for polynomial in polynomials for monomial, _ in polynomial]

    def coloured(self, colours: Mapping[Any, int] | None) -> int:
        """Return a hash in which a variable counts by its colour; without colours, by its factor alone."""
        if colours is not None and not any(name in colours for name in self.free):
            return hash((self.signature, *sorted(map(code, self.free))))

        def index(i: Index) -> int:
            if i[0] == "v":
                return hash((code(i[2]), 0 if colours is None else colours.get(i[1], code(i[1]))))
            return hash((code(i[1:4]), *map(index, i[4])))

        def product(m: Any) -> int:
            return hash(tuple(sorted((a.signature if colours is None else a.coloured(colours), e) for a, e in m)))

        kind, data = code(self.kind), self.data
        if self.kind in ("entry", "opaque"):
            inside = sorted((product(m), c) for p in data[3:4] for q in p for m, c in q)
            return hash((kind, code(data[0]), *map(index, data[1]), *inside))
        if self.kind == "delta":
            return hash((kind, *sorted(map(index, data))))
        if self.kind in ("sum", "exp"):
            return hash((kind, product(data[-1])))
        if self.kind in ("erfc", "power"):
            return hash((kind, *sorted((product(m), c) for m, c in data[0])))
        return hash((kind, code(data)))
