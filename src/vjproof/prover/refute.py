"""Counterexamples: one input at which two programs differ, confirmed in ball arithmetic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.enclosure.balls import ball_constant, ball_power
from vjproof.enclosure.functions import FUNCTIONS
from vjproof.program.interpreter import run_all
from vjproof.prover.adjoint import Sweep
from vjproof.prover.fingerprint import Numbers, close
from vjproof.prover.result import Counterexample

PRECISION = 200  # bits
CONFIRM_ELEMENTS = 40_000


def refute(
    numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str], positive: Sequence[str]
) -> Counterexample | None:
    """Return an input at which the second program is wrong, or None where the numbers agree.

    The smallest sizes that show the difference are used; the difference is confirmed in balls where that is cheap.
    """
    if _worst(numbers, wrt) is None:
        return None
    for start in (2, 3, 5, None):
        for seed in (0, 1):
            small = numbers
            if start is not None:
                small = Numbers(numbers.forward, numbers.second, wrt, cotangents, positive, seed=seed, start=start)
            worst = _worst(small, wrt)
            if worst is not None:
                return _confirmed(small, wrt, cotangents, *worst)
    return None


def _pairs(numbers: Numbers, wrt: Sequence[str]) -> list[tuple[str, str, Any, Any]]:
    """Return (output, what it should be, true value, value) for each output of the second program."""
    import numpy as np

    names = list(wrt) or list(numbers.forward.outputs)
    pairs = []
    for output, name in zip(numbers.second.outputs, names, strict=False):
        value = numbers.other[output]
        true = numbers.adjoints.get(name, np.zeros_like(numbers.values[name])) if wrt else numbers.values[name]
        pairs.append((output, name, true, value))
    return pairs


def _worst(numbers: Numbers, wrt: Sequence[str]) -> tuple[int, tuple[int, ...]] | None:
    """Return the output and the entry of the largest difference, or None where all outputs agree."""
    import numpy as np

    for place, (_, _, true, value) in enumerate(_pairs(numbers, wrt)):
        if true.shape != value.shape or not (np.isfinite(true).all() and np.isfinite(value).all()):
            continue
        if not close(value, true):
            gap = np.abs(value - true)
            return place, tuple(int(i) for i in np.unravel_index(int(np.argmax(gap)), gap.shape))
    return None


def _confirmed(
    numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str], place: int, entry: tuple[int, ...]
) -> Counterexample:
    output, name, true, value = _pairs(numbers, wrt)[place]
    shown = dict(numbers.inputs)
    label = f"d_{name}" if wrt else f"output {place}"
    size = sum(array.size for values in (numbers.values, numbers.other) for array in values.values())
    if numbers.symbols or size > CONFIRM_ELEMENTS:
        return Counterexample(numbers.sizes, shown, label, entry, repr(true[entry]), repr(value[entry]), False)
    expected, got = _in_balls(numbers, wrt, cotangents, output, name, entry)
    return Counterexample(numbers.sizes, shown, label, entry, str(expected), str(got), not expected.overlaps(got))


def _in_balls(
    numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str], output: str, name: str, entry: tuple[int, ...]
) -> tuple[Any, Any]:
    """Return balls that hold the true value and the program's value of one entry."""
    import flint
    import numpy as np

    with flint.ctx.workprec(PRECISION):
        inputs = {key: np.vectorize(flint.arb, otypes=[object])(array) for key, array in numbers.inputs.items()}
        arguments: dict[str, Any] = {"functions": FUNCTIONS, "constant": ball_constant}
        forward, second = (
            run_all(program, {key: inputs[key] for key in program.inputs}, numbers.sizes, {}, **arguments)
            for program in (numbers.forward, numbers.second)
        )
        if not wrt:
            return forward[name][entry], second[output][entry]
        exp = np.frompyfunc(lambda x: x.exp(), 1, 1)
        power = np.frompyfunc(ball_power, 2, 1)
        sweep = Sweep(numbers.forward, forward, numbers.sizes, {}, power, exp, flint.arb.pi().sqrt())
        given = {o: inputs[c] for o, c in zip(numbers.forward.outputs, cotangents, strict=True)}
        adjoints = sweep.adjoints(given)
        true = adjoints[name][entry] if name in adjoints else 0  # entries that nothing reaches are the integer 0
        return flint.arb(true), second[output][entry]
