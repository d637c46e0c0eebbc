"""Parameter records: shapes, names, and the way there and back."""

import numpy as np
import pytest

from tests.nets import GRID, SHAPES, make_config
from vjproof.vit.config import Config
from vjproof.vit.params import count, map_tensors, named_tensors, random_params, shapes, unflatten

TINY = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, "erf")
CONFIGS = [config for _, config, _ in GRID]


def test_vit_tiny_counts():
    assert count(TINY) == 5_717_416
    names = [name for name, _ in named_tensors(shapes(TINY))]
    assert len(names) == len(set(names)) == 200
    assert sum(name.endswith(("norm1_scale", "norm2_scale", "norm_scale")) for name in names) == 25


@pytest.mark.parametrize("config", CONFIGS, ids=[name for name, _, _ in GRID])
def test_random_params_have_the_declared_shapes(config):
    declared = dict(named_tensors(shapes(config)))
    drawn = dict(named_tensors(random_params(config, 0)))
    assert {name: tensor.shape for name, tensor in drawn.items()} == declared
    assert sum(tensor.size for tensor in drawn.values()) == count(config)


def test_random_params_differ_between_blocks_and_seeds_but_not_between_calls():
    config = make_config(depth=2)
    first, again, other = random_params(config, 0), random_params(config, 0), random_params(config, 1)
    for (name, a), (_, b) in zip(named_tensors(first), named_tensors(again), strict=True):
        assert np.array_equal(a, b), name
    assert not np.array_equal(first.w_head, other.w_head)
    assert not np.array_equal(first.blocks[0].w_q, first.blocks[1].w_q)
    assert not np.array_equal(first.norm_scale, np.ones_like(first.norm_scale))


@pytest.mark.parametrize("layer_scale", [False, True])
def test_unflatten_is_the_inverse_of_named_tensors(layer_scale):
    config = make_config(SHAPES[1], layer_scale=layer_scale)
    params = random_params(config, 0)
    assert unflatten(config, dict(named_tensors(params))) is not params
    for (name, a), (other, b) in zip(
        named_tensors(unflatten(config, dict(named_tensors(params)))), named_tensors(params), strict=True
    ):
        assert name == other
        assert a is b


def test_a_missing_tensor_is_refused_by_name():
    config = make_config()
    tensors = dict(named_tensors(random_params(config, 0)))
    del tensors["blocks.1.w_k"]
    with pytest.raises(KeyError, match=r"blocks\.1\.w_k"):
        unflatten(config, tensors)


def test_map_tensors_leaves_absent_scales_absent():
    params = map_tensors(lambda a: a.astype(np.float32), random_params(make_config(), 0))
    assert params.blocks[0].scale1 is None
    assert {tensor.dtype for _, tensor in named_tensors(params)} == {np.dtype(np.float32)}
