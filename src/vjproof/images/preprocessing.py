"""The declared choices between a photograph and the network's input."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vjproof.errors import VjproofError

RESAMPLING = ("nearest", "bilinear", "bicubic", "lanczos")


@dataclass(frozen=True)
class Preprocessing:
    """Resize, crop and normalise; recorded with every result.

    `resize` is the (height, width) the photograph is resized to, or one number: its shorter side, keeping the
    aspect ratio. A centre crop to `size` (height, width) follows. Pixels in [0, 1] become
    (pixel - mean[c]) / std[c]. `channels` is 1 (grey) or 3 (RGB).
    """

    size: tuple[int, int]
    channels: int
    resize: int | tuple[int, int]
    resample: str
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.channels not in (1, 3):
            raise VjproofError("pre-processing channels", expected="1 or 3", got=repr(self.channels))
        if self.resample not in RESAMPLING:
            raise VjproofError("pre-processing resample", expected=" or ".join(RESAMPLING), got=repr(self.resample))
        for name, values in (("mean", self.mean), ("std", self.std)):
            if len(values) != self.channels or not all(math.isfinite(value) for value in values):
                raise VjproofError(
                    f"pre-processing {name}", expected=f"{self.channels} finite numbers", got=repr(values)
                )
        if not all(value > 0 for value in self.std):
            raise VjproofError("pre-processing std", expected="numbers > 0", got=repr(self.std))
        resized = (self.resize, self.resize) if isinstance(self.resize, int) else self.resize
        if min(*self.size, *resized) < 1 or any(r < s for r, s in zip(resized, self.size, strict=True)):
            raise VjproofError(
                "pre-processing size", expected="a crop no larger than the resized image",
                got=f"resize {self.resize}, crop {self.size}",
            )  # fmt: skip
