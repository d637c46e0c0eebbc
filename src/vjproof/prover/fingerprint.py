"""Numbers for two programs at small sizes: they suggest which values are equal, and refute wrong claims."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any, NamedTuple, TypeAlias

from vjproof.kernel.program import Program, factors_of
from vjproof.program.interpreter import run_all
from vjproof.prover.adjoint import Sweep, Symbols, axis_size

Array: TypeAlias = Any
MOST_ELEMENTS = 2_000_000
CLOSE = 1e-7
RANK = 4


def choose_sizes(programs: Sequence[Program], start: int | None = None) -> dict[str, int]:
    """Return distinct sizes for the symbolic atomic axes, from `start` up.

    Without a start: from 12 up where the values then stay small enough, else from 7, 5, 3 or 2.
    """
    atoms = programs[0].atoms
    sizes: dict[str, int] = {}
    for first in (12, 7, 5, 3, 2) if start is None else (start,):
        symbolic = [name for name, size in atoms.items() if size is None]
        sizes = {name: first + place for place, name in enumerate(symbolic)}
        sizes |= {name: size for name, size in atoms.items() if size is not None}
        shapes = [operation.shape for program in programs for operation in program.operations.values()]
        if sum(math.prod(axis_size(axis, sizes) for axis in shape) for shape in shapes) <= MOST_ELEMENTS:
            break
    return sizes


def draw_inputs(program: Program, sizes: Mapping[str, int], positive: Sequence[str], seed: int) -> dict[str, Array]:
    """Return random float64 inputs; matrices are scaled by their first axis, so that no softmax saturates.

    Even seeds draw from the normal law, odd ones positive numbers, for programs with roots or logarithms.
    """
    import numpy as np

    generator = np.random.default_rng(seed)
    inputs = {}
    for name in program.inputs:
        shape = [axis_size(axis, sizes) for axis in program.shape(name)]
        scale = 1.0 / math.sqrt(shape[0]) if len(shape) > 1 else 1.0
        if name in positive or seed % 2:
            inputs[name] = generator.uniform(0.2, 1.2, shape)
        else:
            inputs[name] = generator.standard_normal(shape) * scale
    return inputs


class Assumed(NamedTuple):
    """What a theorem is limited to: every entry of a value of a program is larger or smaller than a number."""

    second: bool  # whether it is a value of the second program
    value: str
    relation: str  # ">" or "<"
    number: float


class Numbers:
    """Values of both programs and adjoints of the first, at one random point; arrays are float64.

    `assumed` is what a claim is limited to; `broken` tells what of that fails at this point. `given` inputs are not
    random.
    """

    def __init__(
        self,
        forward: Program,
        second: Program,
        wrt: Sequence[str],
        cotangents: Sequence[str],
        positive: Sequence[str],
        seed: int = 0,
        start: int | None = None,
        assumed: Sequence[Assumed] = (),
        given: Mapping[str, Array] | None = None,
    ) -> None:
        import numpy as np

        self.forward, self.second, self.assumed = forward, second, assumed
        self.sizes = choose_sizes([forward, second], start)
        inputs = draw_inputs(forward, self.sizes, positive, seed)
        inputs |= {n: v for n, v in draw_inputs(second, self.sizes, positive, seed + 2).items() if n not in inputs}
        self.given = dict(given or {})
        self.inputs = inputs | self.given
        self.symbols = stand_ins([forward, second], self.sizes)
        with np.errstate(all="ignore"):
            self.values = self._run(forward)
            self.other = self._run(second)
            self.adjoints = self._adjoints(cotangents) if cotangents else {}
        self.wrt = wrt

    def broken(self) -> Assumed | None:
        """Return an assumption that fails at this point, or None."""
        for one in self.assumed:
            array = (self.other if one.second else self.values)[one.value]
            if not ((array > one.number) if one.relation == ">" else (array < one.number)).all():
                return one
        return None

    def _run(self, program: Program) -> dict[str, Array]:
        given = {name: self.inputs[name] for name in program.inputs}
        return run_all(program, given, self.sizes, self.symbols)

    def _adjoints(self, cotangents: Sequence[str]) -> dict[str, Array]:
        import numpy as np

        sweep = Sweep(
            self.forward, self.values, self.sizes, self.symbols,
            power=lambda x, e: x ** (int(e) if e.denominator == 1 else float(e)),
            exp=np.exp, sqrt_pi=math.sqrt(math.pi),
        )  # fmt: skip
        given = dict(zip(self.forward.outputs, (self.inputs[name] for name in cotangents), strict=True))
        return sweep.adjoints(given)

    def count(self, axis: tuple[Any, ...]) -> int:
        """Return the number of elements of an axis at these sizes."""
        return axis_size(axis, self.sizes)

    def flat(self, program: Program, name: str, array: Array) -> Array:
        """Return a value with one axis for each factor of its axes."""
        return array.reshape([axis_size((factor,), self.sizes) for factor in factors_of(program.shape(name))])


def orders(factors: tuple[Any, ...], wanted: tuple[Any, ...]) -> Iterator[tuple[int, ...]]:
    """Yield the orders that turn `factors` into `wanted`: factors[order[k]] == wanted[k]; at most 24."""
    if len(factors) != len(wanted):
        return
    kinds = list(dict.fromkeys(wanted))
    places = [[i for i, factor in enumerate(factors) if factor == kind] for kind in kinds]
    targets = [[i for i, factor in enumerate(wanted) if factor == kind] for kind in kinds]
    if [len(group) for group in places] != [len(group) for group in targets] or sum(map(len, places)) != len(factors):
        return
    if math.prod(math.factorial(len(group)) for group in places) > 24:
        return
    for choice in product(*(permutations(group) for group in places)):
        order = [0] * len(wanted)
        for group, chosen in zip(targets, choice, strict=True):
            for target, place in zip(group, chosen, strict=True):
                order[target] = place
        yield tuple(order)


def close(left: Array, right: Array) -> bool:
    """Say whether two finite arrays of one shape agree to a relative error of 1e-7 in the norm."""
    import numpy as np

    with np.errstate(all="ignore"):
        gap, size = np.linalg.norm((left - right).ravel()), np.linalg.norm(right.ravel())
    return bool(np.isfinite(gap) and gap <= CLOSE * size + 1e-13)


def stand_ins(programs: Sequence[Program], sizes: Mapping[str, int]) -> Symbols:
    """Return a smooth nonlinear function, with its reverse, for each opaque symbol that the programs call."""
    symbols: dict[str, Any] = {}
    for program in programs:
        for operation in program.operations.values():
            if operation.kind in ("call", "call_back"):
                symbol, lead = operation.attributes["symbol"], operation.attributes["lead"]
                source = program.shape(operation.arguments[0])[lead:]
                out = program.shape(operation.arguments[1])[lead:] if operation.kind == "call_back" else None
                out = operation.shape[lead:] if out is None else out
                ends = [[axis_size(axis, sizes) for axis in shape] for shape in (source, out)]
                symbols.setdefault(symbol, _stand_in(ends[0], ends[1], seed=len(symbols)))
    return symbols


def _stand_in(source: list[int], out: list[int], seed: int) -> tuple[Any, Any]:
    import numpy as np

    m, n = math.prod(source), math.prod(out)
    generator = np.random.default_rng(seed)
    inner, outer = generator.standard_normal((m, RANK)) / math.sqrt(m), generator.standard_normal((RANK, n))

    def linear(x: Array) -> Array:
        """Apply a map of low rank, so that a large tower costs little."""
        return (x.reshape((*x.shape[: x.ndim - len(source)], m)) @ inner) @ outer

    def forward(x: Array) -> Array:
        y = linear(x)
        return (y + y * y / 2).reshape((*y.shape[:-1], *out))

    def back(x: Array, d_y: Array) -> Array:
        y = linear(x)
        return (((d_y.reshape(y.shape) * (1 + y)) @ outer.T) @ inner.T).reshape(x.shape)

    return forward, back
