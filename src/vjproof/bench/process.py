"""The parent's side of a worker: start it, ask it, end it."""

from __future__ import annotations

import json
import select
import subprocess
import sys
import time
from types import TracebackType
from typing import Any

from vjproof.bench.contestants import Contestant


class Failed(Exception):  # noqa: N818 - it is the contestant that failed, and the run goes on
    """A contestant gave no answer; the text says why."""


class Process:
    """A running contestant; `start` is the time from launch to a loaded network, in seconds."""

    def __init__(self, contestant: Contestant, source: str, patience: float = 1800.0) -> None:
        self.contestant, self.patience = contestant, patience
        begun = time.perf_counter()
        self._process = subprocess.Popen(  # noqa: S603 - this package's own module
            [sys.executable, "-W", "ignore", "-m", "vjproof.bench.worker", contestant.name, source],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self.loaded = int(self._answer()["loaded"])
        self.start = time.perf_counter() - begun

    def ask(self, do: str, **order: Any) -> dict[str, Any]:
        """Return the answer to one order; Failed where there is none."""
        try:
            assert_pipe(self._process.stdin).write(json.dumps({"do": do, **order}) + "\n")
            assert_pipe(self._process.stdin).flush()
        except OSError:
            raise Failed("the process ended") from None
        return self._answer()

    def _answer(self) -> dict[str, Any]:
        stream = assert_pipe(self._process.stdout)
        ready, _, _ = select.select([stream], [], [], self.patience)
        line = stream.readline() if ready else ""
        if not line:
            status = self._process.poll() if ready else None
            self.close()
            raise Failed(f"no answer in {self.patience:.0f} s" if not ready else f"the process ended ({status})")
        record: dict[str, Any] = json.loads(line)
        if "error" in record:
            self.close()
            raise Failed(record["error"])
        return record

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # an order that nobody read
                    continue

    def __enter__(self) -> Process:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def assert_pipe(stream: Any) -> Any:
    """Return a pipe that is there."""
    if stream is None:
        raise Failed("the process has no pipe")
    return stream
