"""What the interpreter needs to know about balls: functions of one ball, and the product of two matrices."""

from __future__ import annotations

from typing import Any

from vjproof.enclosure.balls import ball_power
from vjproof.layers.array import Array


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
