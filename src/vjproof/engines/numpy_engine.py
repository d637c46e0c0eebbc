"""The plain engine: the chain on NumPy arrays, no compilation; the slow twin of the others."""

from __future__ import annotations

from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, map_tensors


class NumpyEngine:
    """Runs the layers' own lines on NumPy arrays."""

    name = "numpy"

    def prepare(self, params: Params, dtype: str) -> Params:
        """Return the parameters as NumPy arrays of `dtype`."""
        import numpy as np

        return map_tensors(lambda tensor: np.asarray(tensor, dtype), params)

    def logits(self, config: Config, prepared: Params, images: Array) -> Array:
        """Return logits (B, K) for images (B, C, H, W)."""
        return model.logits(config, prepared, images)

    def logits_and_gradient(
        self, config: Config, prepared: Params, images: Array, d_logits: Array
    ) -> tuple[Array, Array]:
        """Return logits (B, K) and the input gradient (B, C, H, W) for d_logits (B, K)."""
        return model.logits_and_gradient(config, prepared, images, d_logits)
