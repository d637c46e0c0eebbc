"""What configuration files declare about a network, in one vocabulary."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Transform:
    """Declared pre-processing; None where nothing is declared.

    `crop` (height, width) is cut from the centre after `resize` (one number: the shorter side), both in pixels.
    """

    where: str = ""
    crop: tuple[int, int] | None = None
    resize: int | tuple[int, int] | None = None
    resample: str | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None


@dataclass(frozen=True)
class Declared:
    """Declared choices; None where nothing is declared.

    `sizes` maps fields of Config to the sizes that the file claims; the tensors' shapes must agree.
    `image` is (height, width) in pixels. `family` is the kind of network, for the report.
    """

    where: str = ""
    family: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)
    image: tuple[int, int] | None = None
    heads: int | None = None
    eps: float | None = None
    gelu: str | None = None
    pooling: str | None = None
    qkv_bias: bool | None = None
    classifier: bool | None = None
    labels: tuple[str, ...] | None = None
    transform: Transform = Transform()
