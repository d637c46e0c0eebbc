"""Reading a picture file that may be hostile: bounded memory, one clear line for what cannot be read."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

from vjproof.errors import VjproofError, excerpt
from vjproof.vit.params import Array

# Formats that Pillow decodes by itself: EPS and WMF would start other programs. JPEG includes MPO.
FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "PPM", "JPEG2000", "AVIF")
MAX_PIXELS = 2**26  # 67 megapixels: about 0.6 GB while decoding
TURNS = {
    2: "FLIP_LEFT_RIGHT", 3: "ROTATE_180", 4: "FLIP_TOP_BOTTOM", 5: "TRANSPOSE",
    6: "ROTATE_270", 7: "TRANSVERSE", 8: "ROTATE_90",
}  # fmt: skip
ORIENTATION = 0x0112


@dataclass(frozen=True, eq=False)
class Photograph:
    """A decoded picture: `pixels` (H, W, 1 or 3), upright, and what was done to get them.

    uint8 pixels count from 0 to 255, uint16 from 0 to 65535, float32 lie in [0, 1].
    """

    pixels: Array
    notes: tuple[str, ...] = ()


def read_image(path: str | Path) -> Array:
    """Return the picture at `path` as float64 (H, W, 1 or 3) in [0, 1].

    Raises VjproofError for whatever `read_photograph` refuses.
    """
    return unit(read_photograph(path).pixels)


def unit(pixels: Array) -> Array:
    """Return `pixels` (uint8, uint16 or floating, any shape) as float64 in [0, 1]."""
    import numpy as np

    full = np.iinfo(pixels.dtype).max if pixels.dtype.kind == "u" else 1
    return pixels.astype(np.float64) / full


def read_photograph(path: str | Path) -> Photograph:
    """Return the picture at `path`, turned as its EXIF orientation says; an animation gives its first frame.

    Colours are taken as stored: profiles and gamma are not applied, as the networks' training pipelines did not.
    Raises VjproofError, naming the file, when it is missing, empty, no picture, truncated, larger than
    `MAX_PIXELS`, or holds floating pixels outside [0, 1]. Memory is bounded by `MAX_PIXELS`, whatever the file says.
    """
    from PIL import Image, UnidentifiedImageError

    path = Path(path)
    _require_content(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Pillow thinks of a damaged file is not the user's concern
        try:
            with Image.open(path, formats=_formats()) as image:
                _require_size(path, *image.size)
                return _decode(image)
        except VjproofError as problem:
            raise VjproofError(str(path), expected=problem.expected, got=problem.got, remedy=problem.remedy) from None
        except UnidentifiedImageError:
            raise VjproofError(
                str(path), expected=f"a picture ({', '.join(_formats())})", got="a file of another kind"
            ) from None
        except Exception as problem:  # decoders of hostile files raise what they like
            reason = excerpt(problem or type(problem).__name__)
            raise VjproofError(str(path), expected="a complete picture", got=reason) from None


def _formats() -> list[str]:
    """Return those of `FORMATS` that this build of Pillow knows."""
    from PIL import Image

    Image.init()
    return [name for name in FORMATS if name in Image.OPEN]


def _require_content(path: Path) -> None:
    """Refuse what is no regular file (a pipe would wait for ever) or is empty."""
    try:
        if not path.is_file():
            raise VjproofError(str(path), expected="a picture file", got="a folder, a device or nothing there")
        if path.stat().st_size == 0:
            raise VjproofError(str(path), expected="a picture file", got="an empty file (0 bytes)")
    except (OSError, ValueError) as problem:
        raise VjproofError(excerpt(path), expected="a readable file", got=excerpt(problem)) from None


def _require_size(path: Path, width: int, height: int) -> None:
    """Refuse a picture whose header promises more pixels than `MAX_PIXELS`, before decoding it."""
    if width * height > MAX_PIXELS:
        raise VjproofError(
            str(path), expected=f"at most {MAX_PIXELS} pixels", got=f"{width} x {height}",
            remedy="make a smaller copy of the picture",
        )  # fmt: skip


def _decode(image: Array) -> Photograph:
    """Return the upright pixels of an open Pillow image."""
    from PIL import Image

    from vjproof.images.modes import to_pixels

    sixteen = any(";16" in str(tile) for tile in image.tile)
    image.load()
    turn = TURNS.get(image.getexif().get(ORIENTATION, 1))
    pixels, notes = to_pixels(image.transpose(Image.Transpose[turn]) if turn else image)
    if turn:
        notes = (*notes, f"turned as its EXIF orientation says ({turn.lower().replace('_', ' ')})")
    if sixteen and pixels.dtype.itemsize == 1:
        notes = (*notes, "16-bit colour was read at 8 bits a channel")
    return Photograph(pixels, notes)
