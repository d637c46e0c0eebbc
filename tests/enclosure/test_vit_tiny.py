"""The whole input gradient of ViT-Tiny/224, 12 blocks, within a radius of 1e-30; minutes, so not in the gate."""

import numpy as np
import pytest

from vjproof.enclosure.enclosure import enclose_network
from vjproof.vit.config import Config
from vjproof.vit.params import map_tensors, random_params
from vjproof.vit.trained_like import trained_like_params

TINY = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, "erf")


@pytest.mark.slow
@pytest.mark.parametrize("weights", ["random", "trained-like"])
def test_the_whole_gradient_is_enclosed(weights):
    if weights == "random":
        params = map_tensors(lambda tensor: tensor.astype(np.float32), random_params(TINY, 0))
    else:
        params = trained_like_params(TINY, 0)
    image = np.random.default_rng(1).standard_normal(TINY.image_shape).astype(np.float32)
    enclosed = enclose_network(TINY, params, image, np.eye(TINY.classes)[1])
    assert enclosed.radius <= 1e-30
    assert np.abs(enclosed.mid).max() > 1e-4
    assert 300 < enclosed.bits_lost < enclosed.bits
