"""The plain engine: the chain on NumPy arrays, no compilation; the slow twin of the others."""

from __future__ import annotations

from typing import Any

from vjproof.engines.mixed import MixedArray, bare
from vjproof.engines.pieces import images_together, in_pieces
from vjproof.layers.linear_map import LinearMap
from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, map_tensors


class NumpyEngine:
    """Runs the layers' own lines on NumPy arrays; bfloat16 is emulated, so it is slower than float32."""

    name = "numpy"

    def prepare(self, config: Config, params: Params, dtype: str) -> tuple[str, Params]:  # noqa: ARG002
        """Return the parameters as NumPy arrays of `dtype`."""
        import numpy as np

        kind = "float32" if dtype == "bfloat16" else dtype
        return dtype, map_tensors(lambda tensor: np.asarray(tensor, kind), params)

    def logits(self, config: Config, prepared: tuple[str, Params], images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W)."""

        def one_piece(images: Array) -> Array:
            return bare(model.logits(config, *_arrays(*prepared, images)))

        return in_pieces(one_piece, images_together(config, prepared[0]), images)

    def logits_and_gradient(
        self, config: Config, prepared: tuple[str, Params], images: Array, d_logits: Array
    ) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for d_logits (B, K)."""

        def one_piece(*arrays: Array) -> tuple[Array, Array]:
            values, gradient = model.logits_and_gradient(config, *_arrays(*prepared, *arrays))
            return bare(values), bare(gradient)

        values, gradient = in_pieces(one_piece, images_together(config, prepared[0]), images, d_logits)
        return values, gradient

    def jacobian(self, config: Config, prepared: tuple[str, Params], images: Array, d_logits: Array) -> Array:
        """Return input gradients (B, T, C, H, W) for T cotangents of each image, d_logits (B, T, K)."""
        import numpy as np

        def one_piece(images: Array, d_logits: Array) -> Array:
            back = pullback(config, prepared, images)
            return np.stack([back(d_logits[:, place]) for place in range(d_logits.shape[1])], axis=1)

        return in_pieces(one_piece, images_together(config, prepared[0]), images, d_logits)


def pullback(config: Config, prepared: tuple[str, Params], images: Array) -> LinearMap:
    """Return the linear map (B, K) -> (B, C, H, W) at images (B, C, H, W), on NumPy arrays."""
    params, x = _arrays(*prepared, images)
    back = model.pullback(config, params, model.forward(config, params, x)[1])
    if prepared[0] != "bfloat16":
        return back
    pull, push = (lambda v, f=f: bare(f(MixedArray(v, rounded_product))) for f in (back.apply, back.transpose_apply))
    return LinearMap(back.domain, back.codomain, pull, push)


def _arrays(dtype: str, params: Params, *arrays: Array) -> tuple[Any, ...]:
    """Return parameters and arrays as the layers get them: as they are, or with rounded products."""
    if dtype != "bfloat16":
        return params, *arrays
    mixed = [MixedArray(array, rounded_product) for array in arrays]
    return map_tensors(lambda tensor: MixedArray(tensor, rounded_product), params), *mixed


def rounded_product(x: Array, y: Array) -> Array:
    """Return x y in float32, for x (..., m, k) and y (..., k, n) rounded to bfloat16."""
    import ml_dtypes
    import numpy as np

    x, y = (operand.astype(ml_dtypes.bfloat16).astype(np.float32) for operand in (x, y))
    return np.matmul(x, y)
