"""JSON from untrusted files: bounded, an object at the top, no duplicate keys, each value of a stated type."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from vjproof.errors import VjproofError, excerpt
from vjproof.files import read_bounded

JSON_LIMIT = 4 << 20
LABEL_LIMIT = 200


def shown(value: object, limit: int = 80) -> str:
    """Return an untrusted value as one bounded line without control characters."""
    text = value if isinstance(value, str) else _bounded(value)
    return excerpt(repr(text[: 4 * limit])[1:-1], limit)


def _bounded(value: object) -> str:
    if isinstance(value, dict | list | tuple) and len(value) > 8:
        return f"{type(value).__name__} of {len(value)} items"
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 64:
        return f"an integer of {value.bit_length()} bits"
    if isinstance(value, dict):
        return f"an object with keys {', '.join(map(shown, value))}" if value else "an empty object"
    if isinstance(value, list | tuple):
        return f"({', '.join(map(_bounded, value))})"
    return str(value)


def parse(data: bytes, where: str) -> dict[str, Any]:
    """Return the object that `data` spells in JSON; raises VjproofError for anything else."""

    def refuse(got: str) -> NoReturn:
        raise VjproofError(where, expected="a JSON object", got=got, remedy="the file is damaged or untrusted")

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        record = dict(pairs)
        if len(record) != len(pairs):
            seen: set[str] = set()
            refuse(f"the key {shown(next(k for k, _ in pairs if k in seen or seen.add(k)))} twice")  # type: ignore[func-returns-value]
        return record

    try:
        document = json.loads(data.decode("utf-8"), object_pairs_hook=unique)
    except RecursionError:
        refuse("values nested too deeply")
    except ValueError as error:
        refuse(f"text that is not JSON ({shown(str(error), 60)})")
    if not isinstance(document, dict):
        refuse(f"a {type(document).__name__}")
    return document


def read_json(path: Path) -> Fields:
    """Return the fields of a JSON file of at most `JSON_LIMIT` bytes."""
    return Fields(path.name, parse(read_bounded(path, JSON_LIMIT, where=str(path), of=" of JSON"), str(path)))


class Fields:
    """Typed look-ups in a JSON object; an absent or null field reads as None, a wrong type is an error."""

    def __init__(self, where: str, values: Mapping[str, Any]) -> None:
        self.where, self.values = where, values

    def wrong(self, name: str, expected: str) -> VjproofError:
        """Return the error for field `name`."""
        return VjproofError(f"{self.where}: {name}", expected=expected, got=shown(self.values.get(name)))

    def integer(self, name: str, low: int = 1, high: int = 1 << 24) -> int | None:
        """Return a whole number from `low` to `high`."""
        value = self.values.get(name)
        if value is None:
            return None
        if type(value) is not int or not low <= value <= high:
            raise self.wrong(name, f"a whole number from {low} to {high}")
        return value

    def number(self, name: str) -> float | None:
        """Return a finite number."""
        value = self.values.get(name)
        if value is None:
            return None
        if type(value) not in (int, float) or not abs(value) < 1e300:
            raise self.wrong(name, "a finite number")
        return float(value)

    def numbers(self, name: str) -> tuple[float, ...] | None:
        """Return a list of at most 64 finite numbers."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) > 64:
            raise self.wrong(name, "a list of numbers")
        if not all(type(item) in (int, float) and abs(item) < 1e300 and math.isfinite(item) for item in value):
            raise self.wrong(name, "a list of finite numbers")
        return tuple(float(item) for item in value)

    def text(self, name: str) -> str | None:
        """Return a string."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise self.wrong(name, "a string")
        return value

    def texts(self, name: str) -> tuple[str, ...] | None:
        """Return a list of strings as printable labels."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(name, "a list of strings")
        return tuple(map(printable, value))

    def flag(self, name: str) -> bool | None:
        """Return true or false."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, bool):
            raise self.wrong(name, "true or false")
        return value

    def section(self, name: str) -> Fields | None:
        """Return the object under `name`."""
        value = self.values.get(name)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.wrong(name, "an object")
        return Fields(f"{self.where}: {name}", value)

    def needed(self, name: str) -> Fields:
        """Return the object under `name`, which must be there."""
        section = self.section(name)
        if section is None:
            raise self.wrong(name, "an object")
        return section

    def size(self, name: str) -> tuple[int, int] | None:
        """Return (height, width) from one number (a square), a pair, or an object with height and width."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, dict):
            value = [value.get("height"), value.get("width")]
        pair = [value, value] if type(value) is int else value
        if not (isinstance(pair, list) and len(pair) == 2 and all(type(n) is int and 1 <= n <= 65536 for n in pair)):
            raise self.wrong(name, "a size in pixels (one number, or height and width)")
        return pair[0], pair[1]


def printable(label: str) -> str:
    """Return a label cut to `LABEL_LIMIT` characters, without control characters."""
    return "".join(character for character in label[:LABEL_LIMIT] if character.isprintable())
