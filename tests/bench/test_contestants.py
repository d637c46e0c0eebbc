"""The contestants compute one and the same gradient, so that their times may be compared; none is handicapped."""

import numpy as np
import pytest

from tests.classifiers import small_classifier
from tests.compare import assert_close
from vjproof.bench.contestants import CONTESTANTS, LIMIT, by_name
from vjproof.bench.products import Products, operations, shapes

MODEL = small_classifier(channels=3)
RNG = np.random.default_rng(6)
IMAGES = RNG.standard_normal((2, *MODEL.config.image_shape), dtype=np.float32)
D_LOGITS = RNG.standard_normal((2, MODEL.config.classes), dtype=np.float32)
EXACT = MODEL.input_gradient(IMAGES, D_LOGITS, engine="numpy", dtype="float64")
ABLE = [one for one in CONTESTANTS if one.kind != LIMIT and not one.slow]


@pytest.mark.parametrize("contestant", ABLE, ids=lambda one: one.name)
def test_each_computes_the_gradient(contestant):
    runner = contestant.start(MODEL)
    assert_close(runner.gradient(IMAGES, D_LOGITS), EXACT, 2e-5 if contestant.dtype == "float32" else 0.2)


@pytest.mark.parametrize("contestant", ABLE, ids=lambda one: one.name)
@pytest.mark.filterwarnings("ignore::UserWarning")  # PyTorch says that its batched form is a loop
def test_each_computes_the_rows(contestant):
    rows = contestant.start(MODEL).rows(IMAGES[:1], np.stack([D_LOGITS[0], 2 * D_LOGITS[0]]))
    assert_close(rows, np.stack([EXACT[0], 2 * EXACT[0]]), 2e-5 if contestant.dtype == "float32" else 0.2)


@pytest.mark.slow
@pytest.mark.parametrize("contestant", [one for one in CONTESTANTS if one.slow], ids=lambda one: one.name)
@pytest.mark.filterwarnings("ignore")
def test_those_that_start_slowly_compute_the_gradient(contestant):
    if contestant.missing():
        pytest.skip(contestant.missing())
    runner = contestant.start(MODEL)
    assert_close(runner.gradient(IMAGES, D_LOGITS), EXACT, 2e-5 if contestant.dtype == "float32" else 0.2)


def test_another_network_would_be_seen():
    """The red control: a peer with one weight changed is not taken for the same computation."""
    wrong = small_classifier(channels=3, gain=1.01)
    with pytest.raises(AssertionError):
        assert_close(by_name("torch autograd float32").start(wrong).gradient(IMAGES, D_LOGITS), EXACT, 2e-5)


def test_autograd_is_asked_for_the_images_gradient_only():
    runner = by_name("torch autograd float32").start(MODEL)
    assert not any(parameter.requires_grad for parameter in runner.network.parameters())


def test_a_contestant_whose_library_is_absent_says_which(monkeypatch):
    monkeypatch.setattr("vjproof.bench.contestants.installed", lambda library: library != "torch")
    missing = {one.name: one.missing() for one in CONTESTANTS}
    assert missing["torch autograd float32"] == "torch"
    assert missing["jax.vjp float32"] == ""


def test_the_products_are_those_of_the_chain():
    config = MODEL.config
    n, d, m, h, width = config.tokens, config.hidden, config.mlp, config.heads, config.head_width
    one_block = 2 * 2 * n * (4 * d * d + 2 * d * m) + 2 * 6 * h * n * n * width
    patches = 2 * 2 * config.patches * d * config.channels * config.patch**2
    assert operations(config, 1) == one_block * (config.depth - 1) + patches
    assert operations(config, 3) == 3 * operations(config, 1)
    assert all(min(shape) > 0 for _, shape in shapes(config, 2))
    assert Products(MODEL, "float32").gradient(IMAGES, D_LOGITS) is None
