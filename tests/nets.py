"""Small networks with odd shapes, their parameters, images and cotangents."""

import itertools

import numpy as np

from vjproof.vit.config import Config
from vjproof.vit.params import random_params

# channels, height, width, patch, hidden, heads, mlp, classes: no square image, heads never equal to their width
SHAPES = [
    (2, 6, 9, 3, 6, 2, 7, 5),
    (3, 10, 15, 5, 15, 3, 11, 13),
    (1, 7, 21, 7, 10, 5, 17, 3),
    (2, 4, 14, 2, 7, 1, 5, 11),
    (5, 33, 11, 11, 14, 7, 13, 2),
]
# pooling, readout, prefix
POOLINGS = [("cls", 1, 1), ("cls", 2, 2), ("mean", 1, 1), ("norm-mean", 1, 1), ("cls", 1, 3), ("mean", 1, 0)]


def make_config(shape=SHAPES[0], *, depth=2, gelu="erf", pooling=POOLINGS[0], layer_scale=False, eps=1e-6):
    """Return a Config from one row of SHAPES and one of POOLINGS."""
    channels, height, width, patch, hidden, heads, mlp, classes = shape
    name, readout, prefix = pooling
    return Config(
        channels, height, width, patch, hidden, heads, mlp, depth, classes, eps, gelu, prefix, readout, name,
        layer_scale,
    )  # fmt: skip


def grid():
    """Yield pytest-ready (id, Config, batch): every choice with every other, shapes and depths in turn."""
    choices = itertools.product(("erf", "tanh"), (False, True), POOLINGS)
    for index, (gelu, layer_scale, pooling) in enumerate(choices):
        depth, batch = 1 + index % 4, 1 + index % 3
        eps = (1e-6, 1e-5, 1e-12)[index // 2 % 3]
        config = make_config(
            SHAPES[index % 5], depth=depth, gelu=gelu, pooling=pooling, layer_scale=layer_scale, eps=eps
        )
        name = f"{gelu}-{pooling[0]}{pooling[1]}of{pooling[2]}-depth{depth}-batch{batch}" + "-scaled" * layer_scale
        yield name, config, batch


GRID = list(grid())


def draw(config, batch, seed=0):
    """Return (params, images (B, C, H, W), d_logits (B, K)), all float64."""
    generator = np.random.default_rng(1000 + seed)
    images = generator.standard_normal((batch, *config.image_shape))
    return random_params(config, seed), images, generator.standard_normal((batch, config.classes))


NETS_WITH_EACH_POOLING = [make_config(SHAPES[1], pooling=pooling, layer_scale=True) for pooling in POOLINGS]
