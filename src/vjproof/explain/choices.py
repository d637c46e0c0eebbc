"""The choices behind a gradient that change its value, recorded with every result."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from vjproof.classifier import Classifier


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

    def words(self) -> str:
        """Return the choices in one line."""
        resize = f"shorter side to {self.resize}" if isinstance(self.resize, int) else f"to {_by(self.resize)}"
        return " · ".join([
            f"model {self.model} (sha256 {self.sha256[:12]})", f"eps {self.eps:g}", f"GELU {self.gelu}", self.dtype,
            f"engine {self.engine}", f"resize {resize} {self.resample}", f"{self.crop} crop {_by(self.size)}",
            f"mean {_list(self.mean)}", f"std {_list(self.std)}", f"vjproof {self.version}",
        ])  # fmt: skip

    def record(self) -> dict[str, Any]:
        """Return the choices as a JSON-ready dictionary."""
        return asdict(self)


def choices_of(model: Classifier, engine: str, dtype: str) -> Choices:
    """Return the choices of a gradient that `engine` computed in `dtype`."""
    from importlib.metadata import version

    prepared = model.preprocessing
    return Choices(
        model=model.name, sha256=model.sha256, version=version("vjproof"), engine=engine, dtype=dtype,
        eps=model.config.eps, gelu=model.config.gelu, size=prepared.size, resize=prepared.resize,
        resample=prepared.resample, crop="centre", channels=prepared.channels, mean=prepared.mean, std=prepared.std,
    )  # fmt: skip


def _by(size: tuple[int, int]) -> str:
    return f"{size[0]} x {size[1]}"


def _list(values: tuple[float, ...]) -> str:
    return ", ".join(f"{value:.6g}" for value in values)
