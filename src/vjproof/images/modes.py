"""Pillow's pixel modes as plain arrays, with the conversions that had to be made."""

from __future__ import annotations

from vjproof.errors import VjproofError
from vjproof.vit.params import Array

GREY_MODES = ("1", "L", "LA", "La")


def to_pixels(image: Array) -> tuple[Array, tuple[str, ...]]:
    """Return (pixels (H, W, 1 or 3) as uint8, uint16 or float32 in [0, 1], notes) of a loaded Pillow image.

    Raises VjproofError for 32-bit pixels outside 16 bits and for floating pixels outside [0, 1].
    """
    import numpy as np

    if image.mode.startswith("I"):
        return _sixteen_bits(np.asarray(image), image.info.get("transparency"))
    if image.mode == "F":
        return _floating(np.asarray(image))[..., None], ()
    grey = image.mode in GREY_MODES
    flat, notes = _over_white(image)
    if image.mode in ("CMYK", "YCbCr", "LAB", "HSV"):
        notes = (*notes, f"{image.mode} converted to RGB without a colour profile")
    pixels = np.array(flat.convert("L" if grey else "RGB"))
    return (pixels[..., None] if grey else pixels), notes


def _over_white(image: Array) -> tuple[Array, tuple[str, ...]]:
    """Return `image` composited over white, and a note if any pixel was not opaque."""
    from PIL import Image

    if not image.has_transparency_data:
        return image, ()
    layered = image.convert("RGBA")
    if layered.getextrema()[3][0] == 255:
        return image if image.mode in ("L", "RGB", "P") else layered, ()
    white = Image.new("RGBA", layered.size, "white")
    return Image.alpha_composite(white, layered), ("transparent parts were composited over white",)


def _sixteen_bits(values: Array, key: object) -> tuple[Array, tuple[str, ...]]:
    """Return integer grey (H, W) as uint16 (H, W, 1); pixels equal to a transparency `key` become white."""
    import numpy as np

    if values.min() < 0 or values.max() > 65535:
        raise VjproofError(
            "pixels", expected="integers from 0 to 65535", got=f"{values.min()} to {values.max()}",
            remedy="scale the picture to 16 bits",
        )  # fmt: skip
    pixels = values.astype(np.uint16)
    if isinstance(key, int) and (values == key).any():
        pixels[values == key] = 65535
        return pixels[..., None], ("transparent parts were composited over white",)
    return pixels[..., None], ()


def _floating(values: Array) -> Array:
    """Return floating grey (H, W) after checking that it is finite and in [0, 1]."""
    import numpy as np

    if not np.isfinite(values).all():
        raise VjproofError("pixels", expected="finite pixels", got="a NaN or an infinity")
    if values.min() < 0 or values.max() > 1:
        raise VjproofError(
            "pixels", expected="floating pixels in [0, 1]", got=f"{values.min():g} to {values.max():g}",
            remedy="scale the picture to [0, 1]",
        )  # fmt: skip
    return values.astype(np.float32)
