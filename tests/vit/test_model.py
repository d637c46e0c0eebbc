"""The network that runs, against two independent networks and their automatic derivatives."""

import numpy as np
import pytest
import torch

from tests.backends import LIBRARIES, run
from tests.compare import assert_close
from tests.derivatives import complex_step
from tests.nets import GRID, POOLINGS, SHAPES, draw, make_config
from tests.oracles import jax_vit, torch_vit
from vjproof.errors import VjproofError
from vjproof.vit import model
from vjproof.vit.config import Config
from vjproof.vit.params import map_tensors, random_params

TOLERANCE = 1e-12
NAMES = [name for name, _, _ in GRID]
NETS = [(config, batch) for _, config, batch in GRID]


@pytest.mark.parametrize(("config", "batch"), NETS, ids=NAMES)
def test_gradient_equals_jax_vjp(config, batch):
    params, images, d_logits = draw(config, batch)
    values, gradient = model.logits_and_gradient(config, params, images, d_logits)
    want_values, want_gradient = jax_vit.logits_and_gradient(config, params, images, d_logits)
    assert_close(values, want_values, TOLERANCE)
    assert_close(gradient, want_gradient, TOLERANCE)


@pytest.mark.parametrize(("config", "batch"), NETS, ids=NAMES)
def test_gradient_equals_torch_autograd(config, batch):
    params, images, d_logits = draw(config, batch, seed=1)
    values, gradient = model.logits_and_gradient(config, params, images, d_logits)
    tensors = map_tensors(torch.from_numpy, params)
    want_values, want_gradient = torch_vit.logits_and_gradient(config, tensors, images, d_logits)
    assert_close(values, want_values, TOLERANCE)
    assert_close(gradient, want_gradient, TOLERANCE)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_gradient_equals_complex_step(pooling):
    config = make_config(pooling=pooling, layer_scale=True)
    params, images, d_logits = draw(config, 1)
    _, gradient = model.logits_and_gradient(config, params, images, d_logits)
    jacobian = complex_step(lambda x: model.logits(config, params, x), images)
    assert_close(gradient.ravel(), d_logits.ravel() @ jacobian, TOLERANCE)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(("config", "batch"), NETS[::9], ids=NAMES[::9])
def test_every_library_computes_the_same(library, config, batch):
    params, images, d_logits = draw(config, batch)

    def everything(params, images, d_logits):
        values, saved = model.forward(config, params, images)
        back = model.pullback(config, params, saved)
        return values, back(d_logits), back.transpose(images)

    for got, want in zip(
        run(library, everything, params, images, d_logits), everything(params, images, d_logits), strict=True
    ):
        assert_close(got, want, TOLERANCE)


@pytest.mark.parametrize(("config", "batch"), NETS[::2], ids=NAMES[::2])
def test_pushforward_is_the_transpose(config, batch):
    params, images, d_logits = draw(config, batch)
    back = model.pullback(config, params, model.forward(config, params, images)[1])
    tangent = draw(config, batch, seed=7)[1]
    # The two products are sums that may cancel, so their sizes, not their value, set the scale.
    pushed, pulled = back.transpose(tangent) * d_logits, back(d_logits) * tangent
    assert abs(np.sum(pushed) - np.sum(pulled)) <= 1e-12 * (np.sum(np.abs(pushed)) + np.sum(np.abs(pulled)))


def test_pushforward_equals_complex_step():
    config = make_config(SHAPES[1], layer_scale=True)
    params, images, _ = draw(config, 2)
    tangent = draw(config, 2, seed=7)[1]
    back = model.pullback(config, params, model.forward(config, params, images)[1])
    stepped = model.logits(config, params, images + 1e-30j * tangent).imag / 1e-30
    assert_close(back.transpose(tangent), stepped, TOLERANCE)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_depth_zero(pooling):
    config = make_config(pooling=pooling, depth=0)
    params, images, d_logits = draw(config, 2)
    _, gradient = model.logits_and_gradient(config, params, images, d_logits)
    assert_close(gradient, jax_vit.logits_and_gradient(config, params, images, d_logits)[1], TOLERANCE)


def test_without_a_block_the_cls_row_sees_no_image():
    config = make_config(depth=0)
    _, gradient = model.logits_and_gradient(config, *draw(config, 2))
    assert np.array_equal(gradient, np.zeros_like(gradient))


