"""Maps and scales."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from vjproof.errors import VjproofError
from vjproof.picture.colours import diverging, heat
from vjproof.picture.maps import channel_sum, choose_scale, magnitude, overlay_colours, signed_colours

FINITE = st.floats(-1e308, 1e308)


def lightness(srgb: np.ndarray) -> np.ndarray:
    """CIE L* of sRGB."""
    linear = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    luminance = linear @ np.array([0.2126, 0.7152, 0.0722])
    return np.where(luminance > 0.008856, 116 * np.cbrt(luminance) - 16, 903.3 * luminance)


def test_heat_grows_lighter_in_even_steps() -> None:
    steps = np.diff(lightness(heat(np.linspace(0, 1, 41))))
    assert steps.min() > 0.3 * steps.mean() > 0
    assert steps.max() < 2 * steps.mean()
    rainbow = np.eye(3)[[2, 1, 0]]  # the red control: blue, green, red is not even
    assert np.diff(lightness(rainbow)).min() < 0


def test_the_diverging_map_is_white_at_zero_and_as_light_on_both_sides() -> None:
    t = np.linspace(0, 1, 21)
    np.testing.assert_allclose(lightness(diverging(t)), lightness(diverging(-t)), atol=5.0)
    assert diverging(np.zeros(1)).min() > 0.96
    blue, red = diverging(np.array([-1.0, 1.0]))
    assert blue.argmax() == 2
    assert red.argmax() == 0


def test_magnitude_is_the_norm_over_channels_and_survives_tiny_and_huge_values() -> None:
    gradient = np.array([[[3.0]], [[4.0]]])
    for factor in (1.0, 1e-200, 1e200):
        np.testing.assert_allclose(magnitude(gradient * factor), [[5.0 * factor]], rtol=1e-12)
    assert channel_sum(gradient) == [[7.0]]


@given(arrays(np.float64, (2, 3, 4), elements=st.floats(-1e150, 1e150)))
def test_every_map_of_a_finite_gradient_is_a_colour(gradient: np.ndarray) -> None:
    size, total = magnitude(gradient), channel_sum(gradient)
    photograph = np.full((3, 4, 1), 0.5)
    for colours in (
        overlay_colours(photograph, size, choose_scale(size, None).limit),
        signed_colours(total, choose_scale(total, None).limit),
    ):
        assert np.isfinite(colours).all()
        assert 0 <= colours.min() <= colours.max() <= 1


def test_the_scale_is_robust_symmetric_and_falls_back_to_the_maximum() -> None:
    values = np.ones((100, 100))
    values[0, 0] = -1e9
    assert choose_scale(values, None).limit == 1.0
    lonely = np.zeros((100, 100))
    lonely[5, 5] = -3.0
    assert choose_scale(lonely, None).limit == 3.0
    assert choose_scale(lonely, None).origin == "maximum"
    assert choose_scale(np.zeros((2, 2)), None).limit == 0.0


def test_a_fixed_scale_is_taken_as_it_is_and_bad_ones_are_refused() -> None:
    assert choose_scale(np.ones((2, 2)), 0.25).limit == 0.25
    assert choose_scale(np.zeros((2, 2)), 0.25).limit == 0.0
    for bad in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(VjproofError, match="scale"):
            choose_scale(np.ones((2, 2)), bad)


def test_zero_shows_the_photograph_and_a_strong_value_covers_it() -> None:
    photograph = np.stack([np.zeros((2, 2)), np.ones((2, 2))])[:, :, :1].reshape(2, 2, 1)
    plain = overlay_colours(photograph, np.zeros((2, 2)), 1.0)
    assert plain[1, 0, 0] - plain[0, 0, 0] > 0.5
    covered = overlay_colours(photograph, np.ones((2, 2)), 1.0)
    assert abs(covered[1, 0] - covered[0, 0]).max() < 0.1
