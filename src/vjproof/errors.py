"""Errors that a user can act on: where, what was expected, what came, what to do."""

from __future__ import annotations


class VjproofError(Exception):
    """Bad input, told in one line; the command line turns it into exit status 2.

    `where` names the place (a file, an argument, a tensor), `expected` and `got` the two sides of the
    disagreement, and `remedy` what the user can do about it.
    """

    def __init__(self, where: str, *, expected: str = "", got: str = "", remedy: str = "") -> None:
        self.where, self.expected, self.got, self.remedy = where, expected, got, remedy
        sides = ", ".join(
            part for part in (f"expected {expected}" if expected else "", f"got {got}" if got else "") if part
        )
        line = f"{where}: {sides}" if sides else where
        super().__init__(" ".join((f"{line}; {remedy}" if remedy else line).split()))


def excerpt(text: object, limit: int = 80) -> str:
    """Return `text` cut to `limit` characters, for messages about untrusted input."""
    shown = str(text)
    return shown if len(shown) <= limit else shown[: limit - 3] + "..."
