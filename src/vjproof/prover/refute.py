"""Counterexamples: one input at which two programs differ, confirmed in ball arithmetic.

Float64 numbers find a difference; where they find none and no proof is found either, balls of the whole gradient look
for one that is below the accuracy of float64, such as a literal that is wrong in its last digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vjproof.enclosure.balls import ball_constant, ball_power
from vjproof.enclosure.functions import FUNCTIONS
from vjproof.program.interpreter import run_all
from vjproof.prover.adjoint import Sweep
from vjproof.prover.fingerprint import Numbers, close
from vjproof.prover.result import Counterexample

PRECISIONS = (200, 800)  # bits; the second for deep programs, in which balls grow
CONFIRM_ELEMENTS = 400_000  # of all values; about a second for 100,000


def refute(
    numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str], positive: Sequence[str]
) -> Counterexample | None:
    """Return an input at which the second program is wrong, or None where the numbers agree.

    The smallest sizes that show the difference are used; the difference is confirmed in balls where that is cheap. One
    that balls do not confirm, though they could, is noise.
    """
    if _worst(numbers, wrt) is None:
        return None
    assumed, given = numbers.assumed, numbers.given
    sizes = (2, 3, 5, None) if None in numbers.forward.atoms.values() else (None,)
    for start in sizes:
        for seed in (0, 1):
            small = numbers
            if start is not None or seed:
                small = Numbers(numbers.forward, numbers.second, wrt, cotangents, positive, seed, start, assumed, given)
            worst = None if small.broken() else _worst(small, wrt)
            found = None if worst is None else _confirmed(small, wrt, cotangents, *worst)
            if found is not None:
                return found
    return None


def refute_in_balls(numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str]) -> Counterexample | None:
    """Return an input at which the second program is wrong by however little, or None where balls show no difference.

    None, too, where the programs are too large for balls.
    """
    import numpy as np

    if not _fits(numbers):
        return None
    for pair in _in_balls(numbers, wrt, cotangents):
        true, got = (np.asarray(side, dtype=object) for side in pair[2:])
        apart = np.frompyfunc(_apart, 2, 1)(true, got) if true.shape == got.shape else np.zeros(())
        if np.any(apart):
            entry = tuple(int(i) for i in np.argwhere(apart)[0])
            return _example(numbers, wrt, pair[0], entry, true[entry], got[entry])
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


def _apart(x: Any, y: Any) -> bool:
    return bool(x.is_finite() and y.is_finite() and not x.overlaps(y))


def _fits(numbers: Numbers) -> bool:
    """Say whether both programs are small enough for balls, and call nothing that is unknown."""
    size = sum(array.size for values in (numbers.values, numbers.other) for array in values.values())
    return not numbers.symbols and size <= CONFIRM_ELEMENTS


def _confirmed(
    numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str], place: int, entry: tuple[int, ...]
) -> Counterexample | None:
    _, _, true, value = _pairs(numbers, wrt)[place]
    if not _fits(numbers):
        return _example(numbers, wrt, place, entry, repr(true[entry]), repr(value[entry]), confirmed=False)
    for bits in PRECISIONS:
        _, _, expected, got = _in_balls(numbers, wrt, cotangents, bits)[place]
        if not expected[entry].overlaps(got[entry]):
            return _example(numbers, wrt, place, entry, expected[entry], got[entry])
    if expected[entry].is_finite() and got[entry].is_finite():
        return None
    return _example(numbers, wrt, place, entry, expected[entry], got[entry], confirmed=False)


def _example(
    numbers: Numbers,
    wrt: Sequence[str],
    place: int,
    entry: tuple[int, ...],
    true: Any,
    got: Any,
    confirmed: bool = True,
) -> Counterexample:
    label = f"d_{wrt[place]}" if wrt else f"output {place}"
    sizes = {name: size for name, size in numbers.sizes.items() if numbers.forward.atoms[name] is None}
    return Counterexample(sizes, dict(numbers.inputs), label, entry, str(true), str(got), confirmed)


def _in_balls(
    numbers: Numbers, wrt: Sequence[str], cotangents: Sequence[str], bits: int = PRECISIONS[0]
) -> list[tuple[int, str, Any, Any]]:
    """Return (place, name, true value, the program's value) for each output: arrays of balls that hold them."""
    import flint
    import numpy as np

    with flint.ctx.workprec(bits):
        inputs = {key: np.vectorize(flint.arb, otypes=[object])(array) for key, array in numbers.inputs.items()}
        arguments: dict[str, Any] = {"functions": FUNCTIONS, "constant": ball_constant}
        forward, second = (
            run_all(program, {key: inputs[key] for key in program.inputs}, numbers.sizes, {}, **arguments)
            for program in (numbers.forward, numbers.second)
        )
        if not wrt:
            ends = enumerate(zip(numbers.forward.outputs, numbers.second.outputs, strict=False))
            return [(place, name, forward[name], second[output]) for place, (name, output) in ends]
        exp = np.frompyfunc(lambda x: x.exp(), 1, 1)
        power = np.frompyfunc(ball_power, 2, 1)
        sqrt_pi = flint.arb.pi().sqrt()
        sweep = Sweep(numbers.forward, forward, numbers.sizes, {}, power, exp, sqrt_pi, ball_shares)
        given = {o: inputs[c] for o, c in zip(numbers.forward.outputs, cotangents, strict=True)}
        adjoints = sweep.adjoints(given)
        ball = np.frompyfunc(flint.arb, 1, 1)  # entries that nothing reaches are the integer 0
        true = [ball(adjoints.get(name, np.zeros(inputs[name].shape, dtype=int))) for name in wrt]
        pairs = zip(wrt, true, numbers.second.outputs, strict=False)
        return [(k, name, np.asarray(t, dtype=object), second[o]) for k, (name, t, o) in enumerate(pairs)]


def ball_shares(x: Any, y: Any, axes: tuple[int, ...]) -> Any:
    """Return balls that hold the slope of a maximum y of x over axes: 1 at an entry that alone can attain it."""
    import flint
    import numpy as np

    may = np.frompyfunc(lambda one, most: int(one.overlaps(most)), 2, 1)(x, y)
    alone = may.sum(axis=axes, keepdims=True) == 1
    return np.where(alone, may, may * flint.arb(0.5, 0.5))
