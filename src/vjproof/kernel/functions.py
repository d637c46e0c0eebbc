"""Functions of terms: powers, numbers, sizes, exponentials, erfc, with the identities they use; and derivatives."""

from __future__ import annotations

from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any

from vjproof.kernel.atoms import Atom
from vjproof.kernel.program import Refused

Monomial = frozenset[tuple[Atom, Any]]
Polynomial = dict[Monomial, Fraction]
ONE: Monomial = frozenset()
UNIT: Polynomial = {ONE: Fraction(1)}


class Functions:
    """The functions of `terms.Algebra`."""

    def number(self: Any, value: Any, exponent: Any = 1) -> Polynomial:
        """Return a positive rational to a rational power, over primes (a cofactor without small ones stays whole)."""
        factors: dict[Atom, Any] = {}
        for rest, sign in ((Fraction(value).numerator, 1), (Fraction(value).denominator, -1)):
            prime = 2
            while rest > 1:
                prime = rest if prime > 1000 else prime
                while rest % prime == 0:
                    rest, atom = rest // prime, self.atom("number", prime)
                    factors[atom] = factors.get(atom, 0) + sign * Fraction(exponent)
                prime += 1
        return self.monomial(Fraction(1), factors)

    def size(self: Any, axis: Any, exponent: Any = 1) -> Polynomial:
        """Return the number of elements of an axis, to a rational power."""
        sizes = []
        for factor in axis:
            if not isinstance(factor, str):
                sizes.append(self.add(*map(self.size, factor)))
            else:
                known = self.atoms[factor]
                sizes.append(self.term("size", factor) if known is None else {ONE: Fraction(known)})
        return self.power(self.product(sizes), Fraction(exponent)) if exponent != 1 else self.product(sizes)

    def exp(self: Any, polynomial: Polynomial) -> Polynomial:
        """Return e to a polynomial: the product of e to each of its monomials, to the power of its coefficient."""
        return self.monomial(Fraction(1), {self.atom("exp", m): c for m, c in polynomial.items()})

    def erfc(self: Any, polynomial: Polynomial) -> Polynomial:
        """Return erfc of a polynomial; erfc(0) = 1, and erfc(-p) = 2 - erfc(p) orients it."""
        if not polynomial:
            return UNIT
        if orientation(polynomial) > 0:
            return self.term("erfc", frozenset(polynomial.items()))
        mirrored = self.term("erfc", frozenset(self.scale(polynomial, -1).items()))
        return self.add({ONE: Fraction(2)}, self.scale(mirrored, -1))

    def power(self: Any, polynomial: Polynomial, exponent: Fraction) -> Polynomial:
        """Return a polynomial to a nonzero rational power.

        By the conditions of `signs`, a negative power is of a nonzero value, a fractional one of a positive value. So
        (c a b)^e = c^e a^e b^e for whole e, and for fractional e where all but one single factor are positive.
        """
        self.spend()
        whole = exponent == int(exponent)
        if not polynomial and exponent < 0:
            raise Refused("a division by zero")
        if len(polynomial) != 1 and whole and 0 < exponent <= 64:
            return self.product([polynomial] * int(exponent))
        if len(polynomial) != 1:
            return self._power_of_sum(polynomial, exponent, whole) if polynomial else {}
        ((monomial, coefficient),) = polynomial.items()
        if coefficient < 0 and not whole:
            raise Refused("a fractional power of a negative multiple")
        held = frozenset() if whole else frozenset((a, e) for a, e in monomial if not a.positive)
        if len(held) == 1 and max(e for _, e in held) == 1:
            held = frozenset()
        taken = {a: e * exponent for a, e in monomial - held}
        taken |= {self.atom("power", frozenset({(held, Fraction(1))})): exponent} if held else {}
        sign = -1 if coefficient < 0 and int(exponent) % 2 else 1
        return self.scale(
            self.multiply(self.number(abs(coefficient), exponent), self.monomial(Fraction(1), taken)), sign
        )

    def _power_of_sum(self: Any, polynomial: Polynomial, exponent: Fraction, whole: bool) -> Polynomial:
        """Take out common factors, so that equal sums meet: (c m p)^e = (c m)^e p^e, with c > 0 for fractional e.

        Of two products of exponentials the one that holds less of the atom that tells them apart is taken out.
        """
        allowed = [{a: e for a, e in m if a.positive or (whole and a.kind != "delta")} for m in polynomial]
        least = {a: min(m.get(a, 0) for m in allowed) for m in allowed for a in m}
        common = frozenset((a, e) for a, e in least.items() if e)
        content = Fraction(gcd(*(c.numerator for c in polynomial.values())))
        content *= Fraction(orientation(polynomial) if whole else 1, lcm(*(c.denominator for c in polynomial.values())))
        outer = self.power({common: content}, exponent)
        base = self.multiply(polynomial, {inverse(common): 1 / content})
        if len(base) == 2 and all(a.kind == "exp" for m in base for a, _ in m):
            left, right = base
            ((ratio, _),) = self.multiply({left: Fraction(1)}, {inverse(right): Fraction(1)}).items()
            divisor = right if min(ratio, key=rank)[1] > 0 else left
            outer = self.multiply(outer, self.power({divisor: Fraction(1)}, exponent))
            base = self.multiply(base, {inverse(divisor): Fraction(1)})
        if len(base) == 1:
            return self.multiply(outer, self.power(base, exponent))
        return self.multiply(outer, self.monomial(Fraction(1), {self.atom("power", frozenset(base.items())): exponent}))

    def use_logistic(self: Any, power: Atom, coefficient: Fraction, factors: dict[Atom, Any]) -> Polynomial | None:
        """Rule, for R = 1 / (1 + y) with y a product of exponentials: y R = 1 - R, and R / y = 1 / y - R."""
        base = dict(power.data[0])
        (y,) = base.keys() - {ONE} if len(base) == 2 and base.get(ONE) == 1 else [ONE]
        if y == ONE or base[y] != 1 or factors[power] != int(factors[power]) or any(a.kind != "exp" for a, _ in y):
            return None
        marker, step = min(y, key=rank)
        turns = floor(Fraction(factors.get(marker, 0)) / step)
        if turns == 0:
            return None
        divided = {**factors, **{a: factors.get(a, 0) - (e if turns > 0 else -e) for a, e in y}}
        first = {**(divided if turns > 0 else factors), power: factors[power] + 1}
        return self.add(self.monomial(coefficient, first), self.monomial(-coefficient, divided))

    def derivative(self: Any, polynomial: Polynomial, name: str, indices: Any) -> Polynomial:
        """Return d polynomial / d name[indices].

        d (a b) = a d b + b d a; d a^e = e a^(e-1) d a; d T[i] / d T[j] = delta(i, j); d exp(m) = exp(m) d m;
        d erfc(p) = -2 / sqrt(pi) exp(-p^2) d p. An unknown function of the tensor, such as a maximum, is refused.
        """
        total: Polynomial = {}
        for monomial, coefficient in polynomial.items():
            for atom, exponent in monomial:
                if name in atom.tensors:
                    outer = self.monomial(coefficient * exponent, {**dict(monomial), atom: exponent - 1})
                    total = self.add(total, self.multiply(outer, self._slope(atom, name, indices)))
        return total

    def _slope(self: Any, atom: Atom, name: str, indices: Any) -> Polynomial:
        if atom.kind == "entry":
            return self.product(self.delta(s, t) for s, t in zip(atom.data[1], indices, strict=True))
        if atom.kind == "sum":
            variables, inside = self.open(atom)
            return self.sum(variables, self.derivative(inside, name, indices))
        if atom.kind not in ("exp", "erfc", "power"):
            raise Refused(f"an unknown function ({atom.data[0]}) is not differentiated")
        p = {atom.data[0]: Fraction(1)} if atom.kind == "exp" else dict(atom.data[0])
        outer = {frozenset({(atom, 1)}): Fraction(1)} if atom.kind == "exp" else UNIT
        if atom.kind == "erfc":
            root = self.term("pi", exponent=Fraction(-1, 2))
            outer = self.scale(self.multiply(self.exp(self.scale(self.multiply(p, p), -1)), root), -2)
        return self.multiply(outer, self.derivative(p, name, indices))


def inverse(monomial: Monomial) -> Monomial:
    """Return one over a product."""
    return frozenset((atom, -exponent) for atom, exponent in monomial)


def rank(factor: tuple[Atom, Any]) -> tuple[int, int]:
    """Return what orders factors: by signature, which renaming does not change."""
    return factor[0].signature, factor[0].number


def orientation(polynomial: Polynomial) -> int:
    """Return a sign that p and -p disagree on, and that renaming does not change (1 where none is found)."""
    ranked: dict[int, Fraction] = {}
    for monomial, coefficient in polynomial.items():
        signature = hash(tuple(sorted((a.signature, e) for a, e in monomial)))
        ranked[signature] = ranked.get(signature, Fraction(0)) + coefficient
    return next((1 if ranked[key] > 0 else -1 for key in sorted(ranked) if ranked[key]), 1)
