"""Terms: polynomials over atoms, in a normal form, with sums over indices.

A polynomial is a dict {monomial: rational}; a monomial is a sorted tuple of (atom, exponent). Every operation
returns a polynomial of the same value at every point where the definedness conditions of `signs` hold. The normal
form need not be complete: two names for one value only lose a proof.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import permutations
from math import floor
from typing import Any, TypeAlias

from vjproof.kernel.atoms import Atom
from vjproof.kernel.functions import Functions
from vjproof.kernel.indices import Index, embed, meet, replace_in
from vjproof.kernel.program import Refused

__all__ = ["ONE", "Algebra", "Polynomial", "embed"]

Monomial: TypeAlias = tuple[tuple[Atom, Any], ...]
Polynomial: TypeAlias = dict[Monomial, Fraction]
ONE: Monomial = ()
LARGEST_BITS = 20_000  # of a coefficient


class Algebra(Functions):
    """Makes and normalises terms; counts its work and refuses to go on above `budget` steps."""

    def __init__(self, atoms: Mapping[str, int | None], budget: int = 1_000_000) -> None:
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

    def term(self, kind: str, *data: Any) -> Polynomial:
        """Return the atom of this kind and data as a polynomial."""
        return {((self.atom(kind, *data), 1),): Fraction(1)}

    def fresh(self, factor: Any) -> Index:
        """Return a new variable over a factor."""
        self._fresh += 1
        return ("v", self._fresh, factor)

    def add(self, *polynomials: Polynomial) -> Polynomial:
        """Return the sum."""
        total: Polynomial = {}
        for polynomial in polynomials:
            self.spend(len(polynomial))
            for monomial, coefficient in polynomial.items():
                total[monomial] = total.get(monomial, Fraction(0)) + coefficient
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

    def product(self, polynomials: Iterable[Polynomial]) -> Polynomial:
        """Return the product of several polynomials."""
        total = {ONE: Fraction(1)}
        for polynomial in polynomials:
            total = self.multiply(total, polynomial)
        return total

    def monomial(self, coefficient: Fraction, factors: dict[Atom, Any]) -> Polynomial:
        """Normalise one product {atom: exponent}: numbers, deltas, whole powers, and the logistic rule."""
        self.spend(1 + len(factors))
        if max(coefficient.numerator.bit_length(), coefficient.denominator.bit_length()) > LARGEST_BITS:
            raise Refused("a coefficient grows too large")
        for atom, exponent in list(factors.items()):
            if exponent == 0:
                del factors[atom]
            elif atom.kind == "number":
                whole = floor(exponent)
                if abs(whole) * atom.data[0].bit_length() > LARGEST_BITS:
                    raise Refused("a coefficient grows too large")
                coefficient, factors[atom] = coefficient * Fraction(atom.data[0]) ** whole, exponent - whole
                if exponent == whole:
                    del factors[atom]
        for atom in [atom for atom in factors if atom.kind in ("delta", "power")]:
            done = None
            if atom.kind == "delta":
                done = self._use_delta(atom, coefficient, factors)
            elif factors[atom] > 0 and factors[atom] == int(factors[atom]):
                rest = {a: e for a, e in factors.items() if a is not atom}
                return self.multiply(self.monomial(coefficient, rest), self.power(dict(atom.data[0]), factors[atom]))
            else:
                done = self.use_logistic(atom, coefficient, factors)
            if done is not None:
                return done
        return {tuple(sorted(factors.items(), key=lambda item: item[0].number)): coefficient}

    def _use_delta(self, delta: Atom, coefficient: Fraction, factors: dict[Atom, Any]) -> Polynomial | None:
        """Rule: delta^2 = delta, and delta(i, t) f(i) = delta(i, t) f(t) for a variable i."""
        if factors[delta] < 0:
            raise Refused("division by a delta")
        factors[delta] = 1
        s, t = delta.data
        variable, value = (s, t) if s[0] == "v" and (t[0] != "v" or str(s[1]) > str(t[1])) else (t, s)
        if variable[0] != "v" or not any(a is not delta and variable[1] in a.free for a in factors):
            return None
        renamed = [self.rename_atom(a, e, {variable[1]: value}) for a, e in factors.items() if a is not delta]
        return self.multiply(self.scale(self.product(renamed), coefficient), {((delta, 1),): Fraction(1)})

    def rename(self, polynomial: Polynomial, mapping: Mapping[Any, Index]) -> Polynomial:
        """Return a polynomial with free variables replaced by indices of the same factor."""
        products = [self.product([self.rename_atom(a, e, mapping) for a, e in m]) for m in polynomial]
        return self.add(*map(self.scale, products, polynomial.values()))

    def rename_atom(self, atom: Atom, exponent: Any, mapping: Mapping[Any, Index]) -> Polynomial:
        """Return atom ** exponent with free variables replaced."""
        mapping = {name: index for name, index in mapping.items() if name in atom.free}
        if not mapping:
            return {((atom, exponent),): Fraction(1)}
        key = (atom, exponent, tuple(sorted(mapping.items(), key=str)))
        if key not in self._renamed:
            value = self._replaced(atom, mapping)
            self._renamed[key] = self.power(value, Fraction(exponent)) if exponent != 1 else value
        return self._renamed[key]

    def _replaced(self, atom: Atom, mapping: Mapping[Any, Index]) -> Polynomial:
        self.spend(2)
        kind, data = atom.kind, atom.data
        if kind == "entry":
            return self.entry(data[0], [replace_in(index, mapping) for index in data[1]])
        if kind == "delta":
            return self.delta(*(replace_in(index, mapping) for index in data))
        if kind == "sum":
            variables, inside = self.open(atom)
            return self.sum(variables, self.rename(inside, mapping))
        if kind == "opaque":
            fresh = {v[1]: self.fresh(v[2]) for v in data[2]}
            arrays = [self.rename(self.rename(dict(p), fresh), mapping) for p in data[3]]
            indices = [replace_in(index, mapping) for index in data[1]]
            return self.opaque(data[0], indices, list(fresh.values()), arrays)
        inside = self.rename({data[0]: Fraction(1)} if kind == "exp" else dict(data[0]), mapping)
        return self.exp(inside) if kind == "exp" else self.erfc(inside) if kind == "erfc" else inside

    def open(self, atom: Atom) -> tuple[list[Index], Polynomial]:
        """Return fresh variables of a sum, and the product under it."""
        fresh = {v[1]: self.fresh(v[2]) for v in atom.data[0]}
        return list(fresh.values()), self.rename({atom.data[1]: Fraction(1)}, fresh)

    def sum(self, variables: Sequence[Index], polynomial: Polynomial) -> Polynomial:
        """Return the sum of a polynomial over variables (their axes are not empty)."""
        return self.add(*(self._sum(list(variables), c, list(m)) for m, c in polynomial.items()))

    def _sum(self, variables: list[Index], coefficient: Fraction, factors: list[tuple[Atom, Any]]) -> Polynomial:
        """Sum one product: sums inside join it, a delta on a summed variable is used up, the rest is split."""
        self.spend(1 + len(factors))
        names = {v[1] for v in variables}
        for place, (atom, exponent) in enumerate(factors):
            rest = {**dict(factors[:place]), **dict(factors[place + 1 :])}
            if atom.kind == "sum" and exponent > 0 and exponent == int(exponent) and names & atom.free:
                bound, inside = self.open(atom)
                left = self.monomial(coefficient, rest | ({atom: exponent - 1} if exponent > 1 else {}))
                return self.sum(variables + bound, self.multiply(left, inside))
            for variable, value in (atom.data, atom.data[::-1]) if atom.kind == "delta" else ():
                if variable[0] == "v" and variable[1] in names:
                    parts = [self.rename_atom(a, e, {variable[1]: value}) for a, e in rest.items()]
                    others = [v for v in variables if v[1] != variable[1]]
                    return self.sum(others, self.scale(self.product(parts), coefficient))
        groups: list[tuple[set[Any], list[tuple[Atom, Any]]]] = []
        for factor in factors:
            touching = [group for group in groups if group[0] & factor[0].free & names]
            shared = (factor[0].free & names).union(*(group[0] for group in touching))
            groups = [group for group in groups if not any(group is other for other in touching)]
            groups.append((set(shared), [f for group in touching for f in group[1]] + [factor]))
        unused = names - {name for used, _ in groups for name in used}
        total = [self.size((v[2],)) for v in variables if v[1] in unused]
        for used, members in groups:
            total.append(
                self._linked([v for v in variables if v[1] in used], members) if used else {(members[0],): Fraction(1)}
            )
        return self.scale(self.product(total), coefficient)

    def _linked(self, variables: list[Index], factors: list[tuple[Atom, Any]]) -> Polynomial:
        """Return one linked sum as an atom, its variables renamed in a canonical way."""
        level = max(atom.level for atom, _ in factors) + 1
        found = []
        for order in self._orders(variables, factors):
            names = {v[1]: ("v", f"#{level}.{place}", v[2]) for place, v in enumerate(order)}
            parts = self.product([self.rename_atom(a, e, names) for a, e in factors])
            if len(parts) != 1:
                raise Refused("a renamed product is no longer a product")
            ((monomial, coefficient),) = parts.items()
            found.append(([(a.number, e) for a, e in monomial], monomial, coefficient, tuple(names.values())))
        _, monomial, coefficient, bound = min(found, key=lambda candidate: candidate[0])
        return self.scale(self.term("sum", bound, monomial), coefficient)

    def _orders(self, variables: list[Index], factors: list[tuple[Atom, Any]]) -> list[list[Index]]:
        """Return orders of the summed variables: by what they touch, ties in every way (at most 120)."""
        colours = {v[1]: 1 for v in variables}
        for _ in range(3 if len(variables) > 1 else 0):
            touched = {
                name: [(a.coloured({**colours, name: 0}), e) for a, e in factors if name in a.free] for name in colours
            }
            colours = {name: hash((colours[name], *sorted(touched[name]))) for name in colours}
        orders: list[list[Index]] = [[]]
        for colour in sorted(set(colours.values())):
            tied = [v for v in variables if colours[v[1]] == colour]
            choices = permutations(tied) if len(tied) < 6 else [tied]
            orders = [order + list(choice) for choice in choices for order in orders][:120]
        return orders

    def entry(self, name: str, indices: Sequence[Index]) -> Polynomial:
        """Return one entry of a tensor."""
        return self.term("entry", name, tuple(indices))

    def delta(self, s: Index, t: Index) -> Polynomial:
        """Return 1 where two indices of the same factor are equal, else 0."""
        pairs = meet(s, t)
        return {} if pairs is None else self.product([self.term("delta", *pair) for pair in pairs])

    def opaque(
        self, name: str, indices: Sequence[Index], variables: Sequence[Index], polynomials: Sequence[Polynomial]
    ) -> Polynomial:
        """Return name(...)[indices], an unknown function of the arrays that the polynomials are over `variables`.

        Equal arrays give equal values; nothing else is known of it, and it is never differentiated.
        """
        level = max((a.level for p in polynomials for m in p for a, _ in m), default=0) + 1
        names = {v[1]: ("v", f"#{level}.{place}", v[2]) for place, v in enumerate(variables)}
        arrays = tuple(frozenset(self.rename(p, names).items()) for p in polynomials)
        return self.term("opaque", name, tuple(indices), tuple(names.values()), arrays)
