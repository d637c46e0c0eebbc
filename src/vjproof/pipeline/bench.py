"""Measure this package against other ways to the same gradient, and keep what is done of it."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vjproof.bench.contestants import CONTESTANTS, LIMIT, Contestant
from vjproof.bench.models import check_models, inputs, write_model
from vjproof.classifier import load
from vjproof.errors import VjproofError
from vjproof.files import bytes_writer, write_together

LIBRARIES = ("vjproof", "numpy", "jax", "torch", "onnxruntime")


@dataclass(frozen=True)
class Plan:
    """What is measured; `quick` leaves out what takes long: compiled PyTorch, onnxruntime, large networks."""

    models: tuple[str, ...] = ("tiny", "small", "base", "fashion")
    batches: tuple[int, ...] = (1, 8, 32)
    rounds: int = 15
    cotangents: int = 100
    quick: bool = False

    def contestants(self) -> list[Contestant]:
        """Return those that take part and can run here."""
        return [one for one in CONTESTANTS if not one.missing() and not (self.quick and one.slow)]


def make_plan(
    models: Sequence[str] = (), batches: Sequence[int] = (), rounds: int | None = None, *, quick: bool = False
) -> Plan:
    """Return the plan for what was asked; VjproofError for an unknown model or a number below 1."""
    short = Plan(("tiny",), (1, 8), 5, 20, quick=True) if quick else Plan()
    plan = Plan(
        tuple(check_models(list(models))) or short.models, tuple(batches) or short.batches,
        rounds or short.rounds, short.cotangents, quick,
    )  # fmt: skip
    for name, number in (("batch", min(plan.batches)), ("rounds", plan.rounds)):
        if number < 1:
            raise VjproofError(name, expected="a positive integer", got=str(number))
    return plan


def run_bench(
    plan: Plan, results: str | Path, *, fresh: bool = False, tell: Callable[[str, int, int], None] | None = None
) -> dict[str, Any]:
    """Measure what `results` does not hold yet, and return all of it; the file is written after each part.

    `tell` hears what is being done, and how many parts of how many are done. VjproofError where the file is of another
    machine or plan, unless `fresh`.
    """
    path = Path(results)
    record: dict[str, Any] = {
        "format": 1, "machine": machine(), "plan": asdict(plan), "absent": absent(plan), "parts": {}
    }  # fmt: skip
    record = record if fresh or not path.exists() else _resumed(path, json.loads(json.dumps(record)))
    parts = [f"{model} {part}" for model in plan.models for part in _parts(plan, model)]
    with TemporaryDirectory() as name:
        for done, part in enumerate(parts):
            if part not in record["parts"]:
                hear = _hearer(tell, part, done, len(parts))
                hear("starting")
                record["parts"][part] = _measure(plan, part, Path(name), hear)
                _write(path, record)
    if tell is not None:
        tell("done", len(parts), len(parts))
    return record


def _hearer(tell: Callable[[str, int, int], None] | None, part: str, done: int, count: int) -> Callable[[str], None]:
    def hear(text: str) -> None:
        if tell is not None:
            tell(f"{part}: {text}", done, count)

    return hear


def _parts(plan: Plan, model: str) -> Iterator[str]:
    yield "probes"
    yield from (f"batch {batch}" for batch in plan.batches)
    if model == plan.models[0]:
        yield "cotangents"
        yield "explain"


def _measure(plan: Plan, part: str, folder: Path, tell: Callable[[str], None]) -> dict[str, Any]:
    from vjproof.bench.first_result import time_explain
    from vjproof.bench.schedule import probe, time_rows, time_turns

    name, kind, *rest = part.split()
    source = write_model(name, folder)
    if kind == "batch":
        return time_turns(source, plan.contestants(), int(rest[0]), plan.rounds, tell)
    if kind == "cotangents":
        able = [one for one in plan.contestants() if one.kind != LIMIT and not one.slow]
        return time_rows(source, able, plan.cotangents, max(3, plan.rounds // 5), tell)
    if kind == "explain":
        return time_explain(source, folder, 3)
    network = load(source)
    exact = network.input_gradient(*inputs(network, 1), engine="numpy", dtype="float64")
    record = {}
    for one in plan.contestants():
        tell(one.name)
        record[one.name] = probe(source, one, max(plan.batches), folder, exact)
    return record


def machine() -> dict[str, Any]:
    """Return what the figures depend on: processor, cores, versions."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = (line.partition(":") for line in info.read_text().splitlines())
        name = next((value.strip() for key, _, value in lines if key.strip() == "model name"), name)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = {library: _version(library) for library in LIBRARIES}
    return {
        "processor": name, "cores": cores, "system": platform.system(), "python": platform.python_version(),
        "versions": {library: number for library, number in versions.items() if number},
    }  # fmt: skip


def _version(library: str) -> str:
    try:
        return version(library)
    except PackageNotFoundError:
        return ""


def absent(plan: Plan) -> dict[str, str]:
    """Return the contestants that do not take part, and why."""
    return {
        one.name: f"{one.missing()} is not there" if one.missing() else "left out by --quick"
        for one in CONTESTANTS if one not in plan.contestants()
    }  # fmt: skip


def _resumed(path: Path, new: dict[str, Any]) -> dict[str, Any]:
    try:
        old = json.loads(path.read_text())
        same = all(old[key] == new[key] for key in ("format", "machine", "plan")) and isinstance(old["parts"], dict)
    except (OSError, ValueError, KeyError, TypeError):
        old, same = {}, False
    if not same:
        raise VjproofError(
            str(path), expected="results of this machine, these versions and this plan", got="others",
            remedy="pass --fresh to measure anew, or another --results",
        )  # fmt: skip
    return dict(old)


def _write(path: Path, record: dict[str, Any]) -> None:
    write_together({path: bytes_writer(json.dumps(record, indent=1).encode() + b"\n")})
