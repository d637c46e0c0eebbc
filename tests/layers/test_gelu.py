"""GELU in both forms against high precision, down the negative tail, in every library."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.backends import LIBRARIES, run
from tests.compare import assert_close
from vjproof.errors import VjproofError
from vjproof.layers import gelu

FORMS = ("erf", "tanh")
TAILS = {
    "erf": {-3.7: -1.46388726756e-3, -6.0: -3.54687094539e-8, -10.0: -7.61840009646e-22},
    "tanh": {-3.7: -1.15672723579e-3, -6.0: -7.70997393095e-10, -10.0: -2.757638063854e-36},
}


def exact_value(form, x):
    x = mpmath.mpf(x)
    if form == "erf":
        return x * mpmath.ncdf(x)
    u = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(0.044715) * x**3)
    return x * (1 + mpmath.tanh(u)) / 2


def exact_slope(form, x):
    """Differentiate the value numerically at 60 digits, so the closed form plays no part."""
    with mpmath.workdps(60):
        return float(mpmath.diff(lambda t: exact_value(form, t), mpmath.mpf(x)))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("library", LIBRARIES)
def test_slope_keeps_the_negative_tail(form, library):
    points = np.array(list(TAILS[form]))
    slope = run(library, lambda x: gelu.forward(form, x)[1].slope, points)
    for got, want in zip(slope, TAILS[form].values(), strict=True):
        assert_close(got, want, 1e-11)


@pytest.mark.parametrize("form", FORMS)
@given(x=st.floats(-10, 10))
def test_value_and_slope_against_sixty_digits(form, x):
    value, saved = gelu.forward(form, np.array([x]))
    with mpmath.workdps(60):
        want = float(exact_value(form, x))
    # Absolute where |x| is moderate: the slope has a root near -0.75, the value one at 0.
    assert abs(value[0] - want) <= 1e-14 * max(abs(want), 1e-300) * max(1.0, x * x)
    want = exact_slope(form, x)
    assert abs(saved.slope[0] - want) <= 1e-13 * (abs(want) if x < -2 else 1.0)


def test_the_plain_forms_lose_the_tail():
    x = np.array([-10.0])
    from scipy.special import erf

    naive = (1 + erf(x / np.sqrt(2))) / 2 - 10 * np.exp(-50) / np.sqrt(2 * np.pi)
    with pytest.raises(AssertionError, match="relative error"):
        assert_close(naive, [TAILS["erf"][-10.0]], 1e-11)


def test_the_two_forms_are_far_apart_where_they_differ_most():
    x = np.linspace(-6, 6, 120_001)
    (erf_value, erf_saved), (tanh_value, tanh_saved) = (gelu.forward(form, x) for form in FORMS)
    value_gap, slope_gap = np.abs(erf_value - tanh_value), np.abs(erf_saved.slope - tanh_saved.slope)
    assert_close(np.max(value_gap), 4.7324e-4, 1e-4)
    assert_close(np.max(slope_gap), 8.6845e-4, 1e-4)
    assert_close(np.abs(x[np.argmax(value_gap)]), 2.699, 1e-3)
    assert_close(np.abs(x[np.argmax(slope_gap)]), 2.019, 1e-3)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_far_out_it_is_the_identity_or_zero(form, dtype):
    x = np.asarray([-1e4, -200.0, 0.0, 200.0, 1e4], dtype)
    with np.errstate(over="ignore", under="ignore"):
        value, saved = gelu.forward(form, x)
    assert np.array_equal(value, [0, 0, 0, 200, 1e4])
    assert np.array_equal(saved.slope, [0, 0, 0.5, 1, 1])


def test_another_form_is_refused():
    with pytest.raises(VjproofError, match="GELU form: expected erf or tanh, got 'quick'"):
        gelu.forward("quick", np.ones(2))
