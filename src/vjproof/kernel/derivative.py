"""The derivative of a term with respect to a tensor: sum, product, chain and delta rules, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from vjproof.kernel.atoms import Atom
from vjproof.kernel.indices import Index
from vjproof.kernel.program import Refused
from vjproof.kernel.terms import Algebra, Polynomial


def derivative(algebra: Algebra, polynomial: Polynomial, name: str, indices: Sequence[Index]) -> Polynomial:
    """Return d polynomial / d name[indices].

    d (a^e) = e a^(e-1) d a; d T[i] / d T[j] = delta(i, j); d exp(m) = exp(m) d m; d erfc(p) = -2 / sqrt(pi)
    exp(-p^2) d p. An unknown function of the tensor, such as a maximum, is refused, never differentiated.
    """
    total: Polynomial = {}
    for monomial, coefficient in polynomial.items():
        for atom, exponent in monomial:
            if name in atom.tensors:
                outer = algebra.monomial(coefficient * exponent, dict(monomial) | {atom: exponent - 1})
                total = algebra.add(total, algebra.multiply(outer, _atom(algebra, atom, name, indices)))
    return total


def _atom(algebra: Algebra, atom: Atom, name: str, indices: Sequence[Index]) -> Polynomial:
    if atom.kind == "entry":
        return algebra.product([algebra.delta(s, t) for s, t in zip(atom.data[1], indices, strict=True)])
    if atom.kind == "sum":
        variables, inside = algebra.open(atom)
        return algebra.sum(variables, derivative(algebra, inside, name, indices))
    if atom.kind not in ("exp", "erfc", "power"):
        raise Refused(f"an unknown function ({atom.data[0]}) is not differentiated")
    p = {atom.data[0]: Fraction(1)} if atom.kind == "exp" else dict(atom.data[0])
    slope = derivative(algebra, p, name, indices)
    if atom.kind == "erfc":
        outer = algebra.exp(algebra.scale(algebra.multiply(p, p), -1))
        return algebra.multiply(algebra.scale(algebra.multiply(outer, algebra.pi(Fraction(-1, 2))), -2), slope)
    return algebra.multiply({((atom, 1),): Fraction(1)}, slope) if atom.kind == "exp" else slope
