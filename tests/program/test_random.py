"""Random compositions of the subset: the program of a function computes the function, at random odd sizes."""

import array_api_compat.numpy
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.compare import assert_close
from vjproof.kernel.program import parts_of
from vjproof.program.interpreter import run_all
from vjproof.program.recorder import Tape
from vjproof.program.size import Size
from vjproof.program.text import format_program, parse_program

INPUTS = {"x": ("n", "1+m"), "y": ("n", "a*b"), "z": ("1+m",), "w": ("a*b", "1+m"), "s": (), "t": ("b", "n", 1)}
NAMES = ("n", "m", "a", "b")


class Numbers:
    """The recording namespace's functions on NumPy arrays."""

    erf, erfc, logistic = scipy.special.erf, scipy.special.erfc, scipy.special.expit

    def __getattr__(self, name):
        return getattr(array_api_compat.numpy, name)


class Step:
    """One call: `apply(xp, size, *operands)` on the values at places `at`; size turns a Size into a size."""

    def __init__(self, apply, *at):
        self.apply, self.at = apply, at


def elementwise(draw, at, x):
    kind = draw(st.sampled_from(["tanh", "logistic", "erf", "erfc", "neg", "gauss", "root", "literal", "size"]))
    literal = draw(st.sampled_from([2, -0.5, 0.1, 0.5**0.5, 1 / 3]))
    counted = draw(st.sampled_from([*x.shape, Size.of("n"), Size.of("(1+m)*a")]))
    steps = {
        "neg": lambda xp, size, x: -x,
        "gauss": lambda xp, size, x: xp.exp(-x * x),
        "root": lambda xp, size, x: 1.0 / xp.sqrt(x * x + 1),
        "literal": lambda xp, size, x: (literal - x) * literal + x / 3,
        "size": lambda xp, size, x: x * size(counted) ** -0.5 + x / size(counted),
    }
    return Step(steps.get(kind, lambda xp, size, x: getattr(xp, kind)(x)), at)


def broadcast(left, right):
    """Whether two shapes broadcast, aligned at their last axes."""
    return all(a == b or 1 in (a, b) for a, b in zip(left[::-1], right[::-1], strict=False))


def binary(draw, at, x, pool):
    fits = [i for i, y in enumerate(pool) if broadcast(x.shape, y.shape)]
    other = draw(st.sampled_from(fits))
    operations = [
        lambda xp, size, x, y: x + y, lambda xp, size, x, y: y - x, lambda xp, size, x, y: xp.tanh(x) * y,
        lambda xp, size, x, y: x / (y * y + 1),
    ]  # fmt: skip
    return Step(draw(st.sampled_from(operations)), at, other)


def reduction(draw, at, x):
    kind, keepdims = draw(st.sampled_from(["sum", "mean", "max"])), draw(st.booleans())
    places = draw(st.lists(st.integers(-x.ndim, -1), unique=True, min_size=1)) if x.ndim else []
    axis = tuple(places) if len(places) > 1 else places[0] if places else None
    return Step(lambda xp, size, x: getattr(xp, kind)(x, axis=axis, keepdims=keepdims), at)


def move(draw, at, x):
    shape = x.shape
    moves = [lambda xp, size, x: xp.broadcast_to(x, (size(Size.of("b")), *x.shape))]
    order = draw(st.permutations(range(x.ndim)))
    moves.append(lambda xp, size, x: xp.permute_dims(x, tuple(order)))
    for i in range(x.ndim - 1):
        merged = (*shape[:i], shape[i] * shape[i + 1], *shape[i + 2 :])
        moves.append(lambda xp, size, x, new=merged: xp.reshape(x, tuple(map(size, new))))
    for i, axis in enumerate(shape):
        if len(axis.axis) > 1:
            cut = (*shape[:i], Size(axis.axis[:1]), Size(axis.axis[1:]), *shape[i + 1 :])
            moves.append(lambda xp, size, x, new=cut: xp.reshape(x, tuple(map(size, new))))
        moves.append(lambda xp, size, x, i=i: xp.concat([x, -x], axis=i))
        parts = parts_of(axis.axis)
        if len(parts) > 1:
            first = Size(parts[0])
            front = (slice(None),) * i
            moves.append(lambda xp, size, x, f=front, b=first: x[(*f, slice(size(b), None), ...)])
            moves.append(lambda xp, size, x, f=front, b=first: x[(*f, slice(None, size(b)), ...)])
            moves.append(lambda xp, size, x, i=i: xp.concat([xp.zeros(x.shape, dtype=x.dtype), x], axis=i - x.ndim))
    return Step(draw(st.sampled_from(moves)), at)


