"""Many theorems or certificates at once, in several processes; variants that share lemmas go to the same one."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from vjproof.errors import VjproofError
from vjproof.prover.audit import Audit, audit, require_file
from vjproof.prover.claim import Known
from vjproof.prover.registry import find, joined, prove_variant
from vjproof.prover.result import Result
from vjproof.prover.theorem import Theorem

T = TypeVar("T")
R = TypeVar("R")
Task = tuple[str, str]  # a theorem's name and a variant
SHARED = ("erf", "tanh", "LayerScale")  # choices that lemmas depend on
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
CHUNK = 4  # certificates that one process checks in a row


def prove_many(
    names: Sequence[str], *, workers: int = 0, advance: Callable[[int, int], None] | None = None
) -> list[Theorem]:
    """Prove theorems by name; `workers` processes (0: one for each processor), none besides this one for a small job.

    `advance` is told (variants done, variants in all). VjproofError for an unknown name, before any work.
    """
    tasks = [(name, variant) for name in dict.fromkeys(names) for variant in find(name).variants]
    results: dict[Task, Result] = {}
    for done in _mapped(_prove_group, _groups(tasks), workers):
        results |= done
        if advance:
            advance(len(results), len(tasks))
    return [
        joined(name, {variant: results[name, variant] for variant in find(name).variants})
        for name in dict.fromkeys(names)
    ]


def audit_many(
    files: Sequence[str | Path], *, workers: int = 0, advance: Callable[[int, int], None] | None = None
) -> list[Audit]:
    """Check certificate files in their order; `workers` and `advance` (files done, files in all) as for `prove_many`.

    VjproofError where there is no such file, before any work.
    """
    paths = list(dict.fromkeys(map(Path, files)))
    for path in paths:
        require_file(path)
    size = max(1, min(CHUNK, len(paths) // 4))
    found: dict[Path, Audit] = {}
    for done in _mapped(_audit_group, [paths[start : start + size] for start in range(0, len(paths), size)], workers):
        found |= done
        if advance:
            advance(len(found), len(paths))
    return [found[path] for path in paths]


def _audit_group(paths: Sequence[Path]) -> dict[Path, Audit]:
    return {path: audit(path) for path in paths}


def _groups(tasks: Iterable[Task]) -> list[list[Task]]:
    """Return tasks grouped by the choices that lemmas depend on, the largest group first; others each on its own."""
    groups: dict[tuple[str, ...], list[Task]] = {}
    for name, variant in tasks:
        choices = tuple(word for word in variant.split(", ") if word in SHARED)
        groups.setdefault(choices or (name, variant), []).append((name, variant))
    return sorted(groups.values(), key=len, reverse=True)


def _prove_group(tasks: Sequence[Task]) -> dict[Task, Result]:
    known: Known = {}
    return {(name, variant): prove_variant(name, variant, known) for name, variant in tasks}


def _mapped(function: Callable[[T], R], groups: Sequence[T], workers: int) -> Iterator[R]:
    """Yield function(group) for each group as it is done, in several processes where that pays."""
    from concurrent.futures import ProcessPoolExecutor, as_completed
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    count = min(workers or processors(), len(groups))
    if count < 2:
        yield from map(function, groups)
        return
    context = get_context("spawn")  # no copies of threads and locks
    pool = ProcessPoolExecutor(count, mp_context=context, initializer=_end_on_interrupt)
    with _one_thread_each(), pool:
        try:
            for future in as_completed([pool.submit(function, group) for group in groups]):
                yield future.result()
        except BrokenProcessPool:
            raise VjproofError(
                "a worker process", expected="an answer", got="none: it was ended, perhaps for want of memory",
                remedy="try fewer at once",
            ) from None  # fmt: skip
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let processes that start now run small matrix products in one thread: several would wait for each other."""
    given = {name: os.environ.get(name) for name in THREADS}
    os.environ.update({name: value or "1" for name, value in given.items()})
    try:
        yield
    finally:
        for name in [name for name, value in given.items() if value is None]:
            del os.environ[name]


def _end_on_interrupt() -> None:
    """Let an interrupt end this worker without a word; the process that started it tells the user."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
