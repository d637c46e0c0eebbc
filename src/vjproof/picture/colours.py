"""Colour maps with even steps of lightness, made in the OKLab colour space.

Source of the colour space: B. Ottosson, "A perceptual color space for image processing", 2020.
"""

from __future__ import annotations

from vjproof.vit.params import Array

_TO_CONES = ((1.0, 0.3963377774, 0.2158037573), (1.0, -0.1055613458, -0.0638541728), (1.0, -0.0894841775, -1.291485548))
_TO_LINEAR_RGB = (
    (4.0767416621, -3.3077115913, 0.2309699292),
    (-1.2684380046, 2.6097574011, -0.3413193965),
    (-0.0041960863, -0.7034186147, 1.707614701),
)


def heat(t: Array) -> Array:
    """Return sRGB (..., 3) in [0, 1] for `t` (...) in [0, 1]: dark violet, red, orange, pale yellow."""
    import numpy as np

    lightness = 0.24 + 0.70 * t
    chroma = np.interp(t, (0.0, 0.35, 0.7, 1.0), (0.10, 0.18, 0.17, 0.10))
    hue = np.interp(t, (0.0, 0.35, 0.7, 1.0), (-60.0, 10.0, 62.0, 103.0))
    return _srgb(lightness, chroma, np.radians(hue))


def diverging(t: Array) -> Array:
    """Return sRGB (..., 3) in [0, 1] for `t` (...) in [-1, 1]: blue below, white at zero, red above."""
    import numpy as np

    size = np.abs(t)
    lightness = 0.985 - 0.52 * size
    chroma = 0.19 * size**0.9
    return _srgb(lightness, chroma, np.radians(np.where(t < 0, 256.0, 27.0)))


def _srgb(lightness: Array, chroma: Array, hue: Array) -> Array:
    """Return sRGB of OKLCH coordinates, hue in radians, clipped to the gamut."""
    import numpy as np

    lab = np.stack([lightness, chroma * np.cos(hue), chroma * np.sin(hue)], axis=-1)
    linear = np.clip((lab @ np.asarray(_TO_CONES).T) ** 3 @ np.asarray(_TO_LINEAR_RGB).T, 0.0, 1.0)
    return np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
