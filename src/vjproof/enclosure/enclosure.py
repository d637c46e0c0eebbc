"""The enclosure of one network's logits and input gradient, at a precision that is found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from vjproof.enclosure.balls import outward, radius, upper
from vjproof.enclosure.evaluate import evaluate
from vjproof.enclosure.network import network_program
from vjproof.errors import VjproofError
from vjproof.kernel.certificate import digest
from vjproof.program.recorder import program_data
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, named_tensors

MOST_BITS = 4096
RELATIVE = 1e-30  # the radius wanted, relative to the gradient's largest entry
ABSOLUTE = 2.0**-1000  # narrow enough where the gradient is 0


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The exact gradient g and logits of real arithmetic on the given floats: |g - mid| <= rad, entry by entry.

    `mid` and `rad` (C, H, W), `logits_mid` and `logits_rad` (K,) are float64 rounded outwards; `balls` (C, H, W) and
    `logit_balls` (K,) are the same at full precision, none of them wider than `radius`.
    """

    mid: Array
    rad: Array
    logits_mid: Array
    logits_rad: Array
    bits: int
    bits_lost: int
    radius: float
    program_sha256: str
    balls: Array = field(repr=False)
    logit_balls: Array = field(repr=False)


def enclose_network(
    config: Config, params: Params, image: Array, d_logits: Array, bits: int | None = None
) -> Enclosure:
    """Return the enclosure at image (C, H, W) for the cotangent d_logits (K,), both exact floats.

    `bits` is the working precision; None starts at 64 + 48 per block and doubles until the radius is at most 1e-30
    of the largest entry. VjproofError for numbers that are not finite, and where the bound stays too wide.
    """
    program = network_program(config)
    inputs = {"eps": config.eps, "x": image, "d": d_logits, **dict(named_tensors(params))}
    if bits is not None and (type(bits) is not int or not 24 <= bits <= MOST_BITS):
        raise VjproofError("bits", expected=f"an int from 24 to {MOST_BITS}", got=repr(bits))
    tried = min(64 + 48 * config.depth, MOST_BITS) if bits is None else bits
    while True:
        logits, gradient = evaluate(program, inputs, tried)
        widest = max(map(radius, gradient.flat))
        largest = max(map(upper, gradient.flat))
        widest_logit, largest_logit = (max(map(bound, logits.flat)) for bound in (radius, upper))
        finite = math.isfinite(largest) and math.isfinite(largest_logit)
        narrow = finite and all(
            wide <= max(RELATIVE * (large - wide), ABSOLUTE)
            for wide, large in ((widest, largest), (widest_logit, largest_logit))
        )
        if narrow or (bits is not None and finite):
            break
        if bits is not None or tried >= MOST_BITS:
            raise VjproofError(
                "enclosure", expected="finite bounds" if bits else f"a radius below {RELATIVE} of the largest entry",
                got=f"bound too wide at {tried} bits", remedy="give more bits" if bits else "",
            )  # fmt: skip
        tried = min(2 * tried, MOST_BITS)
    lost = max(0, tried + math.ceil(math.log2(widest) - math.log2(largest))) if widest and largest else 0
    return Enclosure(
        *_floats(gradient), *_floats(logits), tried, lost, widest, digest(program_data(program)), gradient, logits
    )


def _floats(balls: Array) -> tuple[Any, Any]:
    """Return midpoints and radii of balls as float64 arrays, rounded outwards."""
    import numpy as np

    pairs = np.array([outward(ball) for ball in balls.flat]).reshape((*balls.shape, 2))
    return pairs[..., 0], pairs[..., 1]
