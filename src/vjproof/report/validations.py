"""What `validate` says, and what `check` adds for a certificate about modules."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vjproof.report.terminal import complain, say, say_json


def print_validation(record: Mapping[str, Any], text: str, out: Path | None, *, as_json: bool) -> None:
    """Print an answer about a gradient; `text` is the answer in words."""
    if as_json:
        say_json(dict(record))
        return
    for line in text.splitlines():
        say(line)
    if record["status"] == "proved":
        say(f"{record['equalities']} local equalities, {record['seconds']:.1f} s")
    if out is not None:
        written = record["status"] == "proved"
        (say if written else complain)(
            f"certificate and modules in {out}" if written else "nothing is written: not proved"
        )
