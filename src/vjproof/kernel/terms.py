"""Terms: polynomials over tensor entries with summed indices, in a normal form.

A polynomial is a dict {monomial: rational}. A monomial is a sorted tuple of (atom, exponent). Atoms:

    entry (name, indices)      one entry of a tensor           delta (s, t)         1 where s = t, else 0
    sum (variables, factors)   the sum of one product over its variables, all factors linked by them
    exp (m)                    e to the monomial m             erfc (p)             1 - erf(p)
    power (p)                  p, where it has several terms   number (p), pi       a prime, pi
    size (a)                   the number of elements of an atomic axis
    opaque (name, indices, variables, ps)   an entry of an unknown function of the arrays that ps are over variables

Soundness: every operation below returns a polynomial with the same value at every point where the definedness
conditions of `signs` hold. The normal form need not be complete: two names for one value only lose a proof.
An index is ("v", name, factor), a variable over a factor, or ("e", union, start, stop, inner): parts start to
stop of a union; inner are the indices of that part (or one index over the smaller union).
"""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from math import floor, gcd, lcm

from vjproof.kernel.program import Refused

ONE = ()  # the empty monomial


class Atom:
    """One interned atom: equal atoms are the same object. `signature` ignores the names of variables."""

    __slots__ = ("data", "free", "kind", "level", "number", "positive", "signature", "tensors")


def variables_in(index):
    """Return the names of the variables of an index."""
    return {index[1]} if index[0] == "v" else {name for inner in index[4] for name in variables_in(inner)}


def factor_of(index):
    """Return the factor over which an index ranges."""
    return index[2] if index[0] == "v" else index[1]


def embed(union, start, stop, inner):
    """Return the index of parts start to stop of a union; the whole union is no embedding, two are one."""
    if stop - start == len(union):
        return inner[0]
    if stop - start > 1 and inner[0][0] == "e":
        _, _, low, high, inside = inner[0]
        return embed(union, start + low, start + high, inside)
    return ("e", union, start, stop, tuple(inner))


def replace_in(index, mapping):
    """Return an index with variables replaced by indices of the same factor."""
    if index[0] == "v":
        return mapping.get(index[1], index)
    return embed(index[1], index[2], index[3], tuple(replace_in(inner, mapping) for inner in index[4]))


def meet(s, t):
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
        return None if None in pairs else [pair for some in pairs for pair in some]
    if c <= a and b <= d:
        return meet(t, s)
    if a <= c and d <= b:
        return meet(inside[0], embed(union[a:b], c - a, d - a, within))
    return [(s, t) if str(s) < str(t) else (t, s)]


