"""Functions of terms: powers, numbers, sizes, exponentials and erfc, each with the identities that it uses."""

from __future__ import annotations

from fractions import Fraction
from math import floor, gcd, lcm
from typing import Any

from vjproof.kernel.program import Refused


class Functions:
    """The functions of `terms.Algebra`."""

    def number(self: Any, value: Any, exponent: Any = 1) -> Any:
        """Return a positive rational to a rational power, over primes (a cofactor without small ones stays whole)."""
        factors: dict[Any, Any] = {}
        for rest, sign in ((Fraction(value).numerator, 1), (Fraction(value).denominator, -1)):
            prime = 2
            while rest > 1:
                prime = rest if prime > 1000 else prime
                while rest % prime == 0:
                    rest, atom = rest // prime, self.atom("number", prime)
                    factors[atom] = factors.get(atom, 0) + sign * Fraction(exponent)
                prime += 1
        return self.monomial(Fraction(1), factors)

    def size(self: Any, axis: Any, exponent: Any = 1) -> Any:
        """Return the number of elements of an axis, to a rational power."""
        sizes = []
        for factor in axis:
            if not isinstance(factor, str):
                sizes.append(self.add(*(self.size(part) for part in factor)))
            else:
                known = self.atoms[factor]
                sizes.append(self.term("size", factor) if known is None else {(): Fraction(known)})
        total = self.product(sizes)
        return self.power(total, Fraction(exponent)) if exponent != 1 else total

    def pi(self: Any, exponent: Any) -> Any:
        """Return pi to a rational power."""
        return {((self.atom("pi"), exponent),): Fraction(1)}

    def exp(self: Any, polynomial: Any) -> Any:
        """Return e to a polynomial: the product of e to each of its monomials, to the power of its coefficient."""
        return self.monomial(Fraction(1), {self.atom("exp", m): c for m, c in polynomial.items()})

    def erfc(self: Any, polynomial: Any) -> Any:
        """Return erfc of a polynomial; erfc(0) = 1, and erfc(-p) = 2 - erfc(p) orients it."""
        if not polynomial:
            return {(): Fraction(1)}
        if self.orientation(polynomial) > 0:
            return self.term("erfc", frozenset(polynomial.items()))
        mirrored = self.term("erfc", frozenset(self.scale(polynomial, -1).items()))
        return self.add({(): Fraction(2)}, self.scale(mirrored, -1))

    def orientation(self: Any, polynomial: Any) -> int:
        """Return a sign that p and -p disagree on, and that renaming does not change (1 where none is found)."""
        ranked: dict[int, Any] = {}
        for monomial, coefficient in polynomial.items():
            signature = hash(tuple(sorted((a.signature, e) for a, e in monomial)))
            ranked[signature] = ranked.get(signature, 0) + coefficient
        return next((1 if ranked[key] > 0 else -1 for key in sorted(ranked) if ranked[key]), 1)

    def power(self: Any, polynomial: Any, exponent: Any) -> Any:
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
        sign = -1 if coefficient < 0 and int(exponent) % 2 else 1
        held = [(a, e) for a, e in monomial if not (whole or a.positive)]
        held = [] if len(held) == 1 and held[0][1] == 1 else held
        taken = self.monomial(Fraction(1), {a: e * exponent for a, e in monomial if (a, e) not in held})
        if held:
            rest = self.monomial(
                Fraction(1), {self.atom("power", frozenset({tuple(held): Fraction(1)}.items())): exponent}
            )
            taken = self.multiply(taken, rest)
        return self.scale(self.multiply(self.number(abs(coefficient), exponent), taken), sign)

    def _power_of_sum(self: Any, polynomial: Any, exponent: Any, whole: bool) -> Any:
        """Take out common factors, so that equal sums meet: (c m p)^e = (c m)^e p^e, with c > 0 for fractional e."""
        allowed = [{a: e for a, e in m if a.positive or (whole and a.kind != "delta")} for m in polynomial]
        least = {a: min(m.get(a, 0) for m in allowed) for m in allowed for a in m}
        common = tuple(sorted(((a, e) for a, e in least.items() if e), key=lambda item: item[0].number))
        content = Fraction(gcd(*(c.numerator for c in polynomial.values())))
        content /= lcm(*(c.denominator for c in polynomial.values()))
        content *= self.orientation(polynomial) if whole else 1
        outer = self.power({common: content}, exponent)
        base = self.multiply(polynomial, {tuple((a, -e) for a, e in common): 1 / content})
        if len(base) == 2 and all(a.kind == "exp" for m in base for a, _ in m):
            divisor = self._smaller(*base)
            outer = self.multiply(outer, self.power({divisor: Fraction(1)}, exponent))
            base = self.multiply(base, {tuple((a, -e) for a, e in divisor): Fraction(1)})
        if len(base) == 1:
            return self.multiply(outer, self.power(base, exponent))
        return self.multiply(outer, self.monomial(Fraction(1), {self.atom("power", frozenset(base.items())): exponent}))

    def _smaller(self: Any, left: Any, right: Any) -> Any:
        """Return the one of two products of exponentials that holds less of the atom that tells them apart."""
        ((ratio, _),) = self.multiply({left: Fraction(1)}, {tuple((a, -e) for a, e in right): Fraction(1)}).items()
        return right if min(ratio, key=lambda item: (item[0].signature, item[0].number))[1] > 0 else left

    def use_logistic(self: Any, power: Any, coefficient: Any, factors: Any) -> Any:
        """Rule, for R = 1 / (1 + y) with y a product of exponentials: y R = 1 - R, and R / y = 1 / y - R."""
        exponent, base = factors[power], dict(power.data[0])
        (y, one) = ((), 0) if len(base) != 2 else next(((m, c) for m, c in base.items() if m), ((), 0))
        if not y or one != 1 or base.get(()) != 1 or exponent != int(exponent) or any(a.kind != "exp" for a, _ in y):
            return None
        marker, step = min(y, key=lambda item: (item[0].signature, item[0].number))
        turns = floor(Fraction(factors.get(marker, 0)) / step)
        if turns == 0:
            return None
        sign = 1 if turns > 0 else -1
        divided = dict(factors)
        for atom, e in y:
            divided[atom] = divided.get(atom, 0) - sign * e
        first = self.monomial(coefficient, {**(divided if sign > 0 else factors), power: exponent + 1})
        return self.add(first, self.monomial(-coefficient, dict(divided)))
