"""How long a person waits for the first picture: the whole command `vjproof explain`, in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ENGINES = ("auto", "numpy", "torch", "jax")


def time_explain(source: str, folder: Path, repeats: int) -> dict[str, Any]:
    """Return seconds of the command for each engine: `cold` with no compiled code kept, then `warm` ones.

    Cold does not empty the operating system's own cache of files.
    """
    from vjproof.engines import installed

    picture = Path(__file__).parents[1] / "data" / "images" / "ankle-boot.png"
    record: dict[str, Any] = {}
    for engine in ENGINES:
        if engine not in ("auto", "numpy") and not installed(engine):
            continue
        cache = folder / f"cache-{engine}"
        seconds = []
        for _ in range(1 + repeats):
            begun = time.perf_counter()
            ran = subprocess.run(  # noqa: S603 - this package's own command
                [sys.executable, "-m", "vjproof", "explain", str(picture), "--model", source, "--engine", engine,
                 "-o", str(folder / "out")],
                env={**os.environ, "XDG_CACHE_HOME": str(cache)}, capture_output=True, check=False,
            )  # fmt: skip
            if ran.returncode:
                break
            seconds.append(time.perf_counter() - begun)
        if seconds:
            record[engine] = {"cold": seconds[0], "warm": seconds[1:]}
    return record
