"""Two programs compared value by value: landmarks, their definitions and adjoints, and what is shown equal to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.kernel.derivative import derivative
from vjproof.kernel.indices import Index
from vjproof.kernel.meaning import Meaning, Names, call, pick
from vjproof.kernel.program import Program, Refused, factors_of
from vjproof.kernel.signs import conditions_of
from vjproof.kernel.terms import Algebra, Polynomial

WORK, WORK_PER_LINE = 60_000, 500


class Comparison:
    """A forward and a second program over the same inputs.

    Landmarks are forward values that get a name; each is defined by a term over earlier landmarks. `match`
    names a value of the second program once its term is that of a landmark.
    """

    def __init__(self, forward: Program, second: Program, landmarks: Sequence[str], positive: Sequence[str]) -> None:
        if forward.atoms != second.atoms:
            raise Refused("the two programs declare different axes")
        self.forward, self.second = forward, second
        lines = len(forward.operations) + len(second.operations)
        self.algebra = Algebra(forward.atoms, WORK + WORK_PER_LINE * lines)
        chosen = {*landmarks, *forward.inputs, *forward.outputs}
        if not chosen <= set(forward.operations):
            raise Refused("a landmark is not a value of the forward program")
        own: Names = {
            n: (f"v:{n}", range(len(factors_of(forward.shape(n))))) for n in forward.operations if n in chosen
        }
        self.there, self.here = Meaning(self.algebra, forward, own), Meaning(self.algebra, second, {})
        self.variables = {name: self.there.indices(name) for name in own}
        self.definition = {n: self.there.unfolded(n, v) for n, v in self.variables.items() if n not in forward.inputs}
        for name in second.inputs:
            if name in forward.inputs and second.shape(name) == forward.shape(name):
                self.here.names[name] = own[name]
        pairs = (("forward", forward), ("second", second))
        self.conditions = [f"{side}: {text}" for side, program in pairs for text in conditions_of(program, positive)]

    def what(self, role: str, target: str) -> tuple[Polynomial, tuple[str, Sequence[Any]]]:
        """Return the defining term of a landmark's value over its variables, and the name that the value goes by."""
        if role != "value" or target not in self.definition:
            raise Refused(f"{target} is no landmark with a {role}")
        return self.definition[target], self.there.names[target]

    def match(self, value: str, role: str, target: str, order: Sequence[Any]) -> None:
        """Name a value of the second program: its entry at i is the landmark's at pick(i, order)."""
        if value not in self.second.operations or value in self.here.names:
            raise Refused(f"{value} is no value of the second program, or has a name")
        name = self._show(value, role, target, order, self.here.unfolded)
        self.here.name(value, *name)

    def same_output(self, output: str, role: str, target: str) -> None:
        """Refuse unless an output of the second program is the landmark's value or adjoint."""
        if self.second.shape(output) != self.forward.shape(target):
            raise Refused(f"output {output} has another shape than {target}")
        self._show(output, role, target, range(len(factors_of(self.second.shape(output)))), self.here.entry)

    def _show(self, value: str, role: str, target: str, order: Sequence[Any], term_of: Any) -> tuple[str, list[Any]]:
        """Return the tensor and order by which a value goes; Refused unless its term is the landmark's."""
        wanted, (tensor, places) = self.what(role, target)
        indices = self.here.indices(value)
        used = [place for place in order if type(place) is int]
        if sorted(used) != list(range(len(indices))) or len(order) != len(self.variables[target]):
            raise Refused(f"{value}: not an order of its factors")
        parts = [o if type(o) is int else _unit(v[2], *o) for o, v in zip(order, self.variables[target], strict=True)]
        chosen = pick(indices, parts)
        if [index[2] if index[0] == "v" else index[1] for index in chosen] != [v[2] for v in self.variables[target]]:
            raise Refused(f"{value} and {target} have different axes")
        mapping = {v[1]: index for v, index in zip(self.variables[target], chosen, strict=True)}
        same = (self.algebra.rename(wanted, mapping), self.algebra.entry(tensor, pick(chosen, places)))
        if term_of(value, indices) not in same:
            raise Refused(f"{value} is not shown to be the {role} of {target}")
        return tensor, [parts[place] for place in places]


def _unit(factor: Any, part: Any) -> tuple[Any, int]:
    """Return a union and the number of a part of it that has one element; Refused where it is none."""
    if isinstance(factor, str) or type(part) is not int or not 0 <= part < len(factor) or factor[part] != ():
        raise Refused("not a unit part of a union")
    return factor, part


