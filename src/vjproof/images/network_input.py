"""From pixels to the network's input (C, H, W), and back to what can be shown."""

from __future__ import annotations

from vjproof.errors import VjproofError
from vjproof.images.photograph import MAX_PIXELS, unit
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.params import Array

LUMA = (0.299, 0.587, 0.114)  # ITU-R BT.601, as Pillow's "L"


def preprocess(image: Array, choices: Preprocessing) -> Array:
    """Return the network's input (C, H, W), float64, of `image` (H', W', 1 or 3).

    `image` is uint8, uint16, or floating in [0, 1]. It is resized (antialiased, in float32, clipped to [0, 1];
    skipped when the size is right already), cropped to the centre, made grey by the BT.601 weights or repeated
    over RGB where the network wants it, and normalised. Raises VjproofError for other shapes and values.
    """
    import numpy as np

    image = _checked(np.asarray(image))
    resized = resized_size(image.shape[:2], choices.resize)
    top, left = ((have - want) // 2 for have, want in zip(resized, choices.size, strict=True))
    rows, columns = slice(top, top + choices.size[0]), slice(left, left + choices.size[1])
    planes = np.stack([_resize(image[..., c], resized, choices.resample)[rows, columns] for c in range(image.shape[2])])
    if choices.channels == 1 and len(planes) == 3:
        planes = np.tensordot(np.asarray(LUMA), planes, axes=1)[None]
    elif choices.channels == 3 and len(planes) == 1:
        planes = np.repeat(planes, 3, axis=0)
    return (planes - _per_channel(choices.mean)) / _per_channel(choices.std)


def denormalise(x: Array, choices: Preprocessing) -> Array:
    """Return the photograph (H, W, C) in [0, 1] that the network's input `x` (C, H, W) stands for."""
    import numpy as np

    pixels = np.asarray(x, dtype=np.float64) * _per_channel(choices.std) + _per_channel(choices.mean)
    return np.moveaxis(np.clip(pixels, 0.0, 1.0), 0, -1)


def resized_size(size: tuple[int, int], resize: int | tuple[int, int]) -> tuple[int, int]:
    """Return the (height, width) that `size` is resized to; one number is the shorter side, the other rounds down.

    Raises VjproofError when a very long picture would grow past `MAX_PIXELS`.
    """
    if not isinstance(resize, int):
        return resize
    height, width = size
    short = min(size)
    resized = resize * height // short, resize * width // short
    if resized[0] * resized[1] > MAX_PIXELS:
        raise VjproofError(
            "picture", expected=f"a shape that resizes to at most {MAX_PIXELS} pixels", got=f"{width} x {height}",
            remedy="crop the picture",
        )  # fmt: skip
    return resized


def _per_channel(values: tuple[float, ...]) -> Array:
    import numpy as np

    return np.asarray(values, dtype=np.float64)[:, None, None]


def _resize(plane: Array, size: tuple[int, int], resample: str) -> Array:
    """Return one channel (H', W') as float64 in [0, 1] of `size` (H, W)."""
    import numpy as np
    from PIL import Image

    if plane.shape == size:
        return unit(plane)
    full = np.iinfo(plane.dtype).max if plane.dtype.kind == "u" else 1
    resized = Image.fromarray(plane.astype(np.float32)).resize(size[::-1], Image.Resampling[resample.upper()])
    return np.clip(np.asarray(resized, dtype=np.float64) / full, 0.0, 1.0)


def _checked(image: Array) -> Array:
    """Return `image` after checking its shape, type and range."""
    import numpy as np

    if image.ndim != 3 or image.shape[2] not in (1, 3) or 0 in image.shape:
        raise VjproofError("picture", expected="an array (H, W, 1) or (H, W, 3)", got=f"shape {image.shape}")
    if image.dtype in (np.uint8, np.uint16):
        return image
    if image.dtype.kind != "f":
        raise VjproofError("picture", expected="uint8, uint16 or floating pixels", got=str(image.dtype))
    if not np.isfinite(image).all() or image.min() < 0 or image.max() > 1:
        raise VjproofError("picture", expected="finite pixels in [0, 1]", got="pixels outside")
    return image
