"""The page docs/enclosure-figures.md, from docs/enclosure-figures.json."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vjproof.certification.bounds import text_down, text_up
from vjproof.enclosure.execution import multiplications
from vjproof.enclosure.network import network_program
from vjproof.explain.output import write_atomically
from vjproof.vit.config import Config
from vjproof.vit.params import named_tensors, shapes

DOCS = Path(__file__).resolve().parents[1] / "docs"
FIGURES, PAGE = DOCS / "enclosure-figures.json", DOCS / "enclosure-figures.md"
TINY = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, "erf")
SMALL = Config(3, 224, 224, 16, 384, 6, 1536, 12, 1000, 1e-6, "erf")
BASE = Config(3, 224, 224, 16, 768, 12, 3072, 12, 1000, 1e-6, "erf")
NAMES = ("fashion", "ViT-Tiny/224, random", "ViT-Tiny/224, trained-like", "ViT-S/224, random")
REFERENCE = NAMES[1]

HEAD = """# Enclosures: measured figures

Written by `make enclosure-figures` (`python tools/measure_enclosure.py`), which measures them anew; on two cores it
takes about half an hour. What they mean is in [enclosure.md](enclosure.md).

"Random" weights are normal with deviation 1 / sqrt(fan in). "Trained-like" ones (`vjproof.vit.trained_like`) have what
trained networks have: heavy tails (Student's t, 4 degrees of freedom), columns of unequal norm, dominant channels in
the norms' scales, and attention scores of some tens. Images are random, the target is class 1, precision starts at 64
bits and 48 more for each block, and two processes share the work. "Processor" is the processor time of both; on a
machine that does nothing else the seconds are about half of it. "Load" is the number of other running processes just
before, on two cores, and the priority where it was not the usual one: where load is not near 0, the seconds are too
many, and only processor seconds compare.
"""


def page(figures: Mapping[str, Any]) -> str:
    """Return the page's text."""
    figures = {name: figures[name] for name in NAMES if name in figures}
    rows = [
        f"| {one['name']} | {one['bits']} | {one['bits_lost']} | {text_up(one['radius'])} | {one['largest']:.1e} |"
        f" {one['seconds']:.1f} | {one['processor_seconds']:.0f} | {one['gigabytes']:.1f} | {_load(one)} |"
        for one in figures.values()
    ]
    table = "\n".join([
        "| network | bits | lost | radius | largest entry | seconds | processor, s | memory, GB | load |",
        "|---|---|---|---|---|---|---|---|---|", *rows,
    ])  # fmt: skip
    parts = [HEAD, table, "", "## Larger networks", _extrapolation(figures)]
    for one in figures.values():
        if one["engines"]:
            parts += ["", f"## Engines on {one['name']}", _engines(one)]
    for one in figures.values():
        parts += ["", f"## Bits lost and seconds by block, {one['name']}", _blocks(one)]
    return "\n".join(parts) + "\n"


def _load(one: Mapping[str, Any]) -> str:
    priority = one.get("nice", 0)
    return f"{one['load_before']:.1f}" + (f", nice {priority}" if priority else "")


def _extrapolation(figures: Mapping[str, Any]) -> str:
    reference, base = figures[REFERENCE], work(TINY)
    lines = [
        f"A block of ViT-Tiny/224 takes {_block_seconds(reference):.1f} s, its reverse included, in the run above. At",
        "equal depth the time grows with the number of multiplications, so that from ViT-Tiny follows, in processor",
        "seconds:", "",
        "| network | multiplications, relative | extrapolated | measured |", "|---|---|---|---|",
    ]  # fmt: skip
    for name, config in {REFERENCE: TINY, "ViT-S/224, random": SMALL, "ViT-B/224": BASE}.items():
        ratio = work(config) / base
        measured = f"{figures[name]['processor_seconds']:.0f}" if name in figures else "-"
        lines.append(f"| {name} | {ratio:.1f} | {ratio * reference['processor_seconds']:.0f} | {measured} |")
    return "\n".join(lines)


def work(config: Config) -> float:
    """Return the cost of one network, in multiplications of a product."""
    import numpy as np

    sizes = {"eps": (), "x": config.image_shape, "d": (config.classes,), **dict(named_tensors(shapes(config)))}
    return multiplications(
        network_program(config), {name: np.broadcast_to(0.0, shape) for name, shape in sizes.items()}
    )


def _block_seconds(one: Mapping[str, Any]) -> float:
    whole = [stage["seconds"] for stage in one["blocks"] if stage["stage"].endswith(" 1")]
    return float(sum(whole))


def _engines(one: Mapping[str, Any]) -> str:
    lines = ["| engine | dtype | error at most | of the norm | worst ulp | median ulp | signs certain |",
             "|---|---|---|---|---|---|---|"]  # fmt: skip
    for way in one["engines"]:
        bounds = [_up(way[name]) for name in ("absolute", "relative", "worst_ulp", "median_ulp")]
        lines.append(" | ".join(["| " + way["engine"], way["dtype"], *bounds, text_down(100 * way["signs"]) + " % |"]))
    return "\n".join(lines)


def _up(bound: float | None) -> str:
    return "-" if bound is None else text_up(bound)


def _blocks(one: Mapping[str, Any]) -> str:
    widest = max((stage["bits_lost"] or 0) for stage in one["blocks"])
    lines = ["| stage | seconds | bits lost | |", "|---|---|---|---|"]
    for stage in one["blocks"]:
        lost = stage["bits_lost"]
        bar = "#" * round(40 * (lost or 0) / max(widest, 1))
        lines.append(f"| {stage['stage']} | {stage['seconds']:.1f} | {'-' if lost is None else lost} | `{bar}` |")
    return "\n".join(lines).replace("| `` |", "| |")


def write(figures: Mapping[str, Any]) -> None:
    """Write the figures and the page."""
    data = json.dumps(figures, indent=1) + "\n"
    text = page(figures) if REFERENCE in figures else HEAD
    write_atomically({FIGURES: lambda file: file.write(data.encode()), PAGE: lambda file: file.write(text.encode())})
