"""Two programs compared value by value: landmarks, their definitions and adjoints, and what is shown equal to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.kernel.atoms import Index, Part
from vjproof.kernel.meaning import Meaning, Names, pick
from vjproof.kernel.program import Program, Refused, factors_of, fits, places
from vjproof.kernel.signs import conditions_of
from vjproof.kernel.terms import Algebra, Polynomial

WORK, WORK_PER_LINE = 60_000, 500


class Comparison:
    """A forward and a second program over the same inputs.

    Landmarks are forward values that get a name; each is defined by a term over earlier landmarks. `match` names a
    value of the second program once its term is that of a landmark. Where the second is a reverse program (`wrt` is
    not empty), landmarks also have adjoints, by the chain rule: adjoint(u)[i] = (cotangent of u, if u is an
    output)[i] + sum over landmarks w of sum_j adjoint(w)[j] d definition(w)[j] / d u[i].
    """

    def __init__(
        self, forward: Program, second: Program, landmarks: Sequence[str], positive: Sequence[str],
        wrt: Sequence[str] = (), cotangents: Sequence[str] = (),
    ):  # fmt: skip
        if forward.atoms != second.atoms:
            raise Refused("the two programs declare different axes")
        self.forward, self.second = forward, second
        lines = len(forward.operations) + len(second.operations)
        self.algebra = Algebra(forward.atoms, WORK + WORK_PER_LINE * lines)
        chosen = {*landmarks, *forward.inputs, *forward.outputs}
        if not chosen <= forward.operations.keys() or not {*wrt} <= {*forward.inputs}:
            raise Refused("a landmark is not a value of the forward program, or wrt none of its inputs")
        own = {name: self._own(f"v:{name}", forward, name) for name in forward.operations if name in chosen}
        self.there, self.here = Meaning(self.algebra, forward, own), Meaning(self.algebra, second, {})
        self.variables = {name: self.there.indices(name) for name in own}
        self.definition = {n: self.there.unfolded(n, v) for n, v in self.variables.items() if n not in forward.inputs}
        for name in second.inputs:
            if name in forward.inputs and second.shape(name) == forward.shape(name):
                self.here.names[name] = own[name]
        both = (("forward", forward), ("second", second))
        self.conditions = [f"{side}: {text}" for side, program in both for text in conditions_of(program, positive)]
        self.adjoint: dict[str, Polynomial] = {}
        self.alias: Names = {}
        if wrt:
            self._reverse(wrt, cotangents)

    def match(self, value: str, role: str, target: str, order: Sequence[Any]) -> None:
        """Name a value of the second program: its entry at i is the landmark's at pick(i, order)."""
        if value not in self.second.operations or value in self.here.names:
            raise Refused(f"{value} is no value of the second program, or has a name")
        self.here.name(value, *self._show(value, role, target, order, self.here.unfolded))

    def same_output(self, output: str, role: str, target: str) -> None:
        """Refuse unless an output of the second program is the landmark's value or adjoint."""
        if self.second.shape(output) != self.forward.shape(target):
            raise Refused(f"output {output} has another shape than {target}")
        self._show(output, role, target, range(len(self.variables[target])), self.here.entry)

    def _show(self, value: str, role: str, target: str, order: Sequence[Any], term_of: Any) -> tuple[str, list[Any]]:
        """Return the tensor and order by which a value goes; Refused unless its term is the landmark's."""
        terms, names = {"value": (self.definition, self.there.names), "adjoint": (self.adjoint, self.alias)}[role]
        if target not in terms:
            raise Refused(f"{target} is no landmark with a {role}")
        indices, variables = self.here.indices(value), self.variables[target]
        parts: list[Any] = [o if type(o) is int else (v.factor, *o) for o, v in zip(order, variables, strict=True)]
        fits(sorted(places([o for o in parts if type(o) is int], len(indices))) == [*range(len(indices))])
        fits(all(type(o) is int or (type(o[1]) is int and o[1] >= 0 and o[0][o[1]] == ()) for o in parts))
        chosen = pick(indices, parts)
        if [i.union if isinstance(i, Part) else i.factor for i in chosen] != [v.factor for v in variables]:
            raise Refused(f"{value} and {target} have different axes")
        (tensor, places_), mapping = names[target], {v.name: i for v, i in zip(variables, chosen, strict=True)}
        same = (self.algebra.rename(terms[target], mapping), self.algebra.entry(tensor, pick(chosen, places_)))
        if term_of(value, indices) not in same:
            raise Refused(f"{value} is not shown to be the {role} of {target}")
        return tensor, [parts[place] for place in places_]

    def _own(self, tensor: str, program: Program, value: str) -> tuple[str, Sequence[Any]]:
        return tensor, range(len(factors_of(program.shape(value))))

    def _reverse(self, wrt: Sequence[str], cotangents: Sequence[str]) -> None:
        """Name the cotangents and find the adjoints; one that is one entry of another tensor goes by that name."""
        if len(cotangents) != len(self.forward.outputs) or len({*cotangents}) != len(cotangents):
            raise Refused("one cotangent for each output of the forward program")
        self.cotangents = dict(zip(cotangents, self.forward.outputs, strict=True))
        for name, output in self.cotangents.items():
            shape = self.second.shape(name) if name in self.second.inputs else None
            if name in self.forward.operations or shape != self.forward.shape(output):
                raise Refused(f"cotangent {name} is not an input of the second program alone, shaped as {output}")
            self.here.names[name] = self._own(f"c:{name}", self.second, name)
        moving = {f"v:{name}" for name in wrt}
        for name, term in self.definition.items():
            moving |= {f"v:{name}"} if moving & _tensors(term) else set()
        self.moving = [name for name in self.variables if f"v:{name}" in moving]
        for name in reversed(self.moving):
            self.adjoint[name] = term = self._adjoint(name)
            self.alias[name] = _one_entry(term, self.variables[name]) or self._own(f"a:{name}", self.forward, name)

    def _adjoint_entry(self, name: str, indices: Sequence[Index]) -> Polynomial:
        tensor, order = self.alias[name]
        return self.algebra.entry(tensor, pick(indices, order))

    def _adjoint(self, name: str) -> Polynomial:
        algebra, variables, label = self.algebra, self.variables[name], f"v:{name}"
        total = algebra.add(*(algebra.entry(f"c:{c}", variables) for c, out in self.cotangents.items() if out == name))
        for user in [user for user in self.moving if label in _tensors(self.definition.get(user, {}))]:
            operation = self.forward.operations[user]
            if operation.kind == "call":  # Rule: the reverse of symbol(u), by hypothesis or lemma, is call_back
                if operation.arguments != (name,):
                    raise Refused(f"the argument of call {user} must be a landmark")
                lead, shape = operation.attributes["lead"], self.forward.shape(name)
                arrays = [(self.there.entry, name, shape[lead:]), (self._adjoint_entry, user, operation.shape[lead:])]
                back = f"call_back {operation.attributes['symbol']}"
                total = algebra.add(total, self.there.opaque(back, arrays, variables, len(factors_of(shape[:lead]))))
            else:
                slope = algebra.derivative(self.definition[user], label, variables)
                slope = algebra.multiply(self._adjoint_entry(user, self.variables[user]), slope)
                total = algebra.add(total, algebra.sum(self.variables[user], slope))
        return total


def _tensors(term: Polynomial) -> set[str]:
    return {tensor for monomial in term for atom, _ in monomial for tensor in atom.tensors}


def _one_entry(term: Polynomial, variables: Sequence[Index]) -> tuple[str, Sequence[int]] | None:
    """Return (tensor, order) where a term is one entry of a tensor at all the variables, else None."""
    ((monomial, coefficient),) = term.items() if len(term) == 1 else [(frozenset(), 0)]
    atom, exponent = next(iter(monomial)) if len(monomial) == 1 else (None, 0)
    if atom is None or atom.kind != "entry" or (coefficient, exponent) != (1, 1):
        return None
    tensor, indices = atom.data
    same = len(indices) == len(variables) and {*indices} == {*variables}
    return (tensor, [variables.index(index) for index in indices]) if same else None
