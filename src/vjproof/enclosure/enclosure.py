"""The enclosure of one network's logits and input gradient, at a precision that is found."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from vjproof.enclosure.balls import balls_of_expansions, expansions, outward
from vjproof.enclosure.network import network_program
from vjproof.enclosure.precision import Advance, evaluate_narrowly, extent
from vjproof.kernel.certificate import digest
from vjproof.program.recorder import program_data
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, named_tensors

FIRST_BITS, BLOCK_BITS = 64, 48  # a block costs about 40 bits


@dataclass(frozen=True, eq=False)
class Enclosure:
    """The exact gradient g and logits of real arithmetic on the given floats: |g - mid| <= rad, entry by entry.

    `mid` and `rad` (C, H, W), `logits_mid` and `logits_rad` (K,) are float64 rounded outwards. More exactly,
    |g - sum of terms| <= radii, with `terms` (n, C, H, W), `logit_terms` (n, K) and radii alike; `balls` (C, H, W)
    and `logit_balls` (K,) are these as balls, none of them wider than `radius`.
    """

    mid: Array
    rad: Array
    logits_mid: Array
    logits_rad: Array
    terms: Array = field(repr=False)
    radii: Array = field(repr=False)
    logit_terms: Array = field(repr=False)
    logit_radii: Array = field(repr=False)
    bits: int
    bits_lost: int
    radius: float
    program_sha256: str
    balls: Array = field(repr=False)
    logit_balls: Array = field(repr=False)


def enclosure_of(
    terms: Array, radii: Array, logit_terms: Array, logit_radii: Array, bits: int, program_sha256: str
) -> Enclosure:
    """Return the enclosure that expansions of the gradient and of the logits state; VjproofError for other arrays."""
    balls, logit_balls = balls_of_expansions(terms, radii), balls_of_expansions(logit_terms, logit_radii)
    widest, largest = extent(balls)
    lost = max(0, bits + math.ceil(math.log2(widest) - math.log2(largest))) if widest and largest else 0
    return Enclosure(
        *_floats(balls), *_floats(logit_balls), terms, radii, logit_terms, logit_radii, bits, lost, widest,
        program_sha256, balls, logit_balls,
    )  # fmt: skip


def enclose_network(
    config: Config,
    params: Params,
    image: Array,
    d_logits: Array,
    bits: int | None = None,
    *,
    processes: int | None = None,
    advance: Advance | None = None,
) -> Enclosure:
    """Return the enclosure at image (C, H, W) for the cotangent d_logits (K,), both exact floats.

    `bits` is the working precision; None starts at 64 + 48 per block and doubles until the radius is at most 1e-30
    of the largest entry. `processes` (1 or 2, None where 2 pay) and `advance` (the share of the work done) as for
    `evaluate_narrowly`. VjproofError for numbers that are not finite, and where the bound stays too wide.
    """
    program = network_program(config)
    inputs = {"eps": config.eps, "x": image, "d": d_logits, **dict(named_tensors(params))}
    start = FIRST_BITS + BLOCK_BITS * config.depth
    (logits, gradient), used = evaluate_narrowly(
        program, inputs, bits, start=start, processes=processes, advance=advance
    )
    return enclosure_of(*expansions(gradient), *expansions(logits), used, digest(program_data(program)))


def _floats(balls: Array) -> tuple[Any, Any]:
    """Return midpoints and radii of balls as float64 arrays, rounded outwards."""
    import numpy as np

    pairs = np.array([outward(ball) for ball in balls.flat]).reshape((*balls.shape, 2))
    return pairs[..., 0], pairs[..., 1]
