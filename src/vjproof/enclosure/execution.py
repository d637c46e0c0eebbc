"""The lines of a program, one after the other, on balls: all of each value, or this process's half of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from typing import Any, Protocol

from vjproof.enclosure.balls import ball_constant, balls_of
from vjproof.enclosure.choices import NO_CHOICES, Choices, compared
from vjproof.enclosure.functions import FUNCTIONS
from vjproof.enclosure.halves import Cut, Plan, bounds, plan, sliced
from vjproof.enclosure.working_precision import shortened, working_bits
from vjproof.kernel.program import Operation, Program, parts_of
from vjproof.layers.array import Array
from vjproof.program.arithmetic import ObjectArithmetic
from vjproof.program.axis_sizes import AxisSizes
from vjproof.program.interpreter import evaluate_operation

EXACT = ("transpose", "reshape", "broadcast", "slice", "concat")  # entries are moved, none is computed
FUNCTION_COST = 500  # of exp or erfc, in multiplications of a product
ELEMENT_COST = 15
WORTH_A_CUT = 2_000_000  # multiplications of a product of whole arguments, from which on it is shared


class Link(Protocol):
    """The other process: `second` tells whether this is the second one."""

    second: bool

    def swap(self, values: Array) -> Array:
        """Send an array to the other process and return the one that it sends."""
        ...


class Alone:
    """No other process: nothing is ever cut."""

    second = False

    def swap(self, values: Array) -> Array:
        """Return the array that was given."""
        return values


class Execution:
    """One evaluation of a program at a working precision of `bits`, shared with the process at `link` if any."""

    def __init__(
        self,
        program: Program,
        inputs: Mapping[str, Array],
        bits: int,
        link: Link | None = None,
        worth: int = WORTH_A_CUT,
        choices: Choices = NO_CHOICES,
    ) -> None:
        self._program, self._inputs, self._bits = program, inputs, bits
        self._link: Link = link or Alone()
        self._alone, self._second = link is None, self._link.second
        self._worth, self._choices = worth, choices
        self._masks = {*choices.comparisons, *choices.complements}  # values that are 0, 1, or in between
        self._sizes = AxisSizes(program, {name: tuple(array.shape) for name, array in inputs.items()}, {})
        self._counts = {name: self._sizes.shape(op.shape) for name, op in program.operations.items()}
        self._arithmetic = ObjectArithmetic(FUNCTIONS, ball_constant)
        self._values: dict[str, tuple[Array, Cut | None]] = {}

    def run(self, after: Callable[[str, float], None] | None = None) -> list[Array]:
        """Return the outputs, whole; `after` is told the name of each line done and the share of all work done."""
        import flint

        with flint.ctx.workprec(self._bits):
            return self._run(after)

    def _run(self, after: Callable[[str, float], None] | None) -> list[Array]:
        lines = list(self._program.operations.values())
        last = {name: op.name for op in lines for name in (op.name, *op.arguments)}
        kept = {*self._program.outputs, *(difference for difference, _ in self._choices.comparisons.values())}
        costs = {op.name: self.cost(op) for op in lines}
        total, done = sum(costs.values()), 0.0
        for op in lines:
            self._values[op.name] = self.line(op)
            for name in {op.name, *op.arguments} - kept:
                if last[name] == op.name:
                    del self._values[name]
            done += costs[op.name]
            if after:
                after(op.name, done / total)
        return [_balls(self._lying(name, None)) for name in self._program.outputs]

    def cost(self, op: Operation) -> float:
        """Return about how long a line takes, in multiplications of a product."""
        size = float(prod(self._counts[op.name]))
        if op.kind == "dot":
            left = self._counts[op.arguments[0]]
            depth: int = prod(left[place] for place in op.attributes["contract"][0])
            return size * (depth + ELEMENT_COST)
        if op.kind in ("exp", "erf", "erfc", "tanh", "logistic"):
            return size * FUNCTION_COST
        return 1.0 if op.kind in EXACT else 1.0 + size * ELEMENT_COST

    def line(self, op: Operation) -> tuple[Array, Cut | None]:
        """Return the value of one line as this process holds it, and where it is cut; those before it are known."""
        if op.name in self._choices.comparisons:
            return self._chosen(*self._choices.comparisons[op.name])
        if op.kind == "input":
            values = self._inputs[op.name]
            return _balls(values) if values.ndim < 2 else values, None  # vectors are repeated along many rows
        cuts = [self._values[name][1] for name in op.arguments]
        counts = [self._counts[name] for name in op.arguments]
        shapes = [self._program.shape(name) for name in op.arguments]
        whole = Plan((None,) * len(cuts), None)
        planned = whole if self._alone else plan(op, shapes, counts, self._counts[op.name], cuts, self._worth)
        if op.kind == "slice" and cuts[0] is not None and cuts[0].place == op.attributes["axis"]:
            return self._sliced(op, cuts[0])
        arguments = [self._lying(name, cut) for name, cut in zip(op.arguments, planned.arguments, strict=True)]
        if op.kind == "concat" and planned.result and planned.result.place == op.attributes["axis"]:
            at = next(index for index, cut in enumerate(planned.arguments) if cut is not None)
            arguments = arguments[at:] if self._second else arguments[: at + 1]
        if op.kind not in EXACT or len({values.dtype for values in arguments}) > 1:
            arguments = [_balls(values) for values in arguments]
        shape = self._local(self._counts[op.name], None if planned.partial else planned.result)
        result = self._computed(op, arguments, shapes, shape)
        if self._masks:
            result = self._masked(op, arguments, result)
        return self._summed(result, planned.result) if planned.partial else result, planned.result

    def _computed(self, op: Operation, arguments: list[Array], shapes: Any, shape: tuple[int, ...]) -> Array:
        import flint

        sizes: Any = _Local(self._sizes, shape)
        if op.kind in EXACT:
            return evaluate_operation(op, arguments, shapes, sizes, self._arithmetic)
        bits = working_bits(op.kind, arguments, self._bits, strict=not self._masks)
        with flint.ctx.workprec(bits):
            if op.kind == "dot" and bits < self._bits:
                arguments = [shortened(values, bits) for values in arguments]
            return evaluate_operation(op, arguments, shapes, sizes, self._arithmetic)

    def _chosen(self, difference: str, direction: str) -> tuple[Array, Cut | None]:
        """Return 1 where a difference compares so with 0, 0 where not, [0, 1] where that is not certain."""
        import numpy as np

        values, cut = self._values[difference]
        return np.vectorize(partial(compared, direction), otypes=[object])(_balls(values)), cut

    def _masked(self, op: Operation, arguments: list[Array], result: Array) -> Array:
        """Return the result with 0 wherever a mask of 0 multiplies: what was not chosen may be infinite there."""
        import numpy as np

        if op.kind in EXACT and all(name in self._masks for name in op.arguments):
            self._masks.add(op.name)
        if op.kind == "mul":
            for name, values in zip(op.arguments, arguments, strict=True):
                if name in self._masks:
                    zero = np.vectorize(lambda ball: bool(ball.is_zero()), otypes=[bool])(values)
                    result[zero] = values[zero]
        return result

    def _sliced(self, op: Operation, cut: Cut) -> tuple[Array, Cut | None]:
        """Return a part of the axis that is cut: still cut where both processes hold some of it, else whole."""
        axis, name = op.attributes["axis"], op.arguments[0]
        parts = parts_of(self._program.shape(name)[axis])
        start, stop = (sum(map(self._sizes.count, parts[: op.attributes[bound]])) for bound in ("start", "stop"))
        values, result = self._values[name][0], sliced(cut, start, stop)
        low, high = bounds(cut, self._counts[name][axis], self._second)
        own = values[(*[slice(None)] * axis, slice(max(start, low) - low, max(max(start, low), min(stop, high)) - low))]
        if 0 < result.first < stop - start:
            return own, result
        return self._whole(own, result), None

    def _lying(self, name: str, cut: Cut | None) -> Array:
        """Return a value cut as wanted; a value that is made whole stays so."""
        values, now = self._values[name]
        if now == cut:
            return values
        if now is not None:
            values = self._whole(values, now)
            self._values[name] = values, None
        return values if cut is None else self._part(values, cut, self._second)

    def _whole(self, own: Array, cut: Cut) -> Array:
        import numpy as np

        other = self._link.swap(own)
        if own.dtype != other.dtype:
            own, other = _balls(own), _balls(other)
        return np.concatenate((other, own) if self._second else (own, other), axis=cut.place)

    def _summed(self, partial: Array, cut: Cut | None) -> Array:
        """Return the sum of both processes' partial sums, cut or whole."""
        add = self._arithmetic.operate
        if cut is None:
            other = self._link.swap(partial)
            return add("add", other, partial) if self._second else add("add", partial, other)
        halves = [self._part(partial, cut, second) for second in (False, True)]
        return add("add", halves[self._second], self._link.swap(halves[not self._second]))

    def _part(self, values: Array, cut: Cut, second: bool) -> Array:
        start, stop = bounds(cut, values.shape[cut.place], second)
        return values[(*[slice(None)] * cut.place, slice(start, stop))]

    def _local(self, count: tuple[int, ...], cut: Cut | None) -> tuple[int, ...]:
        if cut is None:
            return count
        start, stop = bounds(cut, count[cut.place], self._second)
        return (*count[: cut.place], stop - start, *count[cut.place + 1 :])


class _Local:
    """Sizes as the interpreter asks for them, with the shape of a result as this process holds it."""

    def __init__(self, sizes: AxisSizes, shape: tuple[int, ...]) -> None:
        self._sizes, self._shape = sizes, shape

    def count(self, axis: tuple[Any, ...]) -> int:
        return self._sizes.count(axis)

    def shape(self, _axes: tuple[Any, ...]) -> tuple[int, ...]:
        return self._shape


def multiplications(program: Program, inputs: Mapping[str, Array]) -> float:
    """Return about how long a program takes, in multiplications of a product."""
    execution = Execution(program, inputs, 0)
    return sum(map(execution.cost, program.operations.values()))


def _balls(values: Array) -> Array:
    return values if values.dtype == object else balls_of(values)
