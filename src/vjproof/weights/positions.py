"""Position embeddings of another grid, by a declared bicubic kernel.

Each axis is resized by an explicit matrix of weights, so the map is linear and its kernel can be read off.
"bicubic-antialias" is timm's choice (Keys' cubic, a = -1/2, widened by the scale when the grid shrinks, weights
renormalised at the border); "bicubic" is Hugging Face's (a = -3/4, four taps, border rows repeated). Both follow
`torch.nn.functional.interpolate(mode="bicubic", align_corners=False, antialias=...)`.
"""

from __future__ import annotations

import math

from vjproof.errors import VjproofError
from vjproof.vit.params import Array

METHODS = ("bicubic-antialias", "bicubic")


def resize_positions(
    position: Array, prefix: int, source: tuple[int, int], target: tuple[int, int], method: str
) -> Array:
    """Return `position` (T + h w, D) resized to (T + H W, D) in its own dtype; the T prefix rows stay.

    `source` is (h, w) and `target` is (H, W) in patches, row-major. Computed in float64.
    Raises VjproofError for an unknown method.
    """
    import numpy as np

    check_method(method)
    if source == target:
        return position
    rows, columns = (axis_weights(s, t, method) for s, t in zip(source, target, strict=True))
    grid = position[prefix:].reshape(*source, -1).astype(np.float64)
    resized = np.einsum("Hh,Ww,hwd->HWd", rows, columns, grid, optimize=True).reshape(-1, position.shape[1])
    return np.concatenate([position[:prefix], resized.astype(position.dtype)])


def check_method(method: str) -> None:
    """Raise VjproofError unless `method` is one of `METHODS`."""
    if method not in METHODS:
        raise VjproofError("positions", expected=" or ".join(METHODS), got=repr(method))


def axis_weights(source: int, target: int, method: str) -> Array:
    """Return the (target, source) matrix that resizes one axis; each row sums to 1."""
    import numpy as np

    scale = source / target
    centre = (np.arange(target)[:, None] + 0.5) * scale
    if method == "bicubic":
        weights = np.zeros((target, source))
        first = np.floor(centre[:, 0] - 0.5).astype(int)
        for tap in range(-1, 3):
            column = np.clip(first + tap, 0, source - 1)
            distance = centre[:, 0] - 0.5 - (first + tap)
            np.add.at(weights, (np.arange(target), column), _cubic(distance, -0.75))
        return weights
    stretch = max(scale, 1.0)
    support = 2.0 * stretch
    low = np.maximum(np.floor(centre - support + 0.5), 0)
    high = np.minimum(np.floor(centre + support + 0.5), source)
    column = np.arange(source)[None, :]
    weights = _cubic((column + 0.5 - centre) / stretch, -0.5)
    weights = np.where((column >= low) & (column < high), weights, 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def _cubic(x: Array, a: float) -> Array:
    """Keys' cubic convolution kernel (IEEE Trans. ASSP 29, 1981)."""
    import numpy as np

    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = a * (((x - 5) * x + 8) * x - 4)
    return np.where(x <= 1, near, np.where(x < 2, far, 0.0))


def square_side(count: int) -> int | None:
    """Return the side of a square grid of `count` patches, or None when there is none."""
    side = math.isqrt(max(count, 0))
    return side if side > 0 and side * side == count else None
