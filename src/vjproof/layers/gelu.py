"""GELU in its two declared forms, elementwise (MATH.md, "Leaves").

erf form:  y = x Phi(x), Phi(x) = erfc(-x / sqrt 2) / 2;   y' = Phi(x) + x phi(x), phi(x) = exp(-x^2 / 2) / sqrt(2 pi)
tanh form: y = x s, s = (1 + tanh u) / 2 = logistic(2 u), u = sqrt(2 / pi) (x + 0.044715 x^3);
           y' = s + x s (1 - s) 2 u',  u' = sqrt(2 / pi) (1 + 3 * 0.044715 x^2)
erfc and the logistic function keep the negative tail, where 1 + erf and 1 + tanh lose every digit.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from vjproof.errors import VjproofError
from vjproof.layers.array import Array, erfc, logistic, namespace

SQRT_HALF = math.sqrt(0.5)
INVERSE_SQRT_TWO_PI = 1.0 / math.sqrt(2.0 * math.pi)
SQRT_TWO_OVER_PI = math.sqrt(2.0 / math.pi)
CUBIC = 0.044715


class Saved(NamedTuple):
    """The slope at the input, all that the reverse needs."""

    slope: Array  # (...), as the input


def forward(form: str, x: Array) -> tuple[Array, Saved]:
    """Return GELU(x) and its slope: x (...) to (...); VjproofError for a form other than erf and tanh."""
    if form == "erf":
        gate = 0.5 * erfc(-SQRT_HALF * x)
        slope = gate + x * (INVERSE_SQRT_TWO_PI * namespace(x).exp(-0.5 * x * x))
    elif form == "tanh":
        square = x * x
        gate = logistic((2.0 * SQRT_TWO_OVER_PI) * x * (1.0 + CUBIC * square))
        slope = gate + x * gate * (1.0 - gate) * (2.0 * SQRT_TWO_OVER_PI) * (1.0 + (3.0 * CUBIC) * square)
    else:
        raise VjproofError("GELU form", expected="erf or tanh", got=repr(form))
    return x * gate, Saved(slope)


def pullback(saved: Saved, d_y: Array) -> Array:
    """Return d_x = slope * d_y: all (...)."""
    return saved.slope * d_y


def pushforward(saved: Saved, t_x: Array) -> Array:
    """Return t_y = slope * t_x: all (...); the Jacobian is diagonal, so this is the pullback."""
    return pullback(saved, t_x)
