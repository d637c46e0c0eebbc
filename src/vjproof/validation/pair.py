"""The two modules of a question as programs, their inputs called as the modules call them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vjproof.kernel.program import Program
from vjproof.program.recorder import program_data, program_of
from vjproof.prover import words
from vjproof.prover.fingerprint import Assumed
from vjproof.stablehlo.module import Module
from vjproof.stablehlo.read import read_pair
from vjproof.validation.question import Question

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.]{0,59}")
LINE = re.compile(r"v\d+")


@dataclass(frozen=True)
class ReadPair:
    """A question's modules as Programs over common axes; `modules` holds what was read as something else."""

    forward: Program
    gradient: Program
    wrt: tuple[str, ...]
    cotangents: tuple[str, ...]
    modules: tuple[Module, Module]
    names: Mapping[str, str]  # of inputs, by the names that the modules' programs have

    def place(self, second: bool, value: str) -> str:
        """Return the source line of a value of the forward or the second program, "" where it is not known."""
        back = {new: old for old, new in self.names.items()}
        return self.modules[second].places.get(back.get(value, value), "")

    def captured(self) -> dict[str, Any]:
        """Return the constant arrays of the modules, by the names that they have as inputs."""
        return {name: array for module in self.modules for name, array in module.captured.items()}

    def assumed(self) -> list[Assumed]:
        """Return the assumptions under which the modules were read."""
        found = []
        for second, module in enumerate(self.modules):
            for branch in module.guards:
                value = self.names.get(branch.value, branch.value)
                found.append(Assumed(bool(second), value, branch.relation, branch.number))
        return found

    def limits(self) -> list[str]:
        """Return the assumptions in words, written out from the inputs; what is the same assumption once."""
        said: dict[str, str] = {}
        for second, module in enumerate(self.modules):
            said |= {f"where {condition}": "" for condition in module.conditions}
            program, side = ((self.forward, "forward"), (self.gradient, "second"))[second]
            for branch in module.guards:
                value = self.names.get(branch.value, branch.value)
                text = words.expression(program, value)
                line = f"where {text} {branch.relation} {branch.number:.9g} in every entry"
                origin = f" (a branch at {branch.place or 'an unknown line'}, {value} of the {side} program)"
                said.setdefault(line + (origin if "..." in text else ""), origin)
        return [line if line.endswith(origin) else line + origin for line, origin in said.items()]

    def declarations(self) -> dict[str, list[str]]:
        """Return, in words, what was read as something else in either module, each once."""
        kinds: dict[str, list[str]] = {}
        for module in self.modules:
            for kind, lines in module.declarations().items():
                kinds[kind] = list(dict.fromkeys([*kinds.get(kind, []), *lines]))
        return kinds


def read(question: Question) -> ReadPair:
    """Return a question's modules as programs; VjproofError as `stablehlo.read.read_pair`."""
    forward, gradient = read_pair(
        question.forward, question.gradient, question.links(), guards=question.guards, relinked=True
    )
    names = _names(forward, gradient)
    return ReadPair(
        sharing(renamed(forward.program, names), gradient), renamed(gradient.program, names),
        tuple(names.get(name, name) for name in (forward.inputs[place].name for place in question.wrt)),
        tuple(names.get(name, name) for name in (gradient.inputs[place].name for place in question.cotangents)),
        (forward, gradient), names,
    )  # fmt: skip


def _names(forward: Module, gradient: Module) -> dict[str, str]:
    """Return a readable name for each input that the forward module labels: `params['w']` as params.w."""
    taken = {tensor.name for module in (forward, gradient) for tensor in module.inputs}
    taken |= {name for module in (forward, gradient) for name in module.program.operations}
    names: dict[str, str] = {}
    for tensor in forward.inputs:
        name = re.sub(r"[^A-Za-z0-9_]+", ".", tensor.label).strip(".")
        if NAME.fullmatch(name) and not LINE.fullmatch(name) and name not in taken:
            taken.add(name)
            names[tensor.name] = name
    return names


def sharing(forward: Program, gradient: Module) -> Program:
    """Return the forward program with the constant arrays of the gradient module as inputs, used or not."""
    data: dict[str, Any] = program_data(forward)
    theirs = {line[0]: line for line in program_data(gradient.program)["lines"] if line[0] in gradient.captured}
    return program_of({**data, "lines": [*(theirs[n] for n in theirs if n not in forward.operations), *data["lines"]]})


def renamed(program: Program, names: Mapping[str, str]) -> Program:
    """Return a program with values called by other names."""

    def new(name: str) -> str:
        return names.get(name, name)

    data: dict[str, Any] = program_data(program)
    lines = [[new(name), kind, [new(a) for a in arguments], rest] for name, kind, arguments, rest in data["lines"]]
    return program_of({**data, "lines": lines, "outputs": [new(name) for name in data["outputs"]]})
