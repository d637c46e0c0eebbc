"""Random parameters with the statistics of trained networks, for measurements where no trained weights are at hand.

Trained transformers have heavy tails, columns of very unequal norm, a few dominant channels in their norms' scales,
attention scores of some tens, and residual branches that are small or large by block.
"""

from __future__ import annotations

import math

from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, named_tensors, shapes, unflatten

FREEDOM = 4  # degrees of freedom of Student's t: single weights of 10 standard deviations occur
OUTLIERS, OUTLIER_SCALE = 0.02, 6.0  # share of dominant channels, and their factor
QUERY_KEY = 0.9  # gain of queries and keys: scores of some tens
LAYER_SCALE = -1.0, 1.0  # mean and deviation of LayerScale's logarithm


def trained_like_params(config: Config, seed: int) -> Params:
    """Return random float32 parameters of a network with this config, heavy-tailed and unevenly scaled."""
    import numpy as np

    generator = np.random.default_rng(seed)

    def heavy(shape: tuple[int, ...], spread: float) -> Array:
        return generator.standard_t(FREEDOM, shape) * (spread / math.sqrt(FREEDOM / (FREEDOM - 2)))

    def channels(count: int, deviation: float) -> Array:
        gains = np.exp(deviation * generator.standard_normal(count))
        return np.where(generator.random(count) < OUTLIERS, OUTLIER_SCALE * gains, gains)

    def draw(name: str, shape: tuple[int, ...]) -> Array:
        leaf = name.rpartition(".")[2]
        if leaf in ("scale1", "scale2"):
            return np.exp(LAYER_SCALE[0] + LAYER_SCALE[1] * generator.standard_normal(shape))
        if leaf.endswith("_scale"):
            return channels(shape[0], 0.5)
        if leaf == "patch_weight":
            return heavy(shape, 1 / math.sqrt(math.prod(shape[1:])))
        if leaf.startswith("w_"):
            gain = QUERY_KEY if leaf in ("w_q", "w_k") else 1.0
            return heavy(shape, gain / math.sqrt(shape[0])) * channels(shape[1], 0.4)
        return heavy(shape, 0.3)

    drawn = {name: draw(name, shape).astype(np.float32) for name, shape in named_tensors(shapes(config))}
    return unflatten(config, drawn)
