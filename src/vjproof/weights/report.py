"""What a loader recognised, assumed and left unread."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from vjproof.weights.json_file import shown

LISTED = 6


@dataclass(frozen=True)
class LoadReport:
    """One line per fact: `recognised` in the files or given, `assumed` with the reason, tensors `ignored`."""

    layout: str
    recognised: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()

    def lines(self) -> list[str]:
        """Return the report as text, one fact a line."""
        return [
            f"layout: {self.layout}",
            *(f"recognised: {line}" for line in self.recognised),
            *(f"assumed: {line}" for line in self.assumed),
            *([f"ignored: {listed(self.ignored)}"] if self.ignored else []),
        ]


@dataclass
class Notes:
    """A report in the making."""

    layout: str = ""
    recognised: list[str] = field(default_factory=list)
    assumed: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)

    def freeze(self) -> LoadReport:
        """Return the finished report."""
        return LoadReport(self.layout, tuple(self.recognised), tuple(self.assumed), tuple(self.ignored))


def listed(names: Sequence[str]) -> str:
    """Return the first names and the number of the others, on one bounded line."""
    rest = len(names) - LISTED
    return ", ".join(map(shown, names[:LISTED])) + (f" and {rest} more" if rest > 0 else "")