class Algebra:
    """Makes and normalises terms; counts its work and refuses to go on above `budget` steps."""

    def __init__(self, atoms, budget=1_000_000):
        self.atoms, self.budget, self.work = atoms, budget, 0
        self._table, self._fresh, self._renamed = {}, 0, {}

    def spend(self, steps=1):
        """Count work; Refused above the budget, so that a wrong claim cannot run for ever."""
        self.work += steps
        if self.work > self.budget:
            raise Refused("too much work for one equality")

    def atom(self, kind, *data):
        """Return the atom of this kind and data."""
        key = (kind, data)
        found = self._table.get(key)
        if found is None:
            found = self._table[key] = Atom()
            found.kind, found.data, found.number = kind, data, len(self._table)
            inner, bound = self._inside(found)
            indices = data[1] if kind in ("entry", "opaque") else data if kind == "delta" else ()
            found.free = frozenset().union(*(a.free for a in inner)) - bound | frozenset().union(*map(variables_in, indices))
            found.tensors = frozenset(data[:1] if kind == "entry" else ()).union(*(a.tensors for a in inner))
            found.level = max((a.level for a in inner), default=0) + (1 if bound else 0)
            found.positive = kind in ("number", "pi", "size", "exp") or (kind == "sum" and all(a.positive for a in inner))
            if kind == "power":
                found.positive = all(c > 0 and all(a.positive for a, _ in m) for m, c in data[0])
            found.signature = self.signature(found, None)
        return found

    def _inside(self, atom):
        """Return the atoms directly inside an atom, and the names that it binds."""
        kind, data = atom.kind, atom.data
        if kind == "sum":
            return [a for a, _ in data[1]], {v[1] for v in data[0]}
        if kind == "opaque":
            return [a for p in data[3] for m, _ in p for a, _ in m], {v[1] for v in data[2]}
        if kind == "exp":
            return [a for a, _ in data[0]], set()
        return ([a for m, _ in data[0] for a, _ in m] if kind in ("erfc", "power") else []), set()

    def signature(self, atom, colours):
        """Return a hash of an atom: variables by their colour; without colours, by their factor alone."""
        if colours is not None and not any(name in colours for name in atom.free):
            return hash((atom.signature, tuple(sorted(map(str, atom.free)))))

        def index(i):
            if i[0] == "v":
                return hash((i[2], 0 if colours is None else colours.get(i[1], str(i[1]))))
            return hash((i[1:4], tuple(map(index, i[4]))))

        def monomial(m):
            return hash(tuple(sorted((a.signature if colours is None else self.signature(a, colours), e) for a, e in m)))

        kind, data = atom.kind, atom.data
        if kind == "entry":
            return hash((kind, data[0], tuple(map(index, data[1]))))
        if kind == "delta":
            return hash((kind, *sorted(map(index, data))))
        if kind == "sum":
            return hash((kind, len(data[0]), monomial(data[1])))
        if kind == "exp":
            return hash((kind, monomial(data[0])))
        if kind == "opaque":
            inside = tuple(tuple(sorted((monomial(m), c) for m, c in p)) for p in data[3])
            return hash((kind, data[0], tuple(map(index, data[1])), inside))
        if kind in ("erfc", "power"):
            return hash((kind, tuple(sorted((monomial(m), c) for m, c in data[0]))))
        return hash((kind, *data))

    def fresh(self, factor):
        """Return a new variable over a factor."""
        self._fresh += 1
        return ("v", self._fresh, factor)

    # Sums and products

    def add(self, *polynomials):
        """Return the sum."""
        total = {}
        for polynomial in polynomials:
            for monomial, coefficient in polynomial.items():
                value = total.get(monomial, 0) + coefficient
                if value:
                    total[monomial] = value
                else:
                    del total[monomial]
        return total

    def scale(self, polynomial, factor):
        """Return a rational multiple."""
        return {m: c * factor for m, c in polynomial.items()} if factor else {}

    def multiply(self, left, right):
        """Return the product, distributed."""
        self.spend(len(left) * len(right))
        products = []
        for m1, c1 in left.items():
            for m2, c2 in right.items():
                factors = dict(m1)
                for atom, exponent in m2:
                    factors[atom] = factors.get(atom, 0) + exponent
                products.append(self.monomial(c1 * c2, factors))
        return self.add(*products)

    def product(self, polynomials):
        """Return the product of several polynomials."""
        total = {ONE: Fraction(1)}
        for polynomial in polynomials:
            total = self.multiply(total, polynomial)
        return total

    def monomial(self, coefficient, factors):
        """Normalise one product {atom: exponent}: numbers, deltas, and y / (1 + y) = 1 - 1 / (1 + y)."""
        self.spend()
        special = []
        for atom, exponent in list(factors.items()):
            if exponent == 0:
                del factors[atom]
            elif atom.kind == "number":
                whole = floor(exponent)
                coefficient *= Fraction(atom.data[0]) ** whole
                factors[atom] = exponent - whole
                if exponent == whole:
                    del factors[atom]
            elif atom.kind in ("delta", "power"):
                special.append(atom)
        for atom in special:
            if atom.kind == "delta":
                if factors[atom] < 0:
                    raise Refused("division by a delta")
                factors[atom] = 1
                done = self._use_delta(atom, coefficient, factors)
            elif factors[atom] > 0 and factors[atom] == int(factors[atom]):
                exponent = factors.pop(atom)
                rest = self.monomial(coefficient, factors)
                return self.multiply(rest, self.power(dict(atom.data[0]), Fraction(exponent)))
            else:
                done = self._use_logistic(atom, coefficient, factors)
            if done is not None:
                return done
        return {tuple(sorted(factors.items(), key=lambda item: item[0].number)): coefficient}

    def _use_delta(self, delta, coefficient, factors):
        """Rule: delta(i, t) f(i) = delta(i, t) f(t), for a variable i."""
        s, t = delta.data
        variable, value = (s, t) if s[0] == "v" and (t[0] != "v" or str(s[1]) > str(t[1])) else (t, s)
        if variable[0] != "v" or not any(a is not delta and variable[1] in a.free for a in factors):
            return None
        del factors[delta]
        mapping = {variable[1]: value}
        renamed = [self.rename_atom(a, e, mapping) for a, e in factors.items()]
        return self.multiply(self.scale(self.product(renamed), coefficient), {((delta, 1),): Fraction(1)})

    def _use_logistic(self, power, coefficient, factors):
        """Rule, for R = 1 / (1 + y) with y a product of exponentials: y R = 1 - R, and R / y = 1 / y - R."""
        exponent, base = factors[power], dict(power.data[0])
        if len(base) != 2 or base.get(ONE) != 1 or exponent != int(exponent):
            return None
        y = next(m for m in base if m != ONE)
        if base[y] != 1 or any(a.kind != "exp" for a, _ in y):
            return None
        marker, step = min(y, key=lambda item: (item[0].signature, item[0].number))
        turns = floor(Fraction(factors.get(marker, 0)) / step)
        if turns == 0:
            return None
        sign = 1 if turns > 0 else -1
        divided = dict(factors)
        for atom, e in y:
            divided[atom] = divided.get(atom, 0) - sign * e
        kept = divided if sign > 0 else factors
        first = self.monomial(coefficient, {**kept, power: exponent + 1})
        return self.add(first, self.monomial(-coefficient, dict(divided)))

    # Renaming and summation

    def rename(self, polynomial, mapping):
        """Return a polynomial with free variables replaced by indices of the same factor."""
        total = []
        for monomial, coefficient in polynomial.items():
            parts = [self.rename_atom(atom, exponent, mapping) for atom, exponent in monomial]
            total.append(self.scale(self.product(parts), coefficient))
        return self.add(*total)

    def rename_atom(self, atom, exponent, mapping):
        """Return atom ** exponent with free variables replaced."""
        if not any(name in atom.free for name in mapping):
            return {((atom, exponent),): Fraction(1)}
        mapping = {name: index for name, index in mapping.items() if name in atom.free}
        key = (atom, exponent, tuple(sorted(mapping.items(), key=str)))
        if key not in self._renamed:
            self.spend()
            self._renamed[key] = self._rename_atom(atom, exponent, mapping)
        return self._renamed[key]

    def _rename_atom(self, atom, exponent, mapping):
        kind, data = atom.kind, atom.data
        if kind == "entry":
            value = self.entry(data[0], tuple(replace_in(index, mapping) for index in data[1]))
        elif kind == "delta":
            value = self.delta(*(replace_in(index, mapping) for index in data))
        elif kind == "sum":
            variables, factors = self.open(atom)
            parts = [self.rename_atom(a, e, mapping) for a, e in factors]
            value = self.sum(variables, self.product(parts))
        elif kind == "opaque":
            fresh = {v[1]: self.fresh(v[2]) for v in data[2]}
            inside = [self.rename(self.rename(dict(p), fresh), mapping) for p in data[3]]
            indices = tuple(replace_in(index, mapping) for index in data[1])
            value = self.opaque(data[0], indices, tuple(fresh.values()), inside)
        elif kind == "exp":
            value = self.exp(self.rename({data[0]: Fraction(1)}, mapping))
        elif kind == "erfc":
            value = self.erfc(self.rename(dict(data[0]), mapping))
        else:
            value = self.rename(dict(data[0]), mapping)
        return self.power(value, Fraction(exponent)) if exponent != 1 else value

    def open(self, atom):
        """Return the variables and factors of a sum, its variables replaced by fresh ones."""
        fresh = {v[1]: self.fresh(v[2]) for v in atom.data[0]}
        opened = []
        for inner, exponent in atom.data[1]:
            ((monomial, one),) = self.rename_atom(inner, exponent, fresh).items()
            if one != 1:
                raise Refused("a renamed product changed its coefficient")
            opened.extend(monomial)
        return list(fresh.values()), opened

    def sum(self, variables, polynomial):
        """Return the sum of a polynomial over variables (their axes are not empty)."""
        return self.add(*(self._sum(list(variables), c, list(m)) for m, c in polynomial.items()))

    def _sum(self, variables, coefficient, factors):
        self.spend()
        names = {v[1] for v in variables}
        for place, (atom, exponent) in enumerate(factors):
            if not names & atom.free:
                continue
            rest = factors[:place] + factors[place + 1 :]
            if atom.kind == "sum" and exponent == int(exponent) and exponent > 0:
                bound, inside = self.open(atom)
                if exponent > 1:
                    rest = [*rest, (atom, exponent - 1)]
                return self._resum(variables + bound, coefficient, rest + inside)
            if atom.kind == "delta":
                for variable, value in (atom.data, atom.data[::-1]):
                    if variable[0] == "v" and variable[1] in names:
                        mapping = {variable[1]: value}
                        left = [v for v in variables if v[1] != variable[1]]
                        parts = self.product([self.rename_atom(a, e, mapping) for a, e in rest])
                        return self.sum(left, self.scale(parts, coefficient))
        outside = {ONE: coefficient}
        for variable in variables:
            if not any(variable[1] in atom.free for atom, _ in factors):
                outside = self.multiply(outside, self.size((variable[2],)))
        outside = self.multiply(outside, {_sorted(f for f in factors if not names & f[0].free): Fraction(1)})
        return self.multiply(outside, self.product(self._components(variables, factors)))

    def _resum(self, variables, coefficient, factors):
        """Sum a product whose factors may repeat an atom."""
        return self.sum(variables, self.scale(self.product([{(f,): Fraction(1)} for f in factors]), coefficient))

    def _components(self, variables, factors):
        """Return the sums over groups of factors that share summed variables."""
        names, groups = {v[1] for v in variables}, []
        for factor in factors:
            shared = names & factor[0].free
            if shared:
                touching = [group for group in groups if group[0] & shared]
                merged = (shared.union(*(g[0] for g in touching)), [f for g in touching for f in g[1]] + [factor])
                groups = [group for group in groups if not any(group is g for g in touching)] + [merged]
        return [self._closed([v for v in variables if v[1] in used], members) for used, members in groups]

    def _closed(self, variables, factors):
        """Return one linked sum as an atom, its variables renamed in a canonical way."""
        level = max(atom.level for atom, _ in factors) + 1
        best = None
        for order in self._orders(variables, factors):
            names = {v[1]: ("v", f"#{level}.{place}", v[2]) for place, v in enumerate(order)}
            parts = self.product([self.rename_atom(a, e, names) for a, e in factors])
            if len(parts) != 1:
                raise Refused("a renamed product is no longer a product")
            ((monomial, coefficient),) = parts.items()
            rank = [(a.number, e) for a, e in monomial]
            if best is None or rank < best[0]:
                best = (rank, monomial, coefficient, tuple(names.values()))
        _, monomial, coefficient, bound = best
        return {((self.atom("sum", bound, monomial), 1),): coefficient}

    def _orders(self, variables, factors):
        """Return orders of the summed variables: by what they touch, ties in every way (at most 120)."""
        colours = {v[1]: hash(v[2]) for v in variables}
        for _ in range(3):
            colours = {
                name: hash((colour, tuple(sorted((self.signature(a, {**colours, name: 0}), e)
                                                 for a, e in factors if name in a.free))))
                for name, colour in colours.items()
            }  # fmt: skip
        orders = [[]]
        for colour in sorted(set(colours.values())):
            tied = [v for v in variables if colours[v[1]] == colour]
            choices = list(permutations(tied)) if len(tied) < 6 else [tuple(tied)]
            orders = [order + list(choice) for order in orders for choice in choices][:120]
        return orders

    # Entries and functions

    def entry(self, name, indices):
        """Return one entry of a tensor."""
        return {((self.atom("entry", name, tuple(indices)), 1),): Fraction(1)}

    def delta(self, s, t):
        """Return 1 where two indices of the same factor are equal, else 0."""
        pairs = meet(s, t)
        if pairs is None:
            return {}
        return self.product([{((self.atom("delta", *pair), 1),): Fraction(1)} for pair in pairs])

    def number(self, value, exponent=1):
        """Return a positive rational to a rational power, over primes (a large cofactor stays as it is)."""
        value, exponent, factors = Fraction(value), Fraction(exponent), {}
        for side, sign in ((value.numerator, 1), (value.denominator, -1)):
            prime, rest = 2, side
            while rest > 1:
                if prime > 1000:
                    prime = rest
                times = 0
                while rest % prime == 0:
                    rest, times = rest // prime, times + 1
                if times:
                    atom = self.atom("number", prime)
                    factors[atom] = factors.get(atom, 0) + times * sign * exponent
                prime += 1
        return self.monomial(Fraction(1), factors)

    def size(self, axis, exponent=1):
        """Return the number of elements of an axis, to a rational power."""
        total = {ONE: Fraction(1)}
        for factor in axis:
            if isinstance(factor, str):
                known = self.atoms[factor]
                one = {((self.atom("size", factor), 1),): Fraction(1)} if known is None else {ONE: Fraction(known)}
            else:
                one = self.add(*(self.size(part) for part in factor))
            total = self.multiply(total, one)
        return self.power(total, Fraction(exponent)) if exponent != 1 else total

    def pi(self, exponent):
        """Return pi to a rational power."""
        return {((self.atom("pi"), exponent),): Fraction(1)}

    def exp(self, polynomial):
        """Return e to a polynomial: the product of e to each of its monomials, to the power of its coefficient."""
        return self.monomial(Fraction(1), {self.atom("exp", m): c for m, c in polynomial.items()})

    def erfc(self, polynomial):
        """Return erfc of a polynomial; erfc(-p) = 2 - erfc(p) orients it."""
        if not polynomial:
            return {ONE: Fraction(1)}
        if self._orientation(polynomial) < 0:
            return self.add({ONE: Fraction(2)}, self.scale(self.erfc_atom(self.scale(polynomial, -1)), -1))
        return self.erfc_atom(polynomial)

    def erfc_atom(self, polynomial):
        """Return erfc of a polynomial as an atom."""
        return {((self.atom("erfc", frozenset(polynomial.items())), 1),): Fraction(1)}

    def opaque(self, name, indices, variables, polynomials):
        """Return name(...)[indices], an unknown function of the arrays that the polynomials are over `variables`.

        Equal arrays give equal values; nothing else is known of it, and it is never differentiated.
        """
        level = max((a.level for p in polynomials for m in p for a, _ in m), default=0) + 1
        names = {v[1]: ("v", f"#{level}.{place}", v[2]) for place, v in enumerate(variables)}
        inside = tuple(frozenset(self.rename(p, names).items()) for p in polynomials)
        atom = self.atom("opaque", name, tuple(indices), tuple(names.values()), inside)
        return {((atom, 1),): Fraction(1)}

    def _orientation(self, polynomial):
        """Return a sign that p and -p disagree on, and that renaming does not change (0: none found)."""
        ranked = {}
        for monomial, coefficient in polynomial.items():
            signature = hash(tuple(sorted((a.signature, e) for a, e in monomial)))
            ranked[signature] = ranked.get(signature, 0) + coefficient
        return next((1 if ranked[key] > 0 else -1 for key in sorted(ranked) if ranked[key]), 0)

    def power(self, polynomial, exponent):
        """Return a polynomial to a nonzero rational power.

        Needs (see `signs`): a negative power of a nonzero value, a fractional power of a positive one. So
        (c a b)^e = c^e a^e b^e for whole e, and for fractional e where all but one single factor are positive.
        """
        self.spend()
        whole = exponent == int(exponent)
        if whole and 0 < exponent <= 64 and len(polynomial) != 1:
            return self.product([polynomial] * int(exponent))
        if not polynomial:
            if exponent > 0:
                return {}
            raise Refused("a division by zero")
        if len(polynomial) > 1:
            return self._power_of_sum(polynomial, exponent, whole)
        ((monomial, coefficient),) = polynomial.items()
        if coefficient < 0 and not whole:
            raise Refused("a fractional power of a negative multiple")
        sign = Fraction(-1 if coefficient < 0 and int(exponent) % 2 else 1)
        scale = self.scale(self.number(abs(coefficient), exponent), sign)
        free = [(a, e) for a, e in monomial if whole or a.positive]
        held = [(a, e) for a, e in monomial if not (whole or a.positive)]
        if len(held) == 1 and held[0][1] == 1:
            free, held = [*free, *held], []
        taken = self.monomial(Fraction(1), {a: e * exponent for a, e in free})
        if held:
            atom = self.atom("power", frozenset({_sorted(held): Fraction(1)}.items()))
            taken = self.multiply(taken, {((atom, exponent),): Fraction(1)})
        return self.multiply(scale, taken)

    def _power_of_sum(self, polynomial, exponent, whole):
        """Take out common factors, so that equal sums meet: (c m p)^e = (c m)^e p^e."""
        common = None
        for monomial in polynomial:
            here = {a: e for a, e in monomial if a.positive or (whole and a.kind != "delta")}
            if common is None:
                common = here
            common = {a: min(e, common.get(a, 0)) for a, e in here.items()} | {
                a: min(e, 0) for a, e in common.items() if a not in here
            }
        content = Fraction(gcd(*(c.numerator for c in polynomial.values())))
        content /= lcm(*(c.denominator for c in polynomial.values()))
        if whole and self._orientation(polynomial) < 0:
            content = -content
        common = _sorted((a, e) for a, e in common.items() if e)
        inverse = {tuple((a, -e) for a, e in common): 1 / content}
        base = self.multiply(polynomial, inverse)
        outer = self.power({common: content}, exponent)
        if len(base) == 2 and all(a.kind == "exp" for m in base for a, _ in m):
            divisor = self._smaller(*base)
            outer = self.multiply(outer, self.power({divisor: Fraction(1)}, exponent))
            base = self.multiply(base, {tuple((a, -e) for a, e in divisor): Fraction(1)})
        if len(base) == 1:
            return self.multiply(outer, self.power(base, exponent))
        atom = self.atom("power", frozenset(base.items()))
        return self.multiply(outer, self.monomial(Fraction(1), {atom: exponent}))

    def _smaller(self, left, right):
        """Return the one of two products of exponentials that holds less of the atom that tells them apart."""
        ((ratio, _),) = self.multiply({left: Fraction(1)}, {tuple((a, -e) for a, e in right): Fraction(1)}).items()
        return right if min(ratio, key=lambda item: (item[0].signature, item[0].number))[1] > 0 else left


def _sorted(factors):
    return tuple(sorted(factors, key=lambda item: item[0].number))