class Reverse(Comparison):
    """The comparison with a reverse program: landmarks have adjoints by the chain rule.

    adjoint(u)[i] = (cotangent of u, if u is an output)[i] + sum over landmarks w of
    sum_j adjoint(w)[j] d definition(w)[j] / d u[i]. An adjoint that is one entry of another tensor is that tensor.
    """

    def __init__(
        self, forward: Program, second: Program, landmarks: Sequence[str], positive: Sequence[str],
        wrt: Sequence[str], cotangents: Sequence[str],
    ) -> None:  # fmt: skip
        super().__init__(forward, second, landmarks, positive)
        if len(cotangents) != len(forward.outputs) or len({*cotangents}) != len(cotangents) or not wrt:
            raise Refused("one cotangent for each output of the forward program, and something to differentiate by")
        for name, output in zip(cotangents, forward.outputs, strict=True):
            if name in forward.operations or name not in second.inputs or second.shape(name) != forward.shape(output):
                raise Refused(f"cotangent {name} is not an input of the second program alone, shaped as {output}")
            self.here.names[name] = (f"c:{name}", range(len(factors_of(second.shape(name)))))
        if not {*wrt} <= {*forward.inputs}:
            raise Refused("the gradient is taken with respect to inputs of the forward program")
        self.cotangents = list(zip(cotangents, forward.outputs, strict=True))
        moving = {f"v:{name}" for name in wrt}
        for name, term in self.definition.items():
            moving |= {f"v:{name}"} if moving & _tensors(term) else set()
        self.moving = [name for name in self.variables if f"v:{name}" in moving]
        self.adjoint: dict[str, Polynomial] = {}
        self.alias: dict[str, tuple[str, Sequence[Any]]] = {}
        for name in reversed(self.moving):
            self.adjoint[name] = term = self._adjoint(name)
            self.alias[name] = _one_entry(term, self.variables[name]) or (f"a:{name}", range(len(self.variables[name])))

    def adjoint_entry(self, name: str, indices: Sequence[Index]) -> Polynomial:
        """Return the entry of a landmark's adjoint, under the name it goes by."""
        tensor, order = self.alias[name]
        return self.algebra.entry(tensor, pick(indices, order))

    def what(self, role: str, target: str) -> tuple[Polynomial, tuple[str, Sequence[Any]]]:
        """Return the defining term of a landmark's value or adjoint, and the name that it goes by."""
        if role == "adjoint" and target in self.adjoint:
            return self.adjoint[target], self.alias[target]
        return super().what(role, target)

    def _adjoint(self, name: str) -> Polynomial:
        algebra, variables, label = self.algebra, self.variables[name], f"v:{name}"
        total = algebra.add(*(algebra.entry(f"c:{c}", variables) for c, output in self.cotangents if output == name))
        for user in [user for user in self.moving if label in _tensors(self.definition.get(user, {}))]:
            if self.forward.operations[user].kind == "call":
                total = algebra.add(total, self._through_call(user, name))
            else:
                slope = derivative(algebra, self.definition[user], label, variables)
                back = algebra.multiply(self.adjoint_entry(user, self.variables[user]), slope)
                total = algebra.add(total, algebra.sum(self.variables[user], back))
        return total

    def _through_call(self, user: str, name: str) -> Polynomial:
        """Rule: the reverse of symbol(u), by hypothesis or lemma, is call_back symbol (u, adjoint)."""
        operation, variables = self.forward.operations[user], self.variables[name]
        if operation.arguments != (name,):
            raise Refused(f"the argument of call {user} must be a landmark")
        lead = operation.attributes["lead"]
        count = len(factors_of(operation.shape[:lead]))
        arrays = [
            (self.there.entry, name, self.forward.shape(name)[lead:]),
            (self.adjoint_entry, user, operation.shape[lead:]),
        ]
        return call(
            self.algebra, f"call_back {operation.attributes['symbol']}", arrays, variables[:count], variables[count:]
        )


def _tensors(term: Polynomial) -> set[str]:
    return {tensor for monomial in term for atom, _ in monomial for tensor in atom.tensors}


def _one_entry(term: Polynomial, variables: Sequence[Index]) -> tuple[str, Sequence[int]] | None:
    """Return (tensor, order) where a term is one entry of a tensor at all the variables, else None."""
    monomial, coefficient = next(iter(term.items())) if len(term) == 1 else ((), 0)
    if coefficient != 1 or len(monomial) != 1 or monomial[0][1] != 1 or monomial[0][0].kind != "entry":
        return None
    tensor, indices = monomial[0][0].data
    return (
        (tensor, [variables.index(index) for index in indices])
        if sorted(indices, key=str) == sorted(variables, key=str)
        else None
    )
