"""The derivative of a term with respect to a tensor: sum, product, chain and delta rules, and nothing else."""

from __future__ import annotations

from fractions import Fraction

from vjproof.kernel.program import Refused


def derivative(algebra, polynomial, name, indices):
    """Return d polynomial / d name[indices].

    d (a^e) = e a^(e-1) d a; d T[i] / d T[j] = delta(i, j); d exp(m) = exp(m) d m;
    d erfc(p) = -2 / sqrt(pi) exp(-p^2) d p. A maximum of the tensor is refused, never differentiated.
    """
    total = {}
    for monomial, coefficient in polynomial.items():
        for atom, exponent in monomial:
            if name in atom.tensors:
                rest = dict(monomial) | {atom: exponent - 1}
                outer = algebra.monomial(coefficient * exponent, rest)
                total = algebra.add(total, algebra.multiply(outer, _atom(algebra, atom, name, indices)))
    return total


def _atom(algebra, atom, name, indices):
    kind, data = atom.kind, atom.data
    if kind == "entry":
        return algebra.product([algebra.delta(s, t) for s, t in zip(data[1], indices, strict=True)])
    if kind == "sum":
        variables, factors = algebra.open(atom)
        inside = algebra.product([{(factor,): Fraction(1)} for factor in factors])
        return algebra.sum(variables, derivative(algebra, inside, name, indices))
    if kind == "exp":
        inner = derivative(algebra, {data[0]: Fraction(1)}, name, indices)
        return algebra.multiply({((atom, 1),): Fraction(1)}, inner)
    if kind == "erfc":
        p = dict(data[0])
        slope = algebra.exp(algebra.scale(algebra.multiply(p, p), -1))
        slope = algebra.multiply(algebra.scale(slope, -2), algebra.pi(Fraction(-1, 2)))
        return algebra.multiply(slope, derivative(algebra, p, name, indices))
    if kind == "power":
        return derivative(algebra, dict(data[0]), name, indices)
    raise Refused(f"a {kind} is not differentiated")
