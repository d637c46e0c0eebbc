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
    record: dict[str, Any] = {"batch": batch, "seconds": {}, "first": {}, "failed": {}, "load": [load_average()]}
    with ExitStack() as stack:
        running: list[Process] = []
        for contestant in contestants:
            tell(f"batch {batch}: starting {contestant.name}")
            try:
                process = stack.enter_context(Process(contestant, source))
                record["first"][contestant.name] = process.ask("gradient", batch=batch)["seconds"]
                process.ask("gradient", batch=batch)
                running.append(process)
            except Failed as problem:
                record["failed"][contestant.name] = str(problem)
        record["seconds"] = {process.contestant.name: [] for process in running}
        for turn in range(rounds):
            tell(f"batch {batch}: round {turn + 1} of {rounds}")
            shift = turn % max(1, len(running))
            for process in running[shift:] + running[:shift]:
                _take_turn(process, running, record, {"do": "gradient", "batch": batch})
    record["load"].append(load_average())
    return record


def time_rows(source: str, contestants: Sequence[Contestant], count: int, rounds: int, tell: Tell) -> dict[str, Any]:
    """Return seconds for `count` cotangents at one image, of each contestant that has a call for them."""
    record: dict[str, Any] = {"count": count, "seconds": {}, "failed": {}, "load": [load_average()]}
    with ExitStack() as stack:
        running = []
        for contestant in contestants:
            tell(f"{count} cotangents: starting {contestant.name}")
            try:
                process = stack.enter_context(Process(contestant, source))
                if process.ask("rows", count=count)["seconds"] is not None:
                    running.append(process)
            except Failed as problem:
                record["failed"][contestant.name] = str(problem)
        record["seconds"] = {process.contestant.name: [] for process in running}
        for turn in range(rounds):
            tell(f"{count} cotangents: round {turn + 1} of {rounds}")
            for process in running:
                _take_turn(process, running, record, {"do": "rows", "count": count})
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
