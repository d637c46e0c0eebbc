"""What a certificate must show, and the words of what it then proves.

A certificate is a claim (programs, and what is said of them) and a proof (which values to compare, with no
search). Whatever the claim says that this file does not derive itself is refused.
"""

from __future__ import annotations

from fractions import Fraction

from vjproof.kernel.derivative import derivative
from vjproof.kernel.meaning import Meaning
from vjproof.kernel.program import Refused, factors_of, program_from
from vjproof.kernel.signs import conditions_of
from vjproof.kernel.terms import Algebra

BUDGET = 400_000


class Comparison:
    """A forward and a second program over the same inputs, compared value by value.

    Landmarks are forward values that get a name; each is defined by a term over earlier landmarks. `match`
    names a value of the second program once its term is that of a landmark.
    """

    def __init__(self, forward, second, landmarks, positive, definitions=None):
        if forward.atoms != second.atoms:
            raise Refused("the two programs declare different axes")
        self.forward, self.second = forward, second
        self.algebra = Algebra(forward.atoms, BUDGET)
        chosen = {*landmarks, *forward.inputs, *forward.outputs}
        if not chosen <= set(forward.operations):
            raise Refused("a landmark is not a value of the forward program")
        self.landmarks = [name for name in forward.operations if name in chosen]
        own = {name: (f"v:{name}", range(len(factors_of(forward.shape(name))))) for name in self.landmarks}
        self.there = Meaning(self.algebra, forward, own, definitions)
        self.here = Meaning(self.algebra, second, {}, definitions)
        self.variables = {name: self.there.indices(name) for name in self.landmarks}
        self.definition = {}
        for name in self.landmarks:
            if name not in forward.inputs:
                self.algebra.work = 0
                self.definition[name] = self.there.unfolded(name, self.variables[name])
        for name in second.inputs:
            if name in forward.inputs and second.shape(name) == forward.shape(name):
                self.here.names[name] = own[name]
        self.conditions = [f"forward: {c}" for c in conditions_of(forward, positive)]
        self.conditions += [f"second: {c}" for c in conditions_of(second, positive)]

    def renamed(self, target, term, indices):
        """Return a term over a landmark's own variables, at other indices."""
        return self.algebra.rename(term, {v[1]: i for v, i in zip(self.variables[target], indices, strict=True)})

    def term_of(self, role, target, indices):
        """Return the defining term and the name of a landmark's value."""
        if role != "value" or target not in self.definition:
            raise Refused(f"{target!r} is no landmark with a {role}")
        return self.renamed(target, self.definition[target], indices), (f"v:{target}", self.there.names[target][1])

    def match(self, value, role, target, order):
        """Name a value of the second program: its entry at i is the landmark's at (i[order[0]], i[order[1]], ...)."""
        if value not in self.second.operations or target not in self.variables or value in self.here.names:
            raise Refused(f"no such value, or named twice: {value!r}, {target!r}")
        factors = factors_of(self.second.shape(value))
        if sorted(order) != list(range(len(factors))):
            raise Refused(f"{value!r}: not a permutation of its factors")
        if [factors[place] for place in order] != [v[2] for v in self.variables[target]]:
            raise Refused(f"{value!r} and {target!r} have different axes")
        self.algebra.work = 0
        indices = self.here.indices(value)
        term = self.here.unfolded(value, indices)
        wanted, (tensor, places) = self.term_of(role, target, tuple(indices[place] for place in order))
        name = (tensor, tuple(order[place] for place in places))
        if term != wanted and term != self.algebra.entry(tensor, tuple(indices[place] for place in name[1])):
            raise Refused(f"{value!r} is not shown to be the {role} of {target!r}")
        self.here.names[value] = name
        self.here.forget()

    def same_output(self, output, role, target):
        """Refuse unless an output of the second program is the landmark's value or adjoint."""
        if self.second.shape(output) != self.forward.shape(target):
            raise Refused(f"output {output!r} has another shape than {target!r}")
        self.algebra.work = 0
        indices = self.here.indices(output)
        term = self.here.entry(output, indices)
        wanted, (tensor, places) = self.term_of(role, target, indices)
        if term != wanted and term != self.algebra.entry(tensor, tuple(indices[place] for place in places)):
            raise Refused(f"output {output!r} is not shown to be the {role} of {target!r}")


