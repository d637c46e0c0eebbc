"""The second process of an evaluation: how it is started, what is sent, and how it ends.

It is started as a program of its own, not forked, so that it has no copies of threads and locks, and a script needs no
guard; it ends when its pipe does, so that none is left behind, however this process ends.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

from vjproof.enclosure.balls import ball_from, ball_parts
from vjproof.enclosure.choices import NO_CHOICES, Choices
from vjproof.enclosure.execution import Execution
from vjproof.errors import VjproofError
from vjproof.kernel.program import Program
from vjproof.layers.array import Array
from vjproof.program.recorder import program_data, program_of

START = "import sys; sys.path[:] = {path!r}; from vjproof.enclosure.partner import serve; serve({handle})"


class Link:
    """One end of the pipe between the two processes."""

    def __init__(self, connection: Connection, second: bool) -> None:
        self._connection, self.second = connection, second

    def swap(self, values: Array) -> Array:
        """Send an array to the other process and return the one that it sends; VjproofError where it has failed."""
        if self.second:
            received = self._receive()
            self._connection.send(_packed(values))
            return received
        try:
            self._connection.send(_packed(values))
            return self._receive()
        except (EOFError, ConnectionError):
            raise _lost() from None

    def _receive(self) -> Array:
        message = self._connection.recv()
        if isinstance(message, Exception):
            raise message
        return _unpacked(message)


@contextmanager
def partner(
    program: Program, inputs: Mapping[str, Array], bits: int, worth: int, choices: Choices = NO_CHOICES
) -> Iterator[Link]:
    """Start the second process on the same program and inputs, and end it, whatever happens."""
    from multiprocessing import Pipe

    own, other = Pipe()
    path = [os.path.abspath(place) for place in sys.path]  # noqa: PTH100 - "" is the folder of now
    with own, other:
        handle = other.fileno()
        process = subprocess.Popen(  # noqa: S603 - this very interpreter
            [sys.executable, "-c", START.format(path=path, handle=handle)], pass_fds=[handle],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True,  # no interrupt of a terminal
        )  # fmt: skip
        other.close()
        try:
            own.send((program_data(program), dict(inputs), bits, worth, choices))
            yield Link(own, second=False)
        except (EOFError, ConnectionError):
            raise _lost() from None
        finally:
            process.kill()
            process.wait()


def serve(handle: int) -> None:
    """Be the second process: evaluate what the pipe with this handle says, and say nothing else."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process tells the user, and closes the pipe
    with Connection(handle) as connection:
        try:
            data, inputs, bits, worth, choices = connection.recv()
            try:
                Execution(program_of(data), inputs, bits, Link(connection, second=True), worth, choices).run()
            except VjproofError as problem:
                connection.recv()  # what the first process sends in its next swap
                connection.send(problem)
        except (EOFError, ConnectionError):
            return  # nobody is left to answer


def _packed(values: Array) -> Any:
    if values.dtype != object:
        return values
    return values.shape, [ball_parts(ball) for ball in values.reshape(-1).tolist()]


def _unpacked(message: Any) -> Array:
    import numpy as np

    if isinstance(message, np.ndarray):
        return message
    shape, parts = message
    values = np.empty(len(parts), dtype=object)
    values[:] = [ball_from(part) for part in parts]
    return values.reshape(shape)


def _lost() -> VjproofError:
    return VjproofError(
        "the second process", expected="an answer", got="none: it was ended, perhaps for want of memory",
        remedy="use one process",
    )  # fmt: skip
