"""From a gradient (C, H, W) to the two maps that are shown, and the scale they are shown at."""

from __future__ import annotations

import math
from dataclasses import dataclass

from vjproof.errors import VjproofError
from vjproof.picture.colours import diverging, heat
from vjproof.vit.params import Array

PERCENTILE = 99.5


@dataclass(frozen=True)
class Scale:
    """The value that gets the strongest colour, 0 for a map that is zero everywhere, and where it comes from."""

    limit: float
    origin: str


def check_scale(fixed: float | None) -> None:
    """Raise VjproofError unless `fixed` is None or a finite number > 0."""
    if fixed is not None and not (math.isfinite(fixed) and fixed > 0):
        raise VjproofError("scale", expected="a finite number > 0", got=repr(fixed))


def choose_scale(values: Array, fixed: float | None) -> Scale:
    """Return `fixed`, or the `PERCENTILE` of |values| (..., any shape), or their maximum where that is zero.

    Raises VjproofError for what `check_scale` refuses.
    """
    import numpy as np

    size = np.abs(np.asarray(values, dtype=np.float64))
    check_scale(fixed)
    if fixed is not None:
        return Scale(fixed if size.any() else 0.0, "fixed scale")
    limit = float(np.percentile(size, PERCENTILE))
    return Scale(limit, f"{PERCENTILE}th percentile") if limit > 0 else Scale(float(size.max()), "maximum")


def magnitude(gradient: Array) -> Array:
    """Return the L2 norm over the channels of `gradient` (C, H, W), float64 (H, W), without underflow."""
    import numpy as np

    values = np.asarray(gradient, dtype=np.float64)
    largest = float(np.abs(values).max())
    return np.sqrt(((values / largest) ** 2).sum(axis=0)) * largest if largest > 0 else np.zeros(values.shape[1:])


def channel_sum(gradient: Array) -> Array:
    """Return the sum over the channels of `gradient` (C, H, W), float64 (H, W)."""
    import numpy as np

    return np.asarray(gradient, dtype=np.float64).sum(axis=0)


def overlay_colours(photograph: Array, values: Array, limit: float) -> Array:
    """Return sRGB (H, W, 3): `values` (H, W) >= 0 as heat over the grey of `photograph` (H, W, 1 or 3).

    The larger the value, the less the photograph shines through; beyond `limit` the colour stays the strongest.
    """
    import numpy as np

    grey = photograph.mean(axis=2, keepdims=True)
    t = np.minimum(values / limit, 1.0) if limit > 0 else np.zeros(values.shape)
    cover = (0.92 * t**0.7)[..., None]
    return (1 - cover) * (0.12 + 0.76 * grey) + cover * heat(t)


def signed_colours(values: Array, limit: float) -> Array:
    """Return sRGB (H, W, 3) of `values` (H, W): -limit blue, 0 white, +limit red."""
    import numpy as np

    return diverging(np.clip(values / limit, -1.0, 1.0) if limit > 0 else np.zeros(values.shape))
