"""The loaded network: gradients for each kind of target, on each engine, and one clear error for bad input."""

import numpy as np
import pytest

import vjproof
from tests.classifiers import small_classifier
from tests.compare import assert_close
from vjproof.classifier import cotangent
from vjproof.errors import VjproofError
from vjproof.vit import model

RNG = np.random.default_rng(3)
IMAGES = RNG.standard_normal((3, 1, 8, 12))


@pytest.fixture(scope="module")
def classifier():
    return small_classifier()


@pytest.mark.parametrize("engine", ["numpy", "jax", "torch"])
def test_each_kind_of_target_means_the_same_gradient(classifier, engine):
    one_hot = np.zeros((3, 4))
    one_hot[:, 2] = 1.0
    by_number = classifier.input_gradient(IMAGES, 2, engine=engine, dtype="float64")
    assert by_number.shape == IMAGES.shape
    assert by_number.dtype == np.float64
    assert_close(classifier.input_gradient(IMAGES, [2, 2, 2], engine=engine, dtype="float64"), by_number, 1e-14)
    assert_close(classifier.input_gradient(IMAGES, one_hot, engine=engine, dtype="float64"), by_number, 1e-14)


def test_engines_agree_in_each_precision(classifier):
    exact = classifier.input_gradient(IMAGES, [0, 1, 3], engine="numpy", dtype="float64")
    for engine in ("jax", "torch"):
        assert_close(classifier.input_gradient(IMAGES, [0, 1, 3], engine=engine, dtype="float64"), exact, 1e-12)
    for engine in ("numpy", "jax", "torch"):
        single = classifier.input_gradient(IMAGES, [0, 1, 3], engine=engine)
        assert single.dtype == np.float32
        assert_close(single, exact, 1e-4)
        half = classifier.input_gradient(IMAGES, [0, 1, 3], engine=engine, dtype="bfloat16")
        assert half.dtype == np.float32
        assert_close(half, exact, 0.2)


def test_the_batch_is_not_averaged(classifier):
    together = classifier.input_gradient(IMAGES, [0, 1, 3], dtype="float64")
    for place, target in enumerate([0, 1, 3]):
        alone = classifier.input_gradient(IMAGES[place : place + 1], target, dtype="float64")
        assert_close(together[place : place + 1], alone, 1e-13)
    ten = classifier.input_gradient(np.repeat(IMAGES[:1], 10, axis=0), 0, dtype="float64")
    assert_close(ten[7:8], together[:1], 1e-13)


@pytest.mark.parametrize("engine", ["numpy", "jax", "torch"])
def test_two_runs_are_bitwise_equal(classifier, engine):
    first, second = (classifier.input_gradient(IMAGES, 1, engine=engine) for _ in range(2))
    assert first.tobytes() == second.tobytes()


def test_the_pullback_and_its_transpose_are_adjoint(classifier):
    back = classifier.pullback(IMAGES, dtype="float64")
    v, w = RNG.standard_normal(back.domain), RNG.standard_normal(back.codomain)
    assert abs(np.vdot(back(v), w) - np.vdot(v, back.transpose(w))) < 1e-12
    assert_close(back(v), classifier.input_gradient(IMAGES, v, engine="numpy", dtype="float64"), 1e-14)


def test_a_head_that_ignores_the_image_has_an_exactly_zero_gradient():
    gradient = small_classifier(zero_head=True).input_gradient(IMAGES, 1)
    assert not gradient.any()


@pytest.mark.parametrize(
    ("images", "target", "choices", "words"),
    [
        (IMAGES[0], 0, {}, "expected an array"),
        (IMAGES[:, :, :, :8], 0, {}, "expected an array"),
        (np.full_like(IMAGES, np.nan), 0, {}, "finite pixels"),
        (IMAGES.astype(str), 0, {}, "real numbers"),
        (IMAGES, 4, {}, "classes from 0 to 3, got 4"),
        (IMAGES, -1, {}, "classes from 0 to 3, got -1"),
        (IMAGES, [0, 1], {}, "3 classes"),
        (IMAGES, 1.5, {}, "one class"),
        (IMAGES, np.zeros((2, 4)), {}, r"a cotangent \(3, 4\)"),
        (IMAGES, np.full((3, 4), np.inf), {}, "finite entries"),
        (IMAGES, 0, {"engine": "cuda"}, "auto or numpy or jax"),
        (IMAGES, 0, {"dtype": "float16"}, "float32 or float64"),
    ],
)
def test_bad_input_is_one_clear_line(classifier, images, target, choices, words):
    with pytest.raises(VjproofError, match=words) as caught:
        classifier.input_gradient(images, target, **choices)
    assert "\n" not in str(caught.value)


def test_a_cotangent_names_its_class_once():
    assert cotangent(np.int64(1), 2, 3, np.float64).tolist() == [[0, 1, 0], [0, 1, 0]]
    assert cotangent([2, 0], 2, 3, np.float32).tolist() == [[0, 0, 1], [1, 0, 0]]


def test_an_unknown_model_is_one_clear_line(tmp_path):
    with pytest.raises(VjproofError) as caught:
        vjproof.load(tmp_path / "none.safetensors")
    assert "\n" not in str(caught.value)


def test_a_changed_weight_changes_the_gradient(classifier):
    """The red control of the agreement tests."""
    config, params = classifier.config, classifier.params
    d_logits = cotangent(1, 3, 4, np.float64)
    _, right = model.logits_and_gradient(config, params, IMAGES, d_logits)
    _, wrong = model.logits_and_gradient(config, params._replace(w_head=params.w_head * 1.001), IMAGES, d_logits)
    with pytest.raises(AssertionError):
        assert_close(wrong, right, 1e-4)