class Reverse(Comparison):
    """The comparison with a reverse program: landmarks have adjoints by the chain rule.

    adjoint(u)[i] = (cotangent of u, if u is an output)[i] + sum over landmarks w of
    sum_j adjoint(w)[j] d definition(w)[j] / d u[i]. An adjoint that is one entry of another tensor is that tensor.
    """

    def __init__(self, forward, second, landmarks, positive, wrt, cotangents):
        super().__init__(forward, second, landmarks, positive)
        if len(cotangents) != len(forward.outputs) or len({*cotangents}) != len(cotangents):
            raise Refused("one cotangent for each output of the forward program")
        for name, output in zip(cotangents, forward.outputs, strict=True):
            if name in forward.inputs or second.operations.get(name) is None or name not in second.inputs:
                raise Refused(f"cotangent {name!r} is not an input of the reverse program alone")
            if second.shape(name) != forward.shape(output):
                raise Refused(f"cotangent {name!r} has another shape than output {output!r}")
            self.here.names[name] = (f"c:{name}", range(len(factors_of(second.shape(name)))))
        if not {*wrt} <= {*forward.inputs}:
            raise Refused("the gradient is taken with respect to inputs of the forward program")
        self.cotangents = list(zip(cotangents, forward.outputs, strict=True))
        moving = {f"v:{name}" for name in wrt}
        for name, term in self.definition.items():
            if any(moving & atom.tensors for monomial in term for atom, _ in monomial):
                moving.add(f"v:{name}")
        self.moving = [name for name in self.landmarks if f"v:{name}" in moving]
        self.adjoint, self.alias = {}, {}
        for name in reversed(self.moving):
            self.algebra.work = 0
            self.adjoint[name] = term = self._adjoint(name)
            self.alias[name] = self._entry_order(term, self.variables[name]) or (f"a:{name}", range(len(self.variables[name])))

    def adjoint_entry(self, name, indices):
        """Return the entry of a landmark's adjoint, under the name it goes by."""
        tensor, order = self.alias[name]
        return self.algebra.entry(tensor, tuple(indices[place] for place in order))

    def _adjoint(self, name):
        algebra, variables = self.algebra, self.variables[name]
        total = algebra.add(*(algebra.entry(f"c:{c}", variables) for c, output in self.cotangents if output == name))
        for user in self.moving:
            term = self.definition.get(user, {})
            if any(f"v:{name}" in atom.tensors for monomial in term for atom, _ in monomial):
                total = algebra.add(total, self._through(user, term, name, variables))
        return total

    def _through(self, user, term, name, variables):
        operation, algebra = self.forward.operations[user], self.algebra
        if operation.kind == "call":
            if operation.arguments != (name,):
                raise Refused(f"the argument of call {user!r} must be a landmark")
            return self._through_call(operation, name, variables)
        slope = derivative(algebra, term, f"v:{name}", variables)
        indices = self.variables[user]
        return algebra.sum(indices, algebra.multiply(self.adjoint_entry(user, indices), slope))

    def _through_call(self, operation, name, variables):
        """Rule: the reverse of symbol(u), by hypothesis, is call_back symbol (u, adjoint)."""
        lead = operation.attributes["lead"]
        count = len(factors_of(operation.shape[:lead]))
        pieces = [(name, self.there.entry), (operation.name, self.adjoint_entry)]
        inner = [tuple(map(self.algebra.fresh, factors_of(self.forward.shape(value)[lead:]))) for value, _ in pieces]
        values = [entry(value, variables[:count] + v) for (value, entry), v in zip(pieces, inner, strict=True)]
        label = f"call_back {operation.attributes['symbol']}"
        return self.algebra.opaque(label, variables[count:], inner[0] + inner[1], values)

    def _entry_order(self, term, variables):
        """Return (tensor, order) where a term is one entry of a tensor at all the variables, else None."""
        if len(term) != 1:
            return None
        ((monomial, coefficient),) = term.items()
        if coefficient != Fraction(1) or len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind != "entry":
            return None
        tensor, indices = monomial[0][0].data
        if sorted(map(str, indices)) != sorted(map(str, variables)):
            return None
        return tensor, tuple(variables.index(index) for index in indices)

    def term_of(self, role, target, indices):
        """Return the defining term and the name of a landmark's value or adjoint."""
        if role != "adjoint":
            return super().term_of(role, target, indices)
        if target not in self.adjoint:
            raise Refused(f"{target!r} is no landmark that depends on what the gradient is taken of")
        return self.renamed(target, self.adjoint[target], indices), self.alias[target]
