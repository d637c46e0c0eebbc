"""Parsing in a process of its own, so that no module can crash, hang or fill this one.

The process is started on first use, answers one module after the other, and ends with this one; one that crashes or
takes too long is ended, told, and started anew.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import IO

from vjproof.errors import VjproofError
from vjproof.stablehlo.document_json import functions_from_json
from vjproof.stablehlo.limits import MOST_BYTES, require_sane
from vjproof.stablehlo.module_document import Function

TIMEOUT = 180.0  # seconds
MOST_REPLY = 8 * MOST_BYTES
PIECE = select.PIPE_BUF  # what a pipe that is ready takes without waiting


class _Ended(Exception):  # noqa: N818 - becomes a VjproofError
    """The parser ended, or took too long."""


class ParserProcess:
    """A running parser; `parse` may be called from any thread."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def parse(self, source: str | bytes, where: str) -> dict[str, Function]:
        """Return the functions of a module by name.

        VjproofError where it is too large, does not parse, takes longer than TIMEOUT or ends the parser.
        """
        text = source.encode("utf-8", "surrogatepass") if isinstance(source, str) else bytes(source)
        require_sane(text, where)
        with self._lock:
            try:
                reply = self._ask(text)
            except (_Ended, OSError) as reason:
                self.close()
                raise VjproofError(where, expected="a StableHLO module that parses", got=str(reason)) from None
        if reply[:1] == b"+":
            return functions_from_json(reply[1:])
        place, expected, got, remedy = json.loads(reply[1:])
        raise VjproofError(place.replace("StableHLO module", where), expected=expected, got=got, remedy=remedy)

    def close(self) -> None:
        """End the process, if there is one."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream:
                stream.close()
        process.wait()

    def _ask(self, text: bytes) -> bytes:
        incoming, outgoing = self._streams()
        end = time.monotonic() + TIMEOUT
        message, sent = len(text).to_bytes(8, "big") + text, 0
        while sent < len(message):
            _wait(end, write=incoming)
            sent += os.write(incoming.fileno(), message[sent : sent + PIECE])
        size = int.from_bytes(_read(outgoing, 8, end), "big")
        if size > MOST_REPLY:
            raise _Ended(f"more than {MOST_REPLY} bytes of parsed data")
        return _read(outgoing, size, end)

    def _streams(self) -> tuple[IO[bytes], IO[bytes]]:
        if self._process is None or self._owner != os.getpid() or self._process.poll() is not None:
            self.close()
            environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
            self._process = subprocess.Popen(
                [sys.executable, "-m", "vjproof.stablehlo.parse_worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment,
            )  # fmt: skip
            self._owner = os.getpid()
        if self._process.stdin is None or self._process.stdout is None:
            raise _Ended("a parser without pipes")
        return self._process.stdin, self._process.stdout


def _wait(end: float, read: IO[bytes] | None = None, write: IO[bytes] | None = None) -> None:
    left = end - time.monotonic()
    if left <= 0 or not any(select.select([read] if read else [], [write] if write else [], [], left)):
        raise _Ended(f"a parser that was not done after {TIMEOUT:g} s")


def _read(stream: IO[bytes], size: int, end: float) -> bytes:
    pieces, count = [], 0
    while count < size:
        _wait(end, read=stream)
        piece = os.read(stream.fileno(), min(size - count, 2**20))
        if not piece:
            raise _Ended("a parser that crashed on it")
        pieces.append(piece)
        count += len(piece)
    return b"".join(pieces)


PARSER = ParserProcess()
atexit.register(PARSER.close)
