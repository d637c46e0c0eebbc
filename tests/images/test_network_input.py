"""From pixels to the network's input and back."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vjproof.errors import VjproofError
from vjproof.images.network_input import LUMA, denormalise, preprocess, resized_size
from vjproof.images.preprocessing import Preprocessing

RGB = Preprocessing((4, 6), 3, (4, 6), "bilinear", (0.1, 0.2, 0.3), (0.5, 0.25, 0.125))
GREY = Preprocessing((4, 6), 1, (4, 6), "bilinear", (0.25,), (0.5,))
GENERATOR = np.random.default_rng(1)


def test_an_image_of_the_right_size_is_only_normalised() -> None:
    image = GENERATOR.integers(0, 256, (4, 6, 3), dtype=np.uint8)
    x = preprocess(image, RGB)
    expected = (image / 255 - np.array(RGB.mean)) / np.array(RGB.std)
    assert x.dtype == np.float64
    np.testing.assert_array_equal(x, np.moveaxis(expected, -1, 0))


def test_8_bit_16_bit_and_floating_pixels_agree() -> None:
    image = GENERATOR.integers(0, 256, (9, 13, 3), dtype=np.uint8)
    eight = preprocess(image, RGB)
    np.testing.assert_allclose(preprocess(image.astype(np.uint16) * 257, RGB), eight, rtol=0, atol=1e-5)
    np.testing.assert_allclose(preprocess(image / 255, RGB), eight, rtol=0, atol=1e-5)


def test_grey_is_repeated_for_a_colour_network_and_colour_is_weighed_for_a_grey_one() -> None:
    grey = GENERATOR.random((4, 6, 1))
    np.testing.assert_array_equal(preprocess(grey, RGB)[1], (grey[..., 0] - 0.2) / 0.25)
    colour = GENERATOR.random((4, 6, 3))
    np.testing.assert_allclose(preprocess(colour, GREY)[0], (colour @ np.array(LUMA) - 0.25) / 0.5, rtol=1e-14)


@pytest.mark.parametrize("resample", ["nearest", "bilinear", "bicubic", "lanczos"])
def test_a_constant_image_stays_constant_under_every_kernel(resample: str) -> None:
    choices = dataclasses.replace(GREY, resample=resample)
    x = preprocess(np.full((31, 17, 1), 0.75), choices)
    np.testing.assert_allclose(x, np.full((1, 4, 6), 1.0), atol=1e-6)


def test_the_kernel_matters_and_is_antialiased() -> None:
    stripes = np.tile([0.0, 1.0], (48, 36))[..., None]
    smooth, nearest = (preprocess(stripes, dataclasses.replace(GREY, resample=r)) for r in ("bilinear", "nearest"))
    assert abs(smooth - 0.5).max() < 0.1  # 0.5 in pixels
    assert abs(nearest - 0.5).max() > 0.4


def test_overshoot_is_clipped_to_the_range_of_pixels() -> None:
    edge = np.zeros((8, 12, 1))
    edge[:, 6:] = 1.0
    pixels = denormalise(preprocess(edge, dataclasses.replace(GREY, resample="lanczos")), GREY)
    x = preprocess(edge, dataclasses.replace(GREY, resample="lanczos"))
    np.testing.assert_allclose(x[0] * 0.5 + 0.25, pixels[..., 0], atol=1e-12)


def test_the_shorter_side_is_resized_and_the_centre_cropped() -> None:
    choices = Preprocessing((4, 4), 1, 4, "nearest", (0.0,), (1.0,))
    image = np.zeros((4, 9, 1))
    image[:, 2:6] = 1.0  # (9 - 4) // 2 = 2
    assert (preprocess(image, choices) == 1).all()
    assert (preprocess(np.roll(image, 1, axis=1), choices) != 1).any()


@given(st.integers(1, 400), st.integers(1, 400), st.integers(1, 64))
def test_the_shorter_side_is_met_and_the_longer_one_is_no_shorter(height: int, width: int, side: int) -> None:
    resized = resized_size((height, width), side)
    assert min(resized) == side
    assert resized[0 if height <= width else 1] == side
    assert abs(resized[0] * width - resized[1] * height) < max(height, width)


def test_a_ribbon_is_refused_before_it_grows() -> None:
    with pytest.raises(VjproofError, match="1 x 60000000"):
        resized_size((60_000_000, 1), 256)


def test_denormalise_undoes_the_normalisation() -> None:
    image = GENERATOR.random((4, 6, 3))
    np.testing.assert_allclose(denormalise(preprocess(image, RGB), RGB), image, atol=1e-15)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((4, 6)), "shape"), (np.zeros((4, 6, 4)), "shape"), (np.zeros((0, 6, 3)), "shape"),
        (np.zeros((4, 6, 3), int), "int64"), (np.full((4, 6, 3), np.nan), "finite"),
        (np.full((4, 6, 3), 1.5), "outside"),
    ],
)  # fmt: skip
def test_other_arrays_are_refused(image: np.ndarray, message: str) -> None:
    with pytest.raises(VjproofError, match=message):
        preprocess(image, RGB)
