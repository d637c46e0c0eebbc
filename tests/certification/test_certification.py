"""Certified bounds of engines' gradients, and of wrong ones."""

import numpy as np
import pytest

import vjproof
from tests.classifiers import small_classifier
from vjproof.certification.bounds import bound_errors, certain_top, text_down, text_up, units
from vjproof.errors import VjproofError


@pytest.fixture(scope="module")
def case():
    model = small_classifier()
    return model, np.random.default_rng(0).standard_normal(model.config.image_shape).astype(np.float32)


@pytest.fixture(scope="module")
def enclosed(case):
    return vjproof.enclose(*case, 1)


@pytest.mark.parametrize("engine", ["numpy", "jax", "torch"])
@pytest.mark.parametrize(("dtype", "most"), [("float64", 1e-12), ("float32", 1e-4), ("bfloat16", 0.3)])
def test_an_engine_is_certified(case, enclosed, engine, dtype, most):
    model, image = case
    proved = vjproof.certify(model, image, 1, engine=engine, dtype=dtype, enclosure=enclosed)
    assert 0 < proved.bounds.absolute < most
    assert 0 < proved.bounds.relative < most
    assert proved.bounds.median_ulp <= proved.bounds.worst_ulp
    assert proved.bounds.signs > 0.8
    assert proved.bounds.absolute > (1e-4 if dtype == "bfloat16" else 0)
    assert proved.top_class == int(model.logits(image[None])[0].argmax())
    assert (proved.engine, proved.dtype) == (engine, dtype)


def test_rounding_the_image_is_part_of_the_error(case):
    model, image = case
    exact = image.astype(np.float64) + 1e-9
    enclosed = vjproof.enclose(model, exact, 1)
    errors = [
        vjproof.certify(model, exact, 1, engine="numpy", dtype=dtype, enclosure=enclosed).bounds.absolute
        for dtype in ("float64", "float32")
    ]
    assert errors[0] < 1e-12 < errors[1]


def test_the_error_of_a_wrong_gradient_is_not_below_what_was_added(case):
    model, image = case
    right = vjproof.certify(model, image, 1, engine="numpy", dtype="float64")
    wrong = right.gradient.copy()
    wrong[0, 0, 0] += 0.25
    proved = vjproof.certify(model, image, 1, gradient=wrong, enclosure=right.enclosure)
    assert 0.2499 < proved.bounds.absolute < 0.2501
    assert vjproof.certify(model, image, 1, gradient=-right.gradient, enclosure=right.enclosure).bounds.signs == 0


def test_the_same_numbers_have_smaller_ulps_in_a_wider_dtype(case):
    model, image = case
    enclosed = vjproof.enclose(model, image, 1)
    gradient = enclosed.mid.astype(np.float32)
    found = {dtype: bound_errors(gradient, enclosed, dtype) for dtype in ("float64", "float32", "bfloat16")}
    assert found["float32"].worst_ulp <= 1
    assert found["float64"].worst_ulp == pytest.approx(2**29 * found["float32"].worst_ulp)
    assert found["float32"].worst_ulp == pytest.approx(2**16 * found["bfloat16"].worst_ulp)


@pytest.mark.parametrize("bad", [np.zeros(3), np.full((1, 8, 12), np.nan), np.zeros((1, 8, 12), int)])
def test_other_gradients_are_refused(case, bad):
    model, image = case
    with pytest.raises(VjproofError, match="gradient: expected finite floats"):
        vjproof.certify(model, image, 1, gradient=bad)


def test_another_shape_of_image_is_refused(case):
    model, image = case
    with pytest.raises(VjproofError, match="image: expected"):
        vjproof.enclose(model, image[0], 1)


def test_equal_logits_leave_the_top_class_open():
    model = small_classifier(zero_head=True)
    params = model.params._replace(b_head=model.params.b_head * 0)
    model.checkpoint.params = params
    enclosed = vjproof.enclose(model, np.ones(model.config.image_shape), 1)
    assert certain_top(enclosed) is None
    assert bound_errors(np.zeros(model.config.image_shape), enclosed, "float64").relative == 0
    assert bound_errors(np.ones(model.config.image_shape), enclosed, "float64").relative is None


def test_the_share_of_the_work_is_told(case):
    told = []
    vjproof.enclose(case[0], case[1], 1, advance=told.append)
    assert told[-1] == pytest.approx(1)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
def test_units_are_those_of_numpy(dtype):
    values = np.float64([1, 1.5, -3, 1e-3, 1e-7, 0, 5e-8, 60000])
    assert np.array_equal(units(values, dtype), np.spacing(np.abs(values).astype(dtype)).astype(float))
    assert units(np.float64([1.0]), "bfloat16")[0] == 2.0**-7


def test_texts_are_rounded_the_safe_way():
    assert text_up(1.23401e-9) == "1.235e-9"
    assert text_down(99.9999) == "99.999"
