"""What `certify` says: the rigorous bounds, or one JSON document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from vjproof.certification.bounds import text_down, text_up
from vjproof.report.terminal import say, say_json

NONE = "-"
BOUNDS = ("absolute", "relative", "worst_ulp", "median_ulp")


def print_certification(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the certificate of one or several gradients."""
    if as_json:
        say_json(record)
        return
    enclosure, top = record["enclosure"], record["top_class"]
    say(f"{record['image']}: gradient of {record['target']}")
    for line in table(record["gradients"]):
        say(f"  {line}")
    say(f"  top class   {'open' if top is None else '{index} ({label}), certain'.format(**top)}")
    say(
        f"  enclosure   {enclosure['bits']} bits, {enclosure['bits_lost']} lost, radius {enclosure['radius']:.1e},"
        f" {enclosure['seconds']:.1f} s"
    )
    if enclosure["file"]:
        say(f"  numbers     {enclosure['file']}, beside the certificate")


def table(gradients: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the bounds of gradients as lines of one table."""
    rows = [("engine", "dtype", "error at most", "of the norm", "worst ulp", "median ulp", "signs certain", "seconds")]
    rows += [
        (one["engine"], one["dtype"], *(_up(one[name]) for name in BOUNDS), f"{text_down(100 * one['signs'])} %",
         f"{one['seconds']:.2f}")
        for one in gradients
    ]  # fmt: skip
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, wide, strict=True))
        )
        for row in rows
    ]


def _up(bound: float | None) -> str:
    return NONE if bound is None else text_up(bound)


def print_module(record: Mapping[str, Any], *, as_json: bool) -> None:
    """Print the enclosure of a module's results."""
    if as_json:
        say_json(record)
        return
    say(f"{record['module']}: as written, {record['bits']} bits, sha256 {record['sha256'][:12]}")
    for place, result in enumerate(record["results"]):
        error = "" if result["error"] is None else f", the given array's error at most {text_up(result['error'])}"
        size = " x ".join(map(str, result["shape"])) or "one number"
        width = f"largest entry {result['largest']:.3e}, radius {text_up(result['radius'])}"
        say(f"  result {place}   {size}, {width}{error}")
    for effect in record["effects"]:
        say(f"  moves at most {text_up(effect['absolute'])}   {effect['reading']}")
