"""Terms: polynomials over atoms, in a normal form, with sums over indices.

A polynomial is a dict {monomial: rational}; a monomial is a frozenset of (atom, exponent). Every operation returns
a polynomial of the same value at every point where the definedness conditions of `signs` hold. The normal form
need not be complete: two names for one value only lose a proof.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import floor
from typing import Any

from vjproof.kernel.atoms import Atom, Index, Variable, embed, meet, replace_in
from vjproof.kernel.functions import ONE, UNIT, Functions, Polynomial
from vjproof.kernel.program import Refused

__all__ = ["ONE", "UNIT", "Algebra", "Polynomial", "embed"]

LARGEST_BITS = 20_000  # of a coefficient


class Algebra(Functions):
    """Makes and normalises terms; counts its work and refuses to go on above `budget` steps."""

    def __init__(self, atoms: Any, budget: int = 1_000_000) -> None:
        self.atoms, self.budget, self.work = atoms, budget, 0
        self._table: dict[Any, Atom] = {}
        self._renamed: dict[Any, Polynomial] = {}
        self._fresh = 0

    def spend(self, steps: int = 1) -> None:
        """Count work; Refused above the budget, so that a wrong claim cannot run for ever."""
        self.work += steps
        if self.work > self.budget:
            raise Refused("too much work")

    def atom(self, kind: str, *data: Any) -> Atom:
        """Return the atom of this kind and data."""
        if (kind, data) not in self._table:
            self.spend(5)
            self._table[kind, data] = Atom(kind, data, len(self._table))
        return self._table[kind, data]

    def term(self, kind: str, *data: Any, exponent: Any = 1) -> Polynomial:
        """Return the atom of this kind and data, to a power, as a polynomial."""
        return {frozenset({(self.atom(kind, *data), exponent)}): Fraction(1)}

    def fresh(self, factor: Any) -> Variable:
        """Return a new variable over a factor."""
        self._fresh += 1
        return Variable(self._fresh, factor)

    def add(self, *polynomials: Polynomial) -> Polynomial:
        """Return the sum."""
        total: Polynomial = {}
        for polynomial in polynomials:
            self.spend(len(polynomial))
            for monomial, coefficient in polynomial.items():
                total[monomial] = total.get(monomial, 0) + coefficient
                if not total[monomial]:
                    del total[monomial]
        return total

    def scale(self, polynomial: Polynomial, factor: Any) -> Polynomial:
        """Return a rational multiple."""
        return {m: c * factor for m, c in polynomial.items()} if factor else {}

    def multiply(self, left: Polynomial, right: Polynomial) -> Polynomial:
        """Return the product, distributed."""
        products = []
        for m1, c1 in left.items():
            for m2, c2 in right.items():
                factors = dict(m1)
                for atom, exponent in m2:
                    factors[atom] = factors.get(atom, 0) + exponent
                products.append(self.monomial(c1 * c2, factors))
        return self.add(*products)

    def product(self, polynomials: Any) -> Polynomial:
        """Return the product of several polynomials."""
        total = UNIT
        for polynomial in polynomials:
            total = self.multiply(total, polynomial)
        return total

    def monomial(self, coefficient: Fraction, factors: dict[Atom, Any]) -> Polynomial:
        """Normalise one product {atom: exponent}: numbers, deltas, whole powers, and the logistic rule."""
        self.spend(1 + len(factors))
        for atom, exponent in list(factors.items()):
            if atom.kind == "number":
                whole = floor(exponent)
                self._bounded(abs(whole) * atom.data[0].bit_length())
                coefficient, factors[atom] = coefficient * Fraction(atom.data[0]) ** whole, exponent - whole
            if not factors[atom]:
                del factors[atom]
        self._bounded(max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length()))
        for atom, exponent in factors.items():
            done = None
            if atom.kind == "delta":
                done = self._use_delta(atom, coefficient, factors)
            elif atom.kind == "power" and exponent > 0 and exponent == int(exponent):
                rest = {a: e for a, e in factors.items() if a is not atom}
                done = self.multiply(self.monomial(coefficient, rest), self.power(dict(atom.data[0]), exponent))
            elif atom.kind == "power":
                done = self.use_logistic(atom, coefficient, factors)
            if done is not None:
                return done
        return {frozenset(factors.items()): coefficient}

    def _bounded(self, bits: int) -> None:
        if bits > LARGEST_BITS:
            raise Refused("a coefficient grows too large")

    def _use_delta(self, delta: Atom, coefficient: Fraction, factors: dict[Atom, Any]) -> Polynomial | None:
        """Rule: delta^2 = delta, and delta(i, t) f(i) = delta(i, t) f(t) for a variable i."""
        if factors[delta] < 0:
            raise Refused("division by a delta")
        factors[delta] = 1
        value, variable = sorted(delta.data, key=lambda index: (isinstance(index, Variable), str(index)))
        rest = {a: e for a, e in factors.items() if a is not delta}
        if not isinstance(variable, Variable) or not any(variable.name in a.free for a in rest):
            return None
        return self.multiply(
            self.rename({frozenset(rest.items()): coefficient}, {variable.name: value}), self.term("delta", *delta.data)
        )

    def rename(self, polynomial: Polynomial, mapping: Any) -> Polynomial:
        """Return a polynomial with free variables replaced by indices of the same factor."""
        products = (self.product(self._rename_atom(a, e, mapping) for a, e in m) for m in polynomial)
        return self.add(*map(self.scale, products, polynomial.values()))

    def _rename_atom(self, atom: Atom, exponent: Any, mapping: Any) -> Polynomial:
        mapping = {name: mapping[name] for name in mapping if name in atom.free}
        if not mapping:
            return {frozenset({(atom, exponent)}): Fraction(1)}
        key = (atom, exponent, frozenset(mapping.items()))
        if key not in self._renamed:
            self.spend(2)
            value = self._replaced(atom, mapping)
            self._renamed[key] = value if exponent == 1 else self.power(value, Fraction(exponent))
        return self._renamed[key]

    def _replaced(self, atom: Atom, mapping: Any) -> Polynomial:
        kind, data = atom.kind, atom.data
        if kind == "entry":
            return self.entry(data[0], [replace_in(index, mapping) for index in data[1]])
        if kind == "delta":
            return self.delta(*(replace_in(index, mapping) for index in data))
        if kind == "sum":
            variables, inside = self.open(atom)
            return self.sum(variables, self.rename(inside, mapping))
        if kind == "opaque":
            fresh = {v.name: self.fresh(v.factor) for v in data[2]}
            arrays = [self.rename(self.rename(dict(p), fresh), mapping) for p in data[3]]
            return self.opaque(data[0], [replace_in(i, mapping) for i in data[1]], list(fresh.values()), arrays)
        inside = self.rename({data[0]: Fraction(1)} if kind == "exp" else dict(data[0]), mapping)
        return self.exp(inside) if kind == "exp" else self.erfc(inside) if kind == "erfc" else inside

    def open(self, atom: Atom) -> tuple[list[Variable], Polynomial]:
        """Return fresh variables of a sum, and the product under it."""
        fresh = {v.name: self.fresh(v.factor) for v in atom.data[0]}
        return list(fresh.values()), self.rename({atom.data[1]: Fraction(1)}, fresh)

    def sum(self, variables: Any, polynomial: Polynomial) -> Polynomial:
        """Return the sum of a polynomial over variables (their axes are not empty)."""
        return self.add(*(self._sum(list(variables), c, dict(m)) for m, c in polynomial.items()))

    def _sum(self, variables: list[Variable], coefficient: Fraction, factors: dict[Atom, Any]) -> Polynomial:
        """Sum one product: sums inside join it, a delta on a summed variable is used up, the rest is split."""
        self.spend(1 + len(factors))
        names = {v.name for v in variables}
        groups: list[tuple[set[Any], dict[Atom, Any]]] = []
        for atom, exponent in factors.items():
            rest = {a: e for a, e in factors.items() if a is not atom}
            if atom.kind == "sum" and exponent > 0 and exponent == int(exponent) and names & atom.free:
                bound, inside = self.open(atom)
                left = self.monomial(coefficient, {**rest, atom: exponent - 1})
                return self.sum(variables + bound, self.multiply(left, inside))
            for variable, value in permutations(atom.data) if atom.kind == "delta" else ():
                if variable in variables:
                    replaced = self.rename({frozenset(rest.items()): coefficient}, {variable.name: value})
                    return self.sum([v for v in variables if v != variable], replaced)
            used, members = names & atom.free, {atom: exponent}
            for group in [group for group in groups if group[0] & used]:
                groups.remove(group)
                used, members = used | group[0], {**group[1], **members}
            groups.append((used, members))
        total = [self.size((v.factor,)) for v in variables if not any(v.name in used for used, _ in groups)]
        for used, members in groups:
            linked = [v for v in variables if v.name in used]
            total.append(self._linked(linked, members) if used else {frozenset(members.items()): Fraction(1)})
        return self.scale(self.product(total), coefficient)

    def _linked(self, variables: list[Variable], factors: dict[Atom, Any]) -> Polynomial:
        """Return one linked sum as an atom, its variables renamed in a canonical way."""
        level = max(atom.level for atom in factors) + 1
        found = []
        for order in self._orders(variables, factors):
            names = {v.name: Variable(f"#{level}.{place}", v.factor) for place, v in enumerate(order)}
            renamed = self.rename({frozenset(factors.items()): Fraction(1)}, names)
            if len(renamed) != 1:
                raise Refused("a renamed product is no longer a product")
            ((monomial, coefficient),) = renamed.items()
            found.append((sorted((a.number, e) for a, e in monomial), monomial, coefficient, tuple(names.values())))
        _, monomial, coefficient, bound = min(found, key=lambda candidate: candidate[0])
        return self.scale(self.term("sum", bound, monomial), coefficient)

    def _orders(self, variables: list[Variable], factors: dict[Atom, Any]) -> list[list[Variable]]:
        """Return orders of the summed variables: by what they touch, ties in every way (at most 120)."""
        colours = {v.name: 1 for v in variables}
        for _ in range(3 if len(variables) > 1 else 0):
            touched = {
                name: sorted((a.coloured({**colours, name: 0}), e) for a, e in factors.items() if name in a.free)
                for name in colours
            }
            colours = {name: hash((colours[name], *touched[name])) for name in colours}
        orders: list[list[Variable]] = [[]]
        for colour in sorted(set(colours.values())):
            tied = [v for v in variables if colours[v.name] == colour]
            choices = permutations(tied) if len(tied) < 6 else [tied]
            orders = [order + list(choice) for choice in choices for order in orders][:120]
        return orders

    def entry(self, name: str, indices: Any) -> Polynomial:
        """Return one entry of a tensor."""
        return self.term("entry", name, tuple(indices))

    def delta(self, s: Index, t: Index) -> Polynomial:
        """Return 1 where two indices of the same factor are equal, else 0."""
        pairs = meet(s, t)
        return {} if pairs is None else self.product(self.term("delta", *sorted(pair, key=str)) for pair in pairs)

    def opaque(self, name: str, indices: Any, variables: Any, polynomials: Any) -> Polynomial:
        """Return name(...)[indices], an unknown function of the arrays that the polynomials are over `variables`.

        Equal arrays give equal values; nothing else is known of it, and it is never differentiated.
        """
        level = max((a.level for p in polynomials for m in p for a, _ in m), default=0) + 1
        names = {v.name: Variable(f"#{level}.{place}", v.factor) for place, v in enumerate(variables)}
        arrays = tuple(frozenset(self.rename(p, names).items()) for p in polynomials)
        return self.term("opaque", name, tuple(indices), tuple(names.values()), arrays)
