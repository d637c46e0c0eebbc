"""A StableHLO module as plain data: functions, operations, types and attributes, with the place of each operation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

FLOATS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}  # significand bits
INTEGERS = ("i1", "i2", "i4", "i8", "i16", "i32", "i64", "ui2", "ui4", "ui8", "ui16", "ui32", "ui64")


@dataclass(frozen=True)
class TensorType:
    """The type of a value: sizes and element type; `shape` is None where it is no tensor of static shape."""

    shape: tuple[int, ...] | None
    element: str

    @property
    def is_float(self) -> bool:
        """Whether the elements are floating-point numbers of a format that the reader knows."""
        return self.element in FLOATS

    def __str__(self) -> str:
        sizes = "".join(f"{size}x" for size in self.shape) if self.shape is not None else "?x"
        return f"tensor<{sizes}{self.element}>"


@dataclass
class Operation:
    """One operation: operands and results are numbers of values; `place` says where it stands."""

    name: str
    operands: list[int]
    results: list[int]
    types: list[TensorType]
    attributes: dict[str, Any]
    regions: list[Block]
    place: str


@dataclass
class Block:
    """The single block of a region: its arguments, their types, its operations; the last one is the terminator."""

    arguments: list[int]
    types: list[TensorType]
    operations: list[Operation] = field(default_factory=list)


@dataclass
class Function:
    """A function: its block, and a name for each argument where the module tells one."""

    name: str
    block: Block
    labels: list[str]
    results: list[TensorType]


@dataclass(frozen=True)
class Dense:
    """The value of a constant: float64, int64 or bool numbers, exactly; one number where it is a splat."""

    type: TensorType
    values: Any  # a NumPy array: no axes for a splat, else the shape of the type
