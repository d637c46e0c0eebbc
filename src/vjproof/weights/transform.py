"""Pre-processing for the network's image size, from declared choices and stated defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence

from vjproof.errors import VjproofError
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.weights.choices import Choices
from vjproof.weights.declared import Transform
from vjproof.weights.report import Notes

IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
HALVES = (0.5, 0.5, 0.5), (0.5, 0.5, 0.5)


def settle_preprocessing(
    transform: Transform, config: Config, choices: Choices, layout: str, notes: Notes
) -> Preprocessing:
    """Return the pre-processing that ends at the network's (C, H, W), each choice noted.

    A declared crop of another size is scaled with its resize, so that the same share of the photograph is seen.
    """
    resize = _resize(transform, config, layout, notes)
    usual = "bilinear" if layout in ("hf", "hf5") else "bicubic"
    resample = transform.resample or usual
    if transform.resample is None:
        notes.assumed.append(f"resample {resample}: nothing declared, the usual choice of layout {layout}")
    means, stds = IMAGENET if layout in ("deit", "dinov2") else HALVES
    return Preprocessing(
        (config.height, config.width), config.channels, resize, resample,
        _per_channel("mean", choices.mean, transform.mean, transform.where, means, config.channels, notes),
        _per_channel("std", choices.std, transform.std, transform.where, stds, config.channels, notes),
    )  # fmt: skip


def _resize(transform: Transform, config: Config, layout: str, notes: Notes) -> int | tuple[int, int]:
    size = config.height, config.width
    if transform.resize is None:
        resize: int | tuple[int, int] = size
        if layout not in ("hf", "hf5"):
            shares = 0.9 if layout == "timm" else 224 / 256
            scaled = math.floor(size[0] / shares), math.floor(size[1] / shares)
            resize = scaled[0] if scaled[0] == scaled[1] else scaled
        notes.assumed.append(f"resize {resize}, crop {size}: nothing declared, the usual choice of layout {layout}")
        return resize
    crop = transform.crop
    if crop is None:
        crop = (transform.resize, transform.resize) if isinstance(transform.resize, int) else transform.resize
        notes.assumed.append(f"a centre crop of {crop}: {transform.where} declares none")
    if crop == size:
        notes.recognised.append(f"resize {transform.resize}, crop {size} ({transform.where})")
        return transform.resize
    ratios = size[0] / crop[0], size[1] / crop[1]
    if isinstance(transform.resize, int):
        resize = max(round(transform.resize * max(ratios)), *size)
    else:
        resize = (
            max(round(transform.resize[0] * ratios[0]), size[0]),
            max(round(transform.resize[1] * ratios[1]), size[1]),
        )
    notes.assumed.append(
        f"resize {resize}, crop {size}: scaled from {transform.resize}, {crop} ({transform.where}) to fit the network"
    )
    return resize


def _per_channel(
    name: str, given: float | Sequence[float] | None, declared: tuple[float, ...] | None, where: str,
    usual: tuple[float, ...], channels: int, notes: Notes,
) -> tuple[float, ...]:  # fmt: skip
    if given is not None:
        try:
            values = (float(given),) * channels if isinstance(given, int | float) else tuple(map(float, given))
        except (TypeError, ValueError) as error:
            raise VjproofError(name, expected=f"{channels} numbers", got=repr(given)) from error
        notes.recognised.append(f"{name} {values} (argument)")
        return values
    if declared is not None:
        notes.recognised.append(f"{name} {declared} ({where})")
        return declared
    values = usual if channels == 3 else (0.5,) * channels
    notes.assumed.append(f"{name} {values}: nothing declared")
    return values
