"""A named theorem: what it says, and the claims that make it up, one for each declared choice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from vjproof.prover.claim import Claim, Fold, Pair, readings
from vjproof.prover.symbolic import Net

Array = Any


@dataclass(frozen=True)
class Tie:
    """One theorem: `variants` maps a label (GELU form, LayerScale, pooling) to the claim, recorded when asked for.

    `seed` is the seed's name where it has one; `words` the statement, `formula` the reverse as it is written.
    """

    name: str
    words: str
    formula: str
    variants: Mapping[str, Callable[[], Claim]]
    seed: str = ""
    hypotheses: str = "0 < eps"


def vjp(
    arguments: Callable[[Net], tuple[Any, ...]],
    forward: Callable[..., Array],
    reverse: Callable[..., Any],
    cotangent: Callable[[Net], tuple[Any, ...]],
    *,
    wrt: tuple[str, ...] = ("x",),
    lemmas: Mapping[str, Claim] | None = None,
    symbol: str | None = None,
    **choices: Any,
) -> Pair:
    """Claim that reverse(net, d_y, *arguments) is the VJP of forward(net, *arguments) with respect to `wrt`.

    Both functions are recorded on a symbolic network with these choices; `cotangent` gives the shape of d_y.
    """
    first, second = Net(**choices), Net(**choices)
    output = forward(first, *arguments(first))
    inputs = arguments(second)
    d_y = second.input("d_y", *cotangent(second))
    gradients = reverse(second, d_y, *inputs)
    programs = first.tape.program([output]), second.tape.program(list(_several(gradients)))
    return Pair(
        *programs, wrt=wrt, cotangents=("d_y",), positive=("eps",), symbol=symbol, lemmas=lemmas or {},
        notes=readings(first.tape, second.tape),
    )  # fmt: skip


def equal(
    arguments: Callable[[Net], tuple[Any, ...]],
    left: Callable[..., Any],
    right: Callable[..., Any],
    **choices: Any,
) -> Pair:
    """Claim that left(net, *arguments) equals right(net, *arguments), both recorded on a symbolic network."""
    nets = Net(**choices), Net(**choices)
    outputs = [_several(function(net, *arguments(net))) for function, net in zip((left, right), nets, strict=True)]
    first, second = (net.tape.program(list(values)) for net, values in zip(nets, outputs, strict=True))
    return Pair(first, second, positive=("eps",), notes=readings(*(net.tape for net in nets)))


def fold(symbol: str, base: Pair, step: Pair) -> Fold:
    """Join a base and an induction step into the claim for every depth."""
    return Fold(symbol, base, step)


def _several(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, tuple | list) else (value,)
