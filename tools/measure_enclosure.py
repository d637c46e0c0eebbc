"""Measure enclosures and rank engines: docs/enclosure-figures.json and, from it, docs/enclosure-figures.md.

    python tools/measure_enclosure.py [NAME...]     measure these networks (all of them by default), write both files
    python tools/measure_enclosure.py --page        write the page from what was measured before

Each network is measured in a process of its own, and its figures are kept as soon as they are there.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from dataclasses import asdict
from types import SimpleNamespace
from typing import Any

from enclosure_page import FIGURES, NAMES, SMALL, TINY, write

from vjproof.certification.certification import certify
from vjproof.classifier import Classifier, load
from vjproof.enclosure.balls import exact_floats, expansions
from vjproof.enclosure.enclosure import BLOCK_BITS, FIRST_BITS, enclosure_of
from vjproof.enclosure.execution import WORTH_A_CUT, Execution
from vjproof.enclosure.network import network_program
from vjproof.enclosure.partner import partner
from vjproof.enclosure.precision import is_narrow
from vjproof.enclosure.working_precision import TooWideError, accuracy
from vjproof.errors import VjproofError
from vjproof.kernel.program import Operation, Program
from vjproof.vit.params import map_tensors, named_tensors, random_params
from vjproof.vit.trained_like import trained_like_params

WAYS = [("numpy", "float64"), ("jax", "float64"), ("torch", "float64"), ("numpy", "float32"), ("jax", "float32"),
        ("torch", "float32"), ("numpy", "bfloat16"), ("jax", "bfloat16"),
        ("torch", "bfloat16")]  # fmt: skip


def network(name: str) -> Classifier:
    """Return the network of that name."""
    if name == "fashion":
        return load("fashion")
    size, weights = name.split(", ")
    config = TINY if size == "ViT-Tiny/224" else SMALL
    if weights == "random":
        params = map_tensors(lambda tensor: tensor.astype("float32"), random_params(config, 0))
    else:
        params = trained_like_params(config, 0)
    labels = tuple(map(str, range(config.classes)))
    return Classifier(name, SimpleNamespace(config=config, params=params, labels=labels, sha256="0" * 64))  # type: ignore[arg-type]


class Watched(Execution):
    """An execution that notes when each line was done, and how accurate it is."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.times: dict[str, float] = {}
        self.left: dict[str, int | None] = {}

    def line(self, op: Operation) -> Any:
        """Do the line and note it."""
        result = super().line(op)
        self.times[op.name] = time.perf_counter()
        self.left[op.name] = accuracy(result[0]) if result[0].dtype == object else None
        return result


def measure(name: str) -> dict[str, Any]:
    """Return the figures of one network, with two processes."""
    import numpy as np

    model = network(name)
    config, program = model.config, network_program(model.config)
    image = np.random.default_rng(1).standard_normal(config.image_shape).astype(np.float32)
    d_logits = np.eye(config.classes)[1]
    inputs = {"eps": config.eps, "x": image, "d": d_logits, **dict(named_tensors(model.params))}
    exact = {key: exact_floats(values) for key, values in inputs.items()}
    bits, load_before, start = FIRST_BITS + BLOCK_BITS * config.depth, os.getloadavg()[0], time.perf_counter()
    while True:
        begin = time.perf_counter()
        watched, outputs = attempt(program, exact, bits)
        if outputs and all(map(is_narrow, outputs)):
            break
        bits *= 2
    logits, gradient = outputs
    enclosed = enclosure_of(*expansions(gradient), *expansions(logits), bits, "0" * 64)
    seconds = time.perf_counter() - start
    usage = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    figures = {
        "name": name, "config": asdict(config), "bits": bits, "bits_lost": enclosed.bits_lost,
        "radius": enclosed.radius, "largest": float(np.abs(enclosed.mid).max()), "seconds": seconds,
        "processor_seconds": sum(one.ru_utime + one.ru_stime for one in usage),
        "gigabytes": sum(one.ru_maxrss for one in usage) / 2**20, "load_before": load_before,
        "nice": os.nice(0),
        "blocks": blocks(program, watched, bits, begin),
    }  # fmt: skip
    print(f"{name}: {seconds:.0f} s, radius {enclosed.radius:.1e}", flush=True)
    return {**figures, "engines": engines(model, image, d_logits, enclosed)}


def attempt(program: Program, exact: dict[str, Any], bits: int) -> tuple[Watched, list[Any]]:
    """Return an execution at some precision, and its outputs; none where a bound is infinite."""
    with partner(program, exact, bits, WORTH_A_CUT) as link:
        watched = Watched(program, exact, bits, link)
        try:
            return watched, watched.run()
        except TooWideError:
            return watched, []


def blocks(program: Program, watched: Watched, bits: int, start: float) -> list[dict[str, Any]]:
    """Return seconds and bits lost, at the beginning of each block and of its reverse, in the order of the program."""
    lines = list(program.operations.values())
    starts = []
    for index in range(sum(name.endswith(".w_1") for name in program.inputs)):
        first = next(op for op in lines if f"blocks.{index}.norm1_scale" in op.arguments)
        back = next(op for op in lines if op.kind == "transpose" and f"blocks.{index}.w_2" in op.arguments)
        starts += [(first, f"block {index}"), (back, f"reverse of block {index}")]
    order = {op.name: place for place, op in enumerate(lines)}
    starts.sort(key=lambda one: order[one[0].name])
    marks = [watched.times[op.name] for op, _ in starts] + [max(watched.times.values())]
    result = [{"stage": "embedding", "seconds": marks[0] - start, "bits_lost": None}]
    for (op, stage), begin, end in zip(starts, marks, marks[1:], strict=False):
        known = [watched.left[line.name] for line in lines[order[op.name] :] if watched.left[line.name] is not None]
        result.append({"stage": stage, "seconds": end - begin, "bits_lost": bits - (known[0] or 0) if known else None})
    return result


def engines(model: Classifier, image: Any, d_logits: Any, enclosed: Any) -> list[dict[str, Any]]:
    """Return the bounds of each engine and dtype that is there, the best one first."""
    found = []
    for engine, dtype in WAYS:
        try:
            proved = certify(model, image, d_logits, engine=engine, dtype=dtype, enclosure=enclosed)
        except VjproofError as problem:
            print(f"{engine} {dtype}: {problem}", file=sys.stderr)
            continue
        found.append({"engine": engine, "dtype": dtype, **proved.bounds.record(), "seconds": proved.seconds})
    return sorted(found, key=lambda one: one["absolute"])


def main() -> None:
    """Measure what the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[*NAMES, []], metavar="NAME", help="; ".join(NAMES))
    parser.add_argument("--page", action="store_true", help="measure nothing, write the page")
    given = parser.parse_args()
    if given.page:
        write(json.loads(FIGURES.read_text()))
    elif len(given.names) == 1:
        figures = measure(given.names[0])
        known = json.loads(FIGURES.read_text()) if FIGURES.exists() else {}
        write({**known, given.names[0]: figures})
    else:
        for name in given.names or NAMES:
            subprocess.run([sys.executable, __file__, name], check=True)


if __name__ == "__main__":
    main()