def product(draw, at, x, pool):
    fits = [
        i for i, y in enumerate(pool)
        if x.ndim and y.ndim and x.shape[-1] == y.shape[max(y.ndim - 2, 0)]
        and broadcast(x.shape[:-2], y.shape[:-2])
    ]  # fmt: skip
    if fits:
        return Step(lambda xp, size, x, y: x @ xp.tanh(y), at, draw(st.sampled_from(fits)))
    if x.ndim < 2:
        return elementwise(draw, at, x)
    return Step(lambda xp, size, x: xp.matmul(x, xp.matrix_transpose(x)) / x.shape[-1], at)


def next_step(draw, pool):
    at = draw(st.integers(0, len(pool) - 1))
    x = pool[at]
    kind = draw(st.sampled_from(["elementwise", "binary", "reduction", "move", "product"]))
    if kind in ("binary", "product"):
        return {"binary": binary, "product": product}[kind](draw, at, x, pool)
    return {"elementwise": elementwise, "reduction": reduction, "move": move}[kind](draw, at, x)


def assert_all_close(got, wanted):
    """Compare at the scale of the largest value, since differences may cancel."""
    scale = max(1.0, *(float(np.max(np.abs(value))) for value in wanted))
    for ours, theirs in zip(got, wanted, strict=True):
        assert_close(np.asarray(ours) / scale + 1.0, np.asarray(theirs) / scale + 1.0, 1e-12)


def test_a_small_difference_is_told_apart():
    wanted = [np.ones(3), np.asarray(2.0)]
    assert_all_close(wanted, wanted)
    with pytest.raises(AssertionError, match="relative error"):
        assert_all_close([np.ones(3) + 1e-11, np.asarray(2.0)], wanted)


def begin(data):
    """Return a tape, its inputs, drawn sizes of the axes, a function that counts a size, and numbers for the inputs."""
    tape = Tape()
    pool = [tape.input(name, shape) for name, shape in INPUTS.items()]
    sizes = dict(zip(NAMES, data.draw(st.permutations([1, 2, 3, 5])), strict=True))
    generator = np.random.default_rng(data.draw(st.integers(0, 99)))

    def count(size):
        return eval(repr(size), dict(sizes))

    numbers = [generator.standard_normal([count(size) for size in x.shape]) for x in pool]
    return tape, pool, sizes, count, numbers


@settings(max_examples=150)
@given(st.data())
def test_the_program_of_a_composition_computes_the_composition(data):
    tape, pool, sizes, count, numbers = begin(data)
    inputs = dict(zip(INPUTS, numbers, strict=True))
    for _ in range(data.draw(st.integers(1, 8))):
        step = next_step(data.draw, pool)
        recorded = step.apply(tape.namespace, lambda size: size, *(pool[i] for i in step.at))
        if np.prod([count(size) for size in recorded.shape], initial=1) > 20_000 or recorded.ndim > 6:
            continue
        pool.append(recorded)
        numbers.append(step.apply(Numbers(), count, *(numbers[i] for i in step.at)))
    program = tape.program(pool)
    values = run_all(program, inputs, sizes)
    assert_all_close([values[name] for name in program.outputs], numbers)
    assert format_program(parse_program(format_program(program))) == format_program(program)
