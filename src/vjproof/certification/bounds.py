"""Rigorous bounds on the error of any gradient: |g - exact| <= |g - mid| + rad, whatever computed g."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

from vjproof.enclosure.balls import balls_of, upper
from vjproof.enclosure.enclosure import Enclosure
from vjproof.errors import VjproofError
from vjproof.vit.params import Array

# digits of the significand, and the exponent of the least normal number as `frexp` gives it
FORMATS = {"float64": (53, -1021), "float32": (24, -125), "bfloat16": (8, -125), "float16": (11, -13)}
SUM_BITS = 128


@dataclass(frozen=True)
class Bounds:
    """What is certain of one gradient; bounds are rounded up, the share down.

    `absolute` bounds the largest error of an entry, `relative` the error's norm by the exact gradient's norm; ulps are
    units in the last place of the exact value in the gradient's dtype, taken at the rounded midpoint: at a power of two
    one may be off by a factor of 2. None is where a divisor may be 0 or too small. `signs` is the share of entries
    whose sign is certain.
    """

    absolute: float
    relative: float | None
    worst_ulp: float | None
    median_ulp: float | None
    signs: float

    def record(self) -> dict[str, Any]:
        """Return the bounds as a JSON-ready dictionary."""
        return asdict(self)


def bound_errors(gradient: Array, enclosed: Enclosure, dtype: str) -> Bounds:
    """Return bounds on the error of `gradient`, of the enclosure's shape, as numbers of `dtype`.

    VjproofError for another shape, for entries that are not finite floats, and for a dtype that is not known.
    """
    import flint
    import numpy as np

    value = floats_of(gradient, enclosed.balls.shape, dtype)
    with flint.ctx.workprec(max(enclosed.bits, SUM_BITS)):
        errors = np.vectorize(upper, otypes=[float])(balls_of(value) - enclosed.balls)
    with np.errstate(over="ignore"):
        ulps = errors / units(enclosed.mid, dtype) * (1 + 1e-15)
    return Bounds(
        float(errors.max()), _relative(errors, enclosed), _finite(ulps.max()), _finite(np.median(ulps)),
        _certain_signs(value, enclosed),
    )  # fmt: skip


def floats_of(gradient: Array, shape: tuple[int, ...], dtype: str) -> Array:
    """Return a gradient of `shape` as an array of float32 or float64, unchanged; errors as `bound_errors`."""
    import numpy as np

    given = np.asarray(gradient)
    value = given.astype(np.float32) if str(given.dtype) in ("bfloat16", "float16") else given
    if dtype not in FORMATS or value.shape != shape or value.dtype.kind != "f" or not np.isfinite(value).all():
        overflow = " with an overflow" if value.dtype.kind == "f" and not np.isfinite(value).all() else ""
        raise VjproofError("gradient", expected=f"finite floats {shape}", got=f"{dtype} {value.shape}{overflow}")
    return value


def units(values: Array, dtype: str) -> Array:
    """Return the unit in the last place of each float64 in `dtype`, as float64."""
    import numpy as np

    digits, least = FORMATS[dtype]
    exponents = np.where(values == 0, least, np.frexp(values)[1])
    return np.ldexp(1.0, np.maximum(exponents, least) - digits)


def certain_top(enclosed: Enclosure) -> int | None:
    """Return the class whose exact logit is certainly the highest; None where that is open."""
    scores = list(enclosed.logit_balls.flat)
    best = max(range(len(scores)), key=lambda k: float(enclosed.logits_mid[k]))
    return best if all(scores[best] > score for k, score in enumerate(scores) if k != best) else None


def text_up(bound: float) -> str:
    """Return four digits of a bound, rounded up."""
    return f"{Context(prec=4, rounding=ROUND_CEILING).create_decimal(Decimal(bound)):.3e}"


def text_down(share: float) -> str:
    """Return a share with three decimals, rounded down."""
    return str(Decimal(share).quantize(Decimal("0.001"), rounding=ROUND_FLOOR))


def _relative(errors: Array, enclosed: Enclosure) -> float | None:
    """Return an upper bound of the errors' norm by the exact gradient's norm; None where that may be 0."""
    import flint

    with flint.ctx.workprec(SUM_BITS):
        top = sum((flint.arb(e) ** 2 for e in errors.flat), flint.arb(0)).sqrt()
        below = sum((ball.abs_lower() ** 2 for ball in enclosed.balls.flat), flint.arb(0)).sqrt()
        return _finite(upper(top / below) if below > 0 else (0.0 if not errors.any() else math.inf))


def _finite(bound: float) -> float | None:
    return float(bound) if math.isfinite(bound) else None


def _certain_signs(value: Array, enclosed: Enclosure) -> float:
    agree = [
        (ball > 0 and number > 0) or (ball < 0 and number < 0) or (ball.is_zero() and number == 0)
        for ball, number in zip(enclosed.balls.flat, value.flat, strict=True)
    ]
    return sum(map(bool, agree)) / len(agree)
