"""The choices behind a gradient that change its value, recorded with every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Protocol

from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.vit.params import Array


class Model(Protocol):
    """What an explanation needs of a classifier."""

    @property
    def name(self) -> str:
        """The name or path it was loaded from."""

    @property
    def config(self) -> Config:
        """Sizes and choices."""

    @property
    def labels(self) -> tuple[str, ...]:
        """K class names."""

    @property
    def preprocessing(self) -> Preprocessing:
        """From a photograph to the input."""

    @property
    def sha256(self) -> str:
        """Digest of the weights file."""

    def logits(self, images: Array, engine: str = ..., dtype: str | None = ...) -> Array:
        """(B, C, H, W) -> (B, K)."""

    def input_gradient(self, images: Array, target: Array, engine: str = ..., dtype: str | None = ...) -> Array:
        """(B, C, H, W), cotangent (B, K) -> (B, C, H, W)."""


@dataclass(frozen=True)
class Choices:
    """Everything declared: the network, the numbers it was run in, and how the photograph was prepared."""

    model: str
    sha256: str
    version: str
    engine: str
    dtype: str
    eps: float
    gelu: str
    size: tuple[int, int]
    resize: int | tuple[int, int]
    resample: str
    crop: str
    channels: int
    mean: tuple[float, ...]
    std: tuple[float, ...]

    def record(self) -> dict[str, Any]:
        """Return the choices as a JSON-ready dictionary."""
        return asdict(self)


def choices_of(model: Model, engine: str, dtype: str) -> Choices:
    """Return the choices of a gradient that `engine` computed in `dtype`."""
    from importlib.metadata import version

    prepared = model.preprocessing
    return Choices(
        model=model.name, sha256=model.sha256, version=version("vjproof"), engine=engine, dtype=dtype,
        eps=model.config.eps, gelu=model.config.gelu, size=prepared.size, resize=prepared.resize,
        resample=prepared.resample, crop="centre", channels=prepared.channels, mean=prepared.mean, std=prepared.std,
    )  # fmt: skip
