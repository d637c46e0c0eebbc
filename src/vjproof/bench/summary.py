"""Medians and ratios of what was measured; a ratio is taken in each round, and its median told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from vjproof.bench.contestants import CONTESTANTS, EXPORT, LIMIT, OURS, PEER

KINDS = {one.name: one.kind for one in CONTESTANTS}
DTYPES = {one.name: one.dtype for one in CONTESTANTS}


def best(seconds: Mapping[str, Sequence[float]], kind: str, dtype: str) -> str | None:
    """Return the contestant of that kind and dtype with the lowest median; None where there is none."""
    names = [name for name in seconds if KINDS.get(name) == kind and DTYPES[name] == dtype and seconds[name]]
    return min(names, key=lambda name: median(seconds[name]), default=None)


def ratio(seconds: Mapping[str, Sequence[float]], ours: str | None, peer: str | None) -> float | None:
    """Return the median over the rounds of ours / peer; None where one of them is absent."""
    if ours is None or peer is None:
        return None
    return median(one / other for one, other in zip(seconds[ours], seconds[peer], strict=True))


def summarise(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return milliseconds per image and the ratios of interest for one model and batch."""
    seconds, batch = group["seconds"], group["batch"]
    name = {
        (kind, dtype): best(seconds, kind, dtype) for kind in (OURS, PEER, LIMIT) for dtype in ("float32", "bfloat16")
    }
    foreign = best({one: times for one, times in seconds.items() if one != EXPORT}, PEER, "float32")
    single, half = name[OURS, "float32"], name[OURS, "bfloat16"]
    return {
        "milliseconds": {one: 1e3 * median(times) / batch for one, times in seconds.items() if times},
        "ratios": {
            "float32 / best float32 peer": ratio(seconds, single, name[PEER, "float32"]),
            "bfloat16 / best bfloat16 peer": ratio(seconds, half, name[PEER, "bfloat16"]),
            "bfloat16 / best float32 peer": ratio(seconds, half, name[PEER, "float32"]),
            "float32 / best float32 peer but our export": ratio(seconds, single, foreign),
            "float32 / its products": ratio(seconds, single, name[LIMIT, "float32"]),
            "bfloat16 / its products": ratio(seconds, half, name[LIMIT, "bfloat16"]),
        },
        "best": {f"{kind} {dtype}": one for (kind, dtype), one in name.items() if one},
    }
