"""Files read with a bound on their size, and files written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import IO

from vjproof.errors import VjproofError, excerpt

Writer = Callable[[IO[bytes]], object]


def read_bounded(path: Path, limit: int, *, where: str = "", wanted: str = "a readable file", of: str = "") -> bytes:
    """Return a file's bytes, at most `limit` of them; VjproofError where it is longer or cannot be read.

    No more than `limit` bytes are taken into memory, whatever size the file claims. Messages call it `where` (by
    default its path), want `wanted`, and tell what the bytes are `of`, such as " of JSON".
    """
    where = where or excerpt(path)
    try:
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except (OSError, ValueError) as problem:
        reason = excerpt(getattr(problem, "strerror", None) or problem)
        raise VjproofError(where, expected=wanted, got=reason) from None
    if len(data) > limit:
        raise VjproofError(where, expected=f"at most {limit} bytes{of}", got="more")
    return data


def write_together(writers: Mapping[Path, Writer]) -> None:
    """Write each file by its writer, all of them completely before the first takes its place.

    The folders exist. After an error or an interrupt none is half-written. OSError when the disk refuses.
    """
    with ExitStack() as cleanup:
        moves = []
        for number, (path, write) in enumerate(writers.items()):
            draft = path.with_name(f".vjproof-{os.getpid()}-{number}.tmp")
            cleanup.callback(_remove, draft)
            with draft.open("wb") as file:
                write(file)
            moves.append((draft, path))
        for draft, path in moves:
            draft.replace(path)


def bytes_writer(content: bytes) -> Writer:
    """Return a writer of these bytes."""
    return lambda file: file.write(content)


def _remove(draft: Path) -> None:
    with suppress(OSError):
        draft.unlink()
