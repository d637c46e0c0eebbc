"""Whether balls hold true values: mpmath at 60 digits, and fractions where a value is rational."""

from fractions import Fraction

import flint
import mpmath
import numpy as np

from vjproof.enclosure.balls import ball_power
from vjproof.enclosure.evaluate import evaluate
from vjproof.enclosure.functions import FUNCTIONS
from vjproof.program.recorder import Tape

DIGITS = 60
BITS = 120  # of the balls: below 60 digits, so that the balls are wider than the error of the true values
SCALES = (1e-300, 1e-12, 1e-3, 1.0, 10.0, 40.0)

UNARY = {
    "exp": mpmath.exp,
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "tanh": mpmath.tanh,
    "logistic": lambda x: 1 / (1 + mpmath.exp(-x)),
    "neg": lambda x: -x,
}
POWERS = {exponent: exponent for exponent in map(Fraction, ("1/2", "-1/2", "1/3", "-1", "2", "3"))}
BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "max": max,
}


def exact(ball):
    """Midpoint and radius of a ball as fractions."""
    return tuple(Fraction(int(m)) * Fraction(2) ** int(e) for m, e in (ball.mid().man_exp(), ball.rad().man_exp()))


def holds(ball, value):
    """Whether the ball holds a fraction, or an mpmath number up to the error of its 60 digits."""
    if isinstance(value, Fraction):
        with flint.ctx.workprec(4000):
            return bool(ball.contains(flint.arb(flint.fmpq(value.numerator, value.denominator))))
    sign, man, exp, _ = value._mpf_
    with flint.ctx.workprec(400):
        number = flint.arb((int(-man if sign else man), int(exp)))
        return bool((ball + number * flint.arb(0, 1e-58)).contains(number))


def power_of(x, exponent):
    """x ** exponent at 60 digits."""
    return mpmath.mpf(x) ** (mpmath.mpf(exponent.numerator) / exponent.denominator)


def numbers(count, seed):
    """`count` floats of many magnitudes and both signs."""
    generator = np.random.default_rng(seed)
    scale = np.repeat(SCALES, -(-count // len(SCALES)))[:count]
    return (generator.standard_normal(count) * scale).tolist()


def check_scalars(count, names=(*UNARY, *POWERS, *BINARY)):
    """Each primitive at `count` scalars."""
    first, second = numbers(count, 1), numbers(count, 2)[::-1]
    with mpmath.workdps(DIGITS), flint.ctx.workprec(BITS):
        for name in names:
            if name in UNARY:
                function = FUNCTIONS.get(name, lambda ball: -ball)
                for x in first:
                    assert holds(function(flint.arb(x)), UNARY[name](mpmath.mpf(x))), (name, x)
            elif name in POWERS:
                for x in map(abs, first):
                    assert holds(ball_power(flint.arb(x), name), power_of(x, name)), (name, x)
            else:
                function = FUNCTIONS.get(name, BINARY[name])
                for x, y in zip(first, second, strict=True):
                    true = BINARY[name](Fraction(x), Fraction(y))
                    assert holds(function(flint.arb(x), flint.arb(y)), true), (name, x, y)


def check_wide_balls(count):
    """Each function of a ball of some width holds the values at points of that ball."""
    generator = np.random.default_rng(5)
    with mpmath.workdps(DIGITS), flint.ctx.workprec(BITS):
        for name, true in UNARY.items():
            for x, place in zip(numbers(count, 3), generator.uniform(-1, 1, count).tolist(), strict=True):
                width = abs(x) * 2.0**-20
                result = FUNCTIONS.get(name, lambda ball: -ball)(flint.arb(x, width))
                assert holds(result, true(mpmath.mpf(x) + mpmath.mpf(width) * place)), (name, x)


def program_of_one(kind, shapes, attributes):
    """The program of a single operation on inputs x0, x1."""
    tape = Tape()
    return tape.program([tape.line(kind, [tape.input(f"x{i}", s) for i, s in enumerate(shapes)], attributes)])


def check_arrays(count):
    """Each operation of a program at `count` small arrays, through all of the evaluator."""
    shape, generator = ("a", "b"), np.random.default_rng(4)
    dot = {"batch": [[], []], "contract": [[1], [0]]}
    programs = {name: program_of_one(name, [shape], {}) for name in UNARY}
    programs |= {e: program_of_one("power", [shape], {"exponent": str(e)}) for e in POWERS}
    programs |= {name: program_of_one(name, [shape, shape], {}) for name in BINARY if name != "max"}
    programs |= {kind: program_of_one(kind, [shape], {"axes": [1]}) for kind in ("sum", "max")}
    programs["dot"] = program_of_one("dot", [shape, ("b", "c")], dot)
    with mpmath.workdps(DIGITS):
        for name, program in programs.items():
            for _ in range(count):
                n, k, m = generator.integers(1, 4, 3).tolist()
                x, y = (generator.standard_normal(s) * generator.choice(SCALES) for s in ((n, k), (k, m)))
                if name in POWERS:
                    x = np.abs(x)
                if name in BINARY and name != "max":
                    y = generator.standard_normal((n, k)) * generator.choice(SCALES)
                inputs = dict(zip(program.inputs, (x, y), strict=False))
                (result,) = evaluate(program, inputs, BITS)
                true = true_array(name, x, y)
                assert result.shape == true.shape
                assert all(map(holds, result.flat, true.flat)), (name, x, y)


def true_array(name, x, y):
    """The true value of one operation, entries as mpmath numbers or fractions."""
    if name in UNARY:
        return np.vectorize(lambda v: UNARY[name](mpmath.mpf(float(v))), otypes=[object])(x)
    if name in POWERS:
        return np.vectorize(lambda v: power_of(float(v), name), otypes=[object])(x)
    x, y = (np.vectorize(Fraction, otypes=[object])(part) for part in (x, y))
    if name in ("sum", "max"):
        return getattr(np, name)(x, axis=1)
    return x @ y if name == "dot" else BINARY[name](x, y)
