"""Fashion-MNIST as Debian's package `dataset-fashion-mnist` stores it: gzip-compressed IDX files."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import NamedTuple

import numpy as np

FOLDER = Path("/usr/share/datasets/fashion-mnist")
LABELS = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat",
    "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip
UNSIGNED_BYTE = 0x08
LARGEST = 1 << 27


class Split(NamedTuple):
    """Images and their classes; pixels are bytes, 0 is the background."""

    images: np.ndarray  # (n, 28, 28), uint8
    labels: np.ndarray  # (n,), uint8


def read_idx(path: Path) -> np.ndarray:
    """Return the array of bytes that a gzip-compressed IDX file holds.

    The file starts with two zero bytes, the element type, the number of axes, then each size as a big-endian
    32-bit integer. Raises ValueError for another type, an absurd size, and missing or surplus bytes.
    """
    with gzip.open(path, "rb") as stream:
        head = stream.read(4)
        if len(head) != 4 or head[:2] != b"\0\0" or head[2] != UNSIGNED_BYTE or not 1 <= head[3] <= 4:
            raise ValueError(f"{path.name}: not an IDX file of bytes")
        sizes = stream.read(4 * head[3])
        if len(sizes) != 4 * head[3]:
            raise ValueError(f"{path.name}: cut short in its header")
        shape = struct.unpack(f">{head[3]}I", sizes)
        total = int(np.prod(np.array(shape, dtype=object)))
        if total > LARGEST:
            raise ValueError(f"{path.name}: {total} bytes announced, at most {LARGEST} are read")
        body = stream.read(total + 1)
    if len(body) != total:
        raise ValueError(f"{path.name}: {total} bytes announced, another number is there")
    return np.frombuffer(body, dtype=np.uint8).reshape(shape)


def read_split(folder: Path, name: str) -> Split:
    """Return the split `name`, "train" (60,000 images) or "t10k" (10,000), of the data in `folder`.

    Raises ValueError when images and labels do not belong together.
    """
    images = read_idx(folder / f"{name}-images-idx3-ubyte.gz")
    labels = read_idx(folder / f"{name}-labels-idx1-ubyte.gz")
    if images.ndim != 3 or images.shape[1:] != (28, 28) or labels.shape != images.shape[:1]:
        raise ValueError(f"{name}: shapes {images.shape} and {labels.shape} are no images with labels")
    if labels.size and int(labels.max()) >= len(LABELS):
        raise ValueError(f"{name}: label {int(labels.max())}, expected 0 to {len(LABELS) - 1}")
    return Split(images, labels)
