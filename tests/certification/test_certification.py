"""Certified bounds of engines' gradients, and of wrong ones."""

import numpy as np
import pytest

import vjproof
from tests.classifiers import small_classifier
from vjproof.errors import VjproofError


@pytest.fixture(scope="module")
def case():
    model = small_classifier()
    return model, np.random.default_rng(0).standard_normal(model.config.image_shape).astype(np.float32)


@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-12), ("float32", 1e-4)])
def test_an_engine_is_certified(case, dtype, most):
    model, image = case
    proved = vjproof.certify(model, image, 1, engine="numpy", dtype=dtype)
    assert 0 < proved.absolute < most
    assert 0 < proved.relative < most
    assert proved.median_ulp <= proved.worst_ulp
    assert proved.signs > 0.9
    assert proved.top_class == int(model.logits(image[None])[0].argmax())
    assert set(proved.record["sha256"]) == {"weights", "image", "target", "program", "gradient", "mid", "rad"}


def test_the_error_of_a_wrong_gradient_is_not_below_what_was_added(case):
    model, image = case
    right = vjproof.certify(model, image, 1, engine="numpy", dtype="float64")
    wrong = right.gradient.copy()
    wrong[0, 0, 0] += 0.25
    proved = vjproof.certify(model, image, 1, gradient=wrong, enclosure=right.enclosure)
    assert 0.2499 < proved.absolute < 0.2501
    assert vjproof.certify(model, image, 1, gradient=-right.gradient, enclosure=right.enclosure).signs == 0


@pytest.mark.parametrize("bad", [np.zeros(3), np.full((1, 8, 12), np.nan), np.zeros((1, 8, 12), int)])
def test_other_gradients_are_refused(case, bad):
    model, image = case
    with pytest.raises(VjproofError, match="gradient: expected finite floats"):
        vjproof.certify(model, image, 1, gradient=bad)


def test_another_shape_of_image_is_refused(case):
    model, image = case
    with pytest.raises(VjproofError, match="image: expected"):
        vjproof.enclose(model, image[0], 1)
