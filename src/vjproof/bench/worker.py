"""One contestant in a process of its own: orders as JSON lines on stdin, answers as JSON lines on stdout.

Run as `python -m vjproof.bench.worker CONTESTANT MODEL`.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any


def peak_bytes() -> int:
    """Return the largest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Worker:
    """The contestant, its network, and the inputs of each batch."""

    def __init__(self, name: str, source: str) -> None:
        from vjproof.bench.contestants import by_name
        from vjproof.classifier import load

        self.model = load(source)
        self.runner = by_name(name).start(self.model)
        self.inputs: dict[int, tuple[Any, Any]] = {}

    def gradient(self, batch: int, keep: str = "") -> dict[str, Any]:
        """Time one gradient of `batch` images; `keep` is a .npy file for it."""
        from vjproof.bench.models import inputs

        if batch not in self.inputs:
            self.inputs[batch] = inputs(self.model, batch)
        start = time.perf_counter()
        gradient = self.runner.gradient(*self.inputs[batch])
        seconds = time.perf_counter() - start
        if keep:
            import numpy as np

            np.save(keep, gradient)
        return {"seconds": seconds, "peak": peak_bytes()}

    def rows(self, count: int) -> dict[str, Any]:
        """Time the gradients of `count` classes at one image; None where the contestant has no such call."""
        import numpy as np

        from vjproof.bench.models import inputs

        if not hasattr(self.runner, "rows"):
            return {"seconds": None}
        image, _ = inputs(self.model, 1)
        classes = self.model.config.classes
        d_logits = np.eye(classes, dtype=np.float32)[np.arange(count) % classes]
        start = time.perf_counter()
        self.runner.rows(image, d_logits)
        return {"seconds": time.perf_counter() - start}


def main() -> None:
    """Serve orders until stdin ends."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    def answer(record: dict[str, Any]) -> None:
        answers.write(json.dumps(record) + "\n")
        answers.flush()

    try:
        worker = Worker(*sys.argv[1:])
        answer({"loaded": peak_bytes()})
        for line in sys.stdin:
            order = json.loads(line)
            answer(getattr(worker, order.pop("do"))(**order))
    except Exception as problem:
        answer({"error": f"{type(problem).__name__}: {problem}".splitlines()[0][:200]})


if __name__ == "__main__":
    main()
