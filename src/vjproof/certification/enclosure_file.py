"""An enclosure with its image, target and gradients as one safetensors file.

    terms (n, C, H, W), radii (C, H, W)         |exact gradient - sum of terms| <= radii, F64
    logit_terms (n, K), logit_radii (K,)        the same of the logits, F64
    image (C, H, W), d_logits (K,)              the input and the cotangent, F64 or F32
    gradient.0, gradient.1 and so on (C, H, W)  what was bounded, F64 or F32

Every number is the exact binary value. A file is untrusted: its size, names and shapes are checked against the
network's sizes before anything is read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vjproof.certification.bounds import floats_of
from vjproof.enclosure.balls import MOST_TERMS
from vjproof.enclosure.enclosure import Enclosure, enclosure_of
from vjproof.errors import VjproofError
from vjproof.vit.config import Config
from vjproof.vit.params import Array
from vjproof.weights.tensor_file import SafetensorsFile

MOST_GRADIENTS = 64


@dataclass(frozen=True, eq=False)
class Stored:
    """What a file holds, and its SHA-256."""

    enclosure: Enclosure
    image: Array
    d_logits: Array
    gradients: Sequence[Array]
    sha256: str


def stored_bytes(enclosure: Enclosure, image: Array, d_logits: Array, gradients: Sequence[Array]) -> bytes:
    """Return the file's bytes; the same arrays give the same bytes."""
    import numpy as np
    from safetensors.numpy import save

    tensors = {
        "terms": enclosure.terms, "radii": enclosure.radii, "logit_terms": enclosure.logit_terms,
        "logit_radii": enclosure.logit_radii, "image": image, "d_logits": d_logits,
    }  # fmt: skip
    for index, gradient in enumerate(gradients):
        tensors[f"gradient.{index}"] = floats_of(gradient, enclosure.radii.shape, "float64")
    return bytes(save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}))


def read_stored(path: Path, config: Config, bits: int, program_sha256: str) -> Stored:
    """Return what the file holds, for a network of `config`; VjproofError for other files than `stored_bytes` makes."""
    with SafetensorsFile(path) as file:
        count = sum(name.startswith("gradient.") for name in file.shapes)
        _check_shapes(str(path), file.shapes, config, count)
        read = file.read
        try:
            enclosure = enclosure_of(
                read("terms"), read("radii"), read("logit_terms"), read("logit_radii"), bits, program_sha256
            )
        except VjproofError as problem:
            raise VjproofError(str(path), expected=problem.expected, got=problem.got) from None
        gradients = [read(f"gradient.{index}") for index in range(count)]
        return Stored(enclosure, read("image"), read("d_logits"), gradients, file.sha256)


def _check_shapes(where: str, shapes: Mapping[str, Any], config: Config, gradients: int) -> None:
    image, logits = config.image_shape, (config.classes,)
    (terms, *_), (logit_terms, *_) = (shapes.get(name) or (0,) for name in ("terms", "logit_terms"))
    wanted = {
        "terms": (terms, *image), "radii": image, "logit_terms": (logit_terms, *logits), "logit_radii": logits,
        "image": image, "d_logits": logits, **{f"gradient.{index}": image for index in range(gradients)},
    }  # fmt: skip
    fits = 1 <= terms <= MOST_TERMS and 1 <= logit_terms <= MOST_TERMS and gradients <= MOST_GRADIENTS
    if not fits or dict(shapes) != wanted:
        raise VjproofError(
            where, expected=f"an enclosure at an image {image} with {config.classes} classes",
            got="tensors of other names or shapes",
        )  # fmt: skip


def sha256_of(array: Array) -> str:
    """Return the SHA-256 of an array: its dtype and shape as NumPy spells them, and its bytes, little endian."""
    import numpy as np

    little = np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
    return hashlib.sha256(f"{little.dtype.str} {little.shape} ".encode() + little.tobytes()).hexdigest()
