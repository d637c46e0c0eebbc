"""The header of a safetensors file, checked before any tensor is read.

Format: 8 bytes, the header's length n (little endian); n bytes of JSON, name -> {dtype, shape, data_offsets};
then the tensors' bytes, without overlap or hole (safetensors, "Format", https://github.com/huggingface/safetensors).
The file is untrusted: nothing is allocated in proportion to a number that the file only claims.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

from vjproof.errors import VjproofError
from vjproof.weights.json_file import parse, shown

BYTES = {
    "BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F8_E8M0": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2,
    "U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8, "C64": 8,
}  # fmt: skip
HEADER_LIMIT = 8 << 20  # real ViT headers are near 50 KB
RANK_LIMIT, SIDE_LIMIT = 8, 1 << 40
LFS_POINTER = b"version https://git-lfs"


@dataclass(frozen=True)
class Entry:
    """One tensor: type name, shape, and its bytes [start, stop) counted from the beginning of the file."""

    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int


@dataclass(frozen=True)
class Header:
    """All tensors of the file by name, and its free text."""

    entries: Mapping[str, Entry]
    metadata: Mapping[str, str]


def read_header(file: BinaryIO, where: str, size: int) -> Header:
    """Return the checked header of an open file of `size` bytes; raises VjproofError with the reason."""
    start = file.read(len(LFS_POINTER))
    if start == LFS_POINTER:
        raise VjproofError(
            where, expected="a safetensors file", got="a Git LFS pointer",
            remedy="fetch the file that it points to (git lfs pull)",
        )  # fmt: skip
    if size < 8:
        raise _damaged(where, f"{size} bytes", "at least 8 bytes")
    length = int.from_bytes(start[:8], "little")
    if length > HEADER_LIMIT:
        raise _damaged(where, f"a header of {length} bytes", f"a header of at most {HEADER_LIMIT} bytes")
    if 8 + length > size:
        raise _damaged(where, f"a header of {length} bytes in a file of {size} bytes", "the whole header")
    file.seek(8)
    document = parse(file.read(length), f"{where}: header")
    metadata = document.pop("__metadata__", {})
    if not isinstance(metadata, dict) or not all(isinstance(text, str) for text in metadata.values()):
        raise _damaged(where, "__metadata__ of another kind", "an object of strings as __metadata__")
    entries = {name: _entry(where, name, value, 8 + length) for name, value in document.items()}
    _check_cover(where, entries, 8 + length, size)
    return Header(entries, metadata)


def _damaged(where: str, got: str, expected: str) -> VjproofError:
    remedy = "the file is damaged or not a safetensors file"
    return VjproofError(where, expected=expected, got=got, remedy=remedy)


def _is_count(value: Any, limit: int) -> bool:
    return type(value) is int and 0 <= value <= limit


def _entry(where: str, name: str, value: Any, base: int) -> Entry:
    place = f"{where}: tensor {shown(name)}"
    if not isinstance(value, dict) or set(value) != {"dtype", "shape", "data_offsets"}:
        raise _damaged(place, shown(value), "an object with dtype, shape and data_offsets")
    dtype, shape, offsets = value["dtype"], value["shape"], value["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BYTES:
        raise _damaged(place, f"dtype {shown(dtype)}", f"one of the dtypes {', '.join(BYTES)}")
    if not (isinstance(shape, list) and len(shape) <= RANK_LIMIT and all(_is_count(n, SIDE_LIMIT) for n in shape)):
        raise _damaged(place, f"shape {shown(shape)}", f"at most {RANK_LIMIT} whole numbers up to 2^40")
    if not (isinstance(offsets, list) and len(offsets) == 2 and all(_is_count(n, 1 << 62) for n in offsets)):
        raise _damaged(place, f"data_offsets {shown(offsets)}", "two whole numbers")
    begin, end = offsets
    needed = math.prod(shape) * BYTES[dtype]
    if end - begin != needed:
        raise _damaged(place, f"{end - begin} bytes", f"{needed} bytes for {dtype} {shown(tuple(shape))}")
    return Entry(dtype, tuple(shape), base + begin, base + end)


def _check_cover(where: str, entries: Mapping[str, Entry], base: int, size: int) -> None:
    position = base
    for name, entry in sorted(entries.items(), key=lambda item: (item[1].start, item[1].stop)):
        if entry.start != position:
            kind = "overlaps the tensor before it" if entry.start < position else "leaves a hole before it"
            raise _damaged(where, f"tensor {shown(name)} that {kind}", "tensors one after the other")
        position = entry.stop
    if position != size:
        kind = "is truncated" if position > size else "has bytes after the last tensor"
        raise _damaged(where, f"{size} bytes: the file {kind}", f"{position} bytes as the header says")
