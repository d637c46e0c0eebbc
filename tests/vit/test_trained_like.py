"""Parameters with the statistics of trained networks."""

import numpy as np

from tests.nets import make_config
from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import named_tensors, random_params, shapes
from vjproof.vit.trained_like import trained_like_params

WIDE = Config(3, 8, 8, 4, 192, 3, 768, 1, 10, 1e-6, "erf", layer_scale=True)


def kurtosis(values):
    return float(np.mean(((values - values.mean()) / values.std()) ** 4))


def test_shapes_and_seeds():
    config = make_config(layer_scale=True)
    drawn = dict(named_tensors(trained_like_params(config, 3)))
    assert {name: tensor.shape for name, tensor in drawn.items()} == dict(named_tensors(shapes(config)))
    assert all(tensor.dtype == np.float32 and np.isfinite(tensor).all() for tensor in drawn.values())
    again = dict(named_tensors(trained_like_params(config, 3)))
    assert all(np.array_equal(drawn[name], again[name]) for name in drawn)


def test_tails_are_heavier_and_norms_less_equal_than_of_normal_weights():
    heavy, normal = trained_like_params(WIDE, 0).blocks[0], random_params(WIDE, 0).blocks[0]
    assert kurtosis(heavy.w_1) > 6 > 4 > kurtosis(normal.w_1)
    spread = [np.std(np.log(np.linalg.norm(block.w_1, axis=0))) for block in (heavy, normal)]
    assert spread[0] > 4 * spread[1]
    assert heavy.norm1_scale.max() > 3 * np.median(heavy.norm1_scale)


def test_attention_scores_are_some_tens():
    config = Config(3, 64, 64, 8, 192, 3, 768, 2, 10, 1e-6, "erf")
    image = np.random.default_rng(1).standard_normal(config.image_shape).astype(np.float32)
    _, saved = model.forward(config, trained_like_params(config, 0), image)
    scores = [np.abs(block.attention.query @ block.attention.key.swapaxes(-1, -2)).max() / 8 for block in saved.blocks]
    assert 10 < max(scores) < 100