def test_a_head_that_does_not_depend_on_the_image_has_an_exactly_zero_gradient():
    config = make_config()
    params, images, d_logits = draw(config, 2)
    values, gradient = model.logits_and_gradient(
        config, params._replace(w_head=np.zeros_like(params.w_head)), images, d_logits
    )
    assert np.array_equal(values, np.broadcast_to(params.b_head, values.shape))
    assert np.array_equal(gradient, np.zeros_like(gradient))


def test_one_image_alone_and_ten_times_in_a_batch():
    config = make_config(SHAPES[1], depth=3)
    params, images, d_logits = draw(config, 2)
    alone = [model.logits_and_gradient(config, params, images[b : b + 1], d_logits[b : b + 1])[1][0] for b in range(2)]
    together = model.logits_and_gradient(config, params, images, d_logits)[1]
    ten = model.logits_and_gradient(config, params, np.repeat(images[:1], 10, 0), np.repeat(d_logits[:1], 10, 0))[1]
    for b in range(2):
        assert_close(together[b], alone[b], 1e-13)
    for copy in ten:
        assert_close(copy, alone[0], 1e-13)


def test_two_runs_are_bitwise_equal():
    config = make_config(SHAPES[1], depth=3)
    params, images, d_logits = draw(config, 3)
    runs = [model.logits_and_gradient(config, params, images, d_logits) for _ in range(2)]
    for first, second in zip(*runs, strict=True):
        assert first.tobytes() == second.tobytes()


@pytest.mark.parametrize("lead", [(), (2,), (2, 3)])
def test_leading_axes_are_independent_examples(lead):
    config = make_config()
    params, images, d_logits = draw(config, 6)
    want = model.logits_and_gradient(config, params, images, d_logits)[1]
    count = int(np.prod(lead, dtype=int))
    images, d_logits, want = images[:count], d_logits[:count], want[:count]
    got = model.logits_and_gradient(
        config, params, images.reshape(*lead, *config.image_shape), d_logits.reshape(*lead, config.classes)
    )[1]
    assert_close(got, want.reshape(*lead, *config.image_shape), 1e-13)


def test_a_cotangent_of_another_shape_is_refused():
    config = make_config()
    params, images, d_logits = draw(config, 3)
    _, saved = model.forward(config, params, images)
    with pytest.raises(VjproofError, match=r"expected an array \(3, 5\), got \(2, 5\)"):
        model.pullback(config, params, saved)(d_logits[:2])


def test_saved_activations_have_the_declared_shapes_and_the_last_block_is_short():
    config = make_config(SHAPES[1], depth=2, pooling=POOLINGS[1])
    params, images, _ = draw(config, 3)
    blocks, norm = model.forward(config, params, images)[1]
    n, r, d, m = config.tokens, config.readout, config.hidden, config.mlp
    h, width = config.heads, config.head_width
    for saved, rows in zip(blocks, (n, r), strict=True):
        assert saved.norm1.normalised.shape == (3, n, d)
        assert saved.attention.query.shape == (3, h, rows, width)
        assert saved.attention.key.shape == saved.attention.value.shape == (3, h, n, width)
        assert saved.attention.weights.shape == (3, h, rows, n)
        assert saved.norm2.normalised.shape == (3, rows, d)
        assert saved.gelu.slope.shape == (3, rows, m)
    assert norm.normalised.shape == (3, r, d)


@pytest.mark.parametrize("gelu", ["erf", "tanh"])
def test_float32_vit_tiny_against_float64(gelu):
    config = Config(3, 224, 224, 16, 192, 3, 768, 12, 1000, 1e-6, gelu)
    params = random_params(config, 0)
    generator = np.random.default_rng(0)
    images = generator.standard_normal((1, *config.image_shape))
    d_logits = np.eye(config.classes)[[281]]
    want = model.logits_and_gradient(config, params, images, d_logits)
    single = map_tensors(lambda a: a.astype(np.float32), params)
    got = model.logits_and_gradient(config, single, images.astype(np.float32), d_logits.astype(np.float32))
    for got_array, want_array in zip(got, want, strict=True):
        assert got_array.dtype == np.float32
        assert_close(got_array, want_array, 1e-5)
