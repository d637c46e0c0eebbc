"""What is asked: a forward and a gradient module, and which arguments and results of theirs belong together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.stablehlo.read import End, Link
from vjproof.stablehlo.source import Source

Chosen = int | str | Sequence[int | str] | None


@dataclass(frozen=True)
class Question:
    """Whether `gradient` is the vector-Jacobian product of `forward` with respect to its arguments `wrt`.

    `shared[i]` is the place, among the gradient module's arguments, of the forward module's argument i (None: it does
    not take it); `cotangents[k]` that of the cotangent of result k. Result i of the gradient module is the gradient
    with respect to argument wrt[i] of the forward module. `guards`: whether branches may be read under assumptions.
    """

    forward: Source
    gradient: Source
    wrt: tuple[int, ...]
    shared: tuple[int | None, ...]
    cotangents: tuple[int, ...]
    guards: bool = True

    def links(self) -> list[Link]:
        """Return which ends of the two modules have the same axes."""
        pairs = [(End("input", i), End("input", j)) for i, j in enumerate(self.shared) if j is not None]
        pairs += [(End("output", k), End("input", place)) for k, place in enumerate(self.cotangents)]
        pairs += [(End("input", i), End("output", k)) for k, i in enumerate(self.wrt)]
        return [Link(*pair) for pair in pairs]

    def record(self) -> dict[str, Any]:
        """Return the places as a JSON-ready record; `question_from` reads it back."""
        places = {"wrt": list(self.wrt), "shared": list(self.shared), "cotangents": list(self.cotangents)}
        return {**places, "guards": self.guards}


def question_from(record: Any, forward: Source, gradient: Source) -> Question:
    """Return a question from the record of its places, not to be trusted: KeyError or TypeError if malformed."""
    places = [tuple(record[name]) for name in ("wrt", "shared", "cotangents")]
    return Question(forward, gradient, places[0], places[1], places[2], record["guards"] is not False)


@dataclass(frozen=True)
class Signature:
    """A module's arguments, by the label that the module gives each ("" for none), and how many results it has."""

    labels: tuple[str, ...]
    results: int


def ask(
    forward: Source, gradient: Source, ends: tuple[Signature, Signature], wrt: Chosen, cotangent: Chosen
) -> Question:
    """Return the question about two modules as they stand; `ends` are their signatures.

    `wrt`: place or label of an argument of the forward module, several, or "all". `cotangent`: place or label of the
    gradient module's argument that is the cotangent (several for several results); None: what the forward module
    does not take. The gradient module's other arguments are the forward module's: all of them in order, or by label.
    VjproofError where that leaves a doubt.
    """
    here, there = ends
    count = len(here.labels)
    named = {label: place for place, label in enumerate(there.labels) if label and there.labels.count(label) == 1}
    if cotangent is None:
        places = _new_arguments(here, there)
    else:
        places = chosen(cotangent, there.labels, "cotangent, gradient module")
    if len(places) != here.results:
        raise VjproofError(
            "gradient module", expected=f"{here.results} cotangents, one for each result of the forward module",
            got=str(len(places)), remedy="name its cotangents: cotangent=..., --cotangent ...",
        )  # fmt: skip
    rest = [place for place in range(len(there.labels)) if place not in places]
    shared: list[int | None] = list(rest)
    if len(rest) != count:
        shared = [named.get(label) if label else None for label in here.labels]
        if sorted(place for place in shared if place is not None) != rest:
            raise VjproofError(
                "gradient module", expected=f"the {count} arguments of the forward module, or some of the same names",
                got=f"{len(rest)} arguments besides the cotangents",
                remedy="lower both with keep_unused=True",
            )  # fmt: skip
    return Question(forward, gradient, tuple(chosen(wrt, here.labels, "wrt")), tuple(shared), tuple(places))


def _new_arguments(here: Signature, there: Signature) -> list[int]:
    """Return the places of the gradient module's arguments that the forward module has not: by label, else the last."""
    labelled = all(here.labels) and all(there.labels)
    fresh = [place for place, label in enumerate(there.labels) if label not in here.labels]
    if labelled and len(fresh) == here.results:
        return fresh
    return list(range(max(0, len(there.labels) - here.results), len(there.labels)))


def chosen(given: Chosen, labels: Sequence[str], where: str) -> list[int]:
    """Return the places that numbers, labels or "all" choose; VjproofError for one that is unknown or comes twice."""
    if given == "all":
        return list(range(len(labels)))
    single = given is None or isinstance(given, int | str)
    found = [_place(one, labels, where) for one in ([0 if given is None else given] if single else given)]  # type: ignore[union-attr]
    if not found or len(set(found)) != len(found):
        raise VjproofError(where, expected="one or more arguments, each once", got=excerpt(repr(given), 60))
    return found


def _place(one: Any, labels: Sequence[str], where: str) -> int:
    if isinstance(one, str) and not one.isdecimal() and labels.count(one) == 1:
        return labels.index(one)
    number = int(one) if isinstance(one, int) or (one.isdecimal() and len(one) < 7) else -1
    if 0 <= number < len(labels):
        return number
    known = f"0 to {len(labels) - 1}" + (f" or a name, such as {labels[0]}" if labels and labels[0] else "")
    raise VjproofError(where, expected=f'the place of an argument, {known}, or "all"', got=excerpt(repr(one), 60))
