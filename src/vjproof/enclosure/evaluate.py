"""A program evaluated in ball arithmetic: each result holds the value that real arithmetic gives."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from vjproof.enclosure.balls import ball_constant, ball_power, balls_of
from vjproof.enclosure.self_test import check_primitives
from vjproof.kernel.program import Program
from vjproof.layers.array import Array
from vjproof.program.interpreter import run


def evaluate(program: Program, inputs: Mapping[str, Array], bits: int) -> list[Array]:
    """Return the outputs of `program` as arrays of balls, at a working precision of `bits`.

    `inputs` are finite floats by name, taken exactly. VjproofError where they do not fit, or the ball library fails
    its self-test. The library's global precision is as before afterwards.
    """
    import flint

    _check_once()
    with flint.ctx.workprec(bits):
        balls = {name: balls_of(value) for name, value in inputs.items()}
        return run(program, balls, functions=FUNCTIONS, constant=ball_constant)


@cache
def _check_once() -> None:
    check_primitives(FUNCTIONS)


def logistic(ball: Any) -> Any:
    """Return a ball that holds 1 / (1 + exp(-x))."""
    return 1 / (1 + (-ball).exp())


def matmul(x: Array, y: Array) -> Array:
    """Return the product of matrices of balls, (n, k) and (k, m) to (n, m)."""
    import flint
    import numpy as np

    left, right = (flint.arb_mat(*part.shape, part.reshape(-1).tolist()) for part in (x, y))
    product = np.empty(x.shape[0] * y.shape[1], dtype=object)
    product[:] = (left * right).entries()
    return product.reshape(x.shape[0], y.shape[1])


FUNCTIONS: dict[str, Any] = {
    "exp": lambda x: x.exp(),
    "erf": lambda x: x.erf(),
    "erfc": lambda x: x.erfc(),
    "tanh": lambda x: x.tanh(),
    "logistic": logistic,
    "max": lambda x, y: x.max(y),
    "power": ball_power,
    "matmul": matmul,
}
