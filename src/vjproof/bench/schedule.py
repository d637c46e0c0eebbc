"""The order of the measurements: contestants in turns, so that a machine that slows down slows all of them."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from vjproof.bench.contestants import LIMIT, Contestant
from vjproof.bench.process import Failed, Process

PAUSE = 0.02  # seconds between runs, in which the threads of the last one go to sleep
Tell = Callable[[str], None]


def load_average() -> float | None:
    """Return how many processes ran on average in the last minute; None where nobody counts them."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def time_turns(source: str, contestants: Sequence[Contestant], batch: int, rounds: int, tell: Tell) -> dict[str, Any]:
    """Return seconds per run of each contestant at `batch`, one list entry per round, and why others have none."""
    first: dict[str, float] = {}

    def warm(process: Process) -> bool:
        first[process.contestant.name] = process.ask("gradient", batch=batch)["seconds"]
        process.ask("gradient", batch=batch)
        return True

    order = {"do": "gradient", "batch": batch}
    timed = _take_turns(source, contestants, rounds, order, warm, lambda words: tell(f"batch {batch}: {words}"))
    return {"batch": batch, "first": first, **timed}


def time_rows(source: str, contestants: Sequence[Contestant], count: int, rounds: int, tell: Tell) -> dict[str, Any]:
    """Return seconds for `count` cotangents at one image, of each contestant that has a call for them."""

    def warm(process: Process) -> bool:
        return process.ask("rows", count=count)["seconds"] is not None

    order = {"do": "rows", "count": count}
    timed = _take_turns(source, contestants, rounds, order, warm, lambda words: tell(f"{count} cotangents: {words}"))
    return {"count": count, **timed}


def _take_turns(
    source: str, contestants: Sequence[Contestant], rounds: int, order: dict[str, Any],
    warm: Callable[[Process], bool], tell: Tell,
) -> dict[str, Any]:  # fmt: skip
    """Return seconds per run by contestant, why others have none, and the load; `warm` says who takes part.

    Each round begins with the next contestant, and a contestant that fails is told of and leaves.
    """
    record: dict[str, Any] = {"seconds": {}, "failed": {}, "load": [load_average()]}
    with ExitStack() as stack:
        running: list[Process] = []
        for contestant in contestants:
            tell(f"starting {contestant.name}")
            try:
                process = stack.enter_context(Process(contestant, source))
                if warm(process):
                    running.append(process)
            except Failed as problem:
                record["failed"][contestant.name] = str(problem)
        record["seconds"] = {process.contestant.name: [] for process in running}
        for turn in range(rounds):
            tell(f"round {turn + 1} of {rounds}")
            shift = turn % max(1, len(running))
            for process in running[shift:] + running[:shift]:
                _take_turn(process, running, record, order)
    record["load"].append(load_average())
    return record


def _take_turn(process: Process, running: list[Process], record: dict[str, Any], order: dict[str, Any]) -> None:
    """Run one contestant once; one that fails loses what it had, and the others go on."""
    name = process.contestant.name
    time.sleep(PAUSE)
    try:
        record["seconds"][name].append(process.ask(**order)["seconds"])
    except Failed as problem:
        record["failed"][name] = str(problem)
        del record["seconds"][name]
        running.remove(process)


def probe(source: str, contestant: Contestant, batch: int, folder: Path, exact: Any) -> dict[str, Any]:
    """Return what a fresh process says of one contestant: start and first result, error at one image, peak memory.

    `exact` is the float64 gradient (1, C, H, W) at the first image.
    """
    import numpy as np

    begun = time.perf_counter()
    try:
        with Process(contestant, source) as process:
            kept = folder / "gradient.npy"
            first = process.ask("gradient", batch=1, keep="" if contestant.kind == LIMIT else str(kept))["seconds"]
            record = {"start": process.start, "first": first, "cold": time.perf_counter() - begun}
            record["loaded"] = process.loaded
        if contestant.kind != LIMIT:
            record["error"] = float(np.linalg.norm(np.load(kept) - exact) / np.linalg.norm(exact))
        with Process(contestant, source) as process:  # a fresh one: compiling one batch leaves memory behind
            peaks = [process.ask("gradient", batch=batch)["peak"] for _ in range(3)]
            record |= {"peak": peaks[-1], "batch": batch}
    except Failed as problem:
        return {"failed": str(problem)}
    return record
