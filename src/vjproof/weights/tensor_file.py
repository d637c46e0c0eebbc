"""Named tensors of a file, read one at a time."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, Self

from vjproof.errors import VjproofError
from vjproof.vit.params import Array
from vjproof.weights.header import read_header

READABLE = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}


class TensorFile(Protocol):
    """What the loader asks of a weights file; `stored` names its dtypes, `read` gives float32 or float64."""

    where: str
    sha256: str
    stored: str
    shapes: Mapping[str, tuple[int, ...]]
    metadata: Mapping[str, str]

    def read(self, name: str) -> Array:
        """Return the tensor `name`; float16 and bfloat16 are widened to float32, which is exact."""
        ...


class SafetensorsFile:
    """An open safetensors file whose header has been checked; the tensors are read from the same handle.

    Reading the bytes that were checked, instead of opening the path again, leaves no time to swap the file.
    """

    def __init__(self, path: Path) -> None:
        self.where = str(path)
        try:
            self._file = path.open("rb")
        except OSError as error:
            raise VjproofError(self.where, expected="a readable file", got=str(error.strerror)) from error
        try:
            status = os.fstat(self._file.fileno())
            if not stat.S_ISREG(status.st_mode):
                raise VjproofError(self.where, expected="a regular file", got="a device or pipe")
            self._header = read_header(self._file, self.where, status.st_size)
            self._file.seek(0)
            self.sha256 = hashlib.file_digest(self._file, "sha256").hexdigest()
        except BaseException:
            self._file.close()
            raise
        self.shapes: Mapping[str, tuple[int, ...]] = {name: entry.shape for name, entry in self._header.entries.items()}
        self.stored = ", ".join(sorted({entry.dtype for entry in self._header.entries.values()}))
        self.metadata: Mapping[str, str] = self._header.metadata

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, name: str) -> Array:
        """Return the tensor `name` as float32 or float64."""
        import numpy as np

        entry = self._header.entries[name]
        if entry.dtype not in READABLE:
            raise VjproofError(
                f"{self.where}: tensor {name}", expected=f"one of the dtypes {', '.join(READABLE)}",
                got=entry.dtype, remedy="store the weights as floating point numbers",
            )  # fmt: skip
        self._file.seek(entry.start)
        data = self._file.read(entry.stop - entry.start)
        if len(data) != entry.stop - entry.start:
            raise VjproofError(self.where, expected="the file as it was opened", got="a file that shrank")
        raw = np.frombuffer(data, READABLE[entry.dtype]).reshape(entry.shape)
        return widen_bfloat16(raw) if entry.dtype == "BF16" else widen(raw)


def widen(array: Array) -> Array:
    """Return a float array in native byte order, float16 as float32."""
    import numpy as np

    return array.astype(np.float64 if array.dtype.itemsize == 8 else np.float32)


def widen_bfloat16(bits: Array) -> Array:
    """Return the float32 numbers whose upper 16 bits are `bits` (uint16): bfloat16, widened exactly."""
    import numpy as np

    wide: Any = bits.astype(np.uint32) << np.uint32(16)
    return wide.view(np.float32)
