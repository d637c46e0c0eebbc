"""The process that parses: modules come in on standard input, their data goes out on standard output.

A message is its length in 8 bytes and then its bytes. A reply starts with "+" and holds JSON, or with "-" and holds
the parts of an error as JSON.
"""

from __future__ import annotations

import json
import sys
from typing import BinaryIO

from vjproof.errors import VjproofError
from vjproof.stablehlo.document_json import functions_to_json
from vjproof.stablehlo.parse import WHERE, parse_module

MOST_MEMORY = 16 * 2**30  # of addresses, which the libraries alone take several GiB of


def receive(stream: BinaryIO) -> bytes | None:
    """Return the next message, None at the end of the stream."""
    head = stream.read(8)
    return stream.read(int.from_bytes(head, "big")) if len(head) == 8 else None


def reply_to(text: bytes) -> bytes:
    """Return the reply to a module's text or bytecode."""
    try:
        return b"+" + functions_to_json(parse_module(text))
    except VjproofError as error:
        parts = [error.where, error.expected, error.got, error.remedy]
    except (MemoryError, RecursionError) as error:
        parts = [WHERE, "a module that can be parsed in bounded memory", type(error).__name__, ""]
    return b"-" + json.dumps(parts).encode()


def main() -> int:
    """Answer messages until the input ends."""
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    except (ImportError, ValueError, OSError):
        pass  # a system without such limits
    while (text := receive(sys.stdin.buffer)) is not None:
        reply = reply_to(text)
        sys.stdout.buffer.write(len(reply).to_bytes(8, "big") + reply)
        sys.stdout.buffer.flush()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
