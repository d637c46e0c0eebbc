"""A thread per core, each with a tile of its own: no barrier at every operation, and a core keeps its tile cached."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from threading import Barrier
from typing import Any


def spread(work: Callable[[Any], Any], items: Sequence[Any], workers: int) -> list[Any]:
    """Return [work(item) for item in items], on up to `workers` threads that share the cores; order is kept."""
    import torch

    def without_tracing(item: Any) -> Any:
        with torch.inference_mode():
            return work(item)

    workers = min(workers, len(items))
    if workers <= 1:
        return [without_tracing(item) for item in items]
    return list(_pool(os.getpid(), workers, torch.get_num_threads()).map(without_tracing, items))


@lru_cache(maxsize=2)
def _pool(process: int, workers: int, cores: int) -> ThreadPoolExecutor:  # noqa: ARG001 - a fork has no threads
    """Return `workers` threads whose operations use cores / workers threads each."""
    import torch

    def settle() -> None:
        torch.set_num_threads(max(1, cores // workers))
        torch.get_num_threads()  # a thread that has not asked takes the process's latest setting at its first operation

    pool = ThreadPoolExecutor(workers, "vjproof", settle)
    started = Barrier(workers)
    list(pool.map(lambda _: started.wait(), range(workers)))
    torch.set_num_threads(cores)  # a worker's setting is also the default of threads that the caller starts later
    return pool
