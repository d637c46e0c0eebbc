"""The page: pixels where they belong, nothing cut off, nothing blank that should not be."""

import numpy as np
import pytest

from vjproof.picture.page import CELL, GAP, MARGIN, SIDE, Caption, draw_page

GENERATOR = np.random.default_rng(3)
CAPTION = Caption("a.png", ["Target: logit of class 1", "Classes: Bag 99.0%"], (), "model small")


def panels(page: np.ndarray, side: int = SIDE) -> list[np.ndarray]:
    """The three squares of a page without notes, found by their frame."""
    top = MARGIN + 30 + 24 * 2 + 38
    return [page[top : top + side, MARGIN + n * (side + GAP) :][:, :side] for n in range(3)]


def drawn(photograph: np.ndarray, gradient: np.ndarray, caption: Caption = CAPTION, **how: float) -> np.ndarray:
    return np.asarray(draw_page(photograph, gradient, caption, **how))


def test_each_pixel_of_the_input_is_a_square_of_its_own_colour() -> None:
    photograph = GENERATOR.random((28, 28, 3))
    shown = panels(drawn(photograph, GENERATOR.standard_normal((3, 28, 28))))[0]
    np.testing.assert_array_equal(shown[8::16, 8::16], np.rint(photograph * 255))
    assert (shown.reshape(28, 16, 28, 16, 3) == shown[::16, None, ::16, None].reshape(28, 1, 28, 1, 3)).all()


def test_signs_are_red_and_blue() -> None:
    gradient = np.ones((1, 28, 28))
    gradient[:, :14] = -1.0
    shown = panels(drawn(np.zeros((28, 28, 1)), gradient))[2].astype(int)
    assert (shown[:224, :, 2] > shown[:224, :, 0]).all()
    assert (shown[224:, :, 0] > shown[224:, :, 2]).all()


def test_a_map_of_zeros_is_blank() -> None:
    page = drawn(np.full((28, 28, 1), 0.5), np.zeros((1, 28, 28)))
    _, overlay, signed = panels(page)
    assert len(np.unique(signed.reshape(-1, 3), axis=0)) == 1
    assert len(np.unique(overlay.reshape(-1, 3), axis=0)) == 1


def test_the_scale_is_kept_when_it_is_fixed() -> None:
    gradient, photograph = GENERATOR.standard_normal((1, 28, 28)), np.zeros((28, 28, 1))
    fixed = [panels(drawn(photograph, factor * gradient, scale=2.0))[2] for factor in (0.1, 1.0)]
    robust = [panels(drawn(photograph, factor * gradient))[2] for factor in (0.1, 1.0)]
    assert (fixed[0] != fixed[1]).any()
    np.testing.assert_array_equal(*robust)


@pytest.mark.parametrize("size", [(28, 28), (1, 1), (8, 40), (40, 8), (224, 224), (500, 380)])
def test_pages_of_every_shape_keep_their_margins(size: tuple[int, int]) -> None:
    caption = Caption("long name " * 60, ["猫\x1b[31m" * 90], ["a note " * 90], "choice · " * 90)
    page = drawn(GENERATOR.random((*size, 1)), GENERATOR.standard_normal((1, *size)), caption)
    assert page.shape[1] >= 3 * CELL
    for edge in (page[:16], page[-16:], page[:, : MARGIN - 8], page[:, 8 - MARGIN :]):
        assert (edge == 255).all()


def test_two_pages_are_equal_bytes() -> None:
    photograph, gradient = GENERATOR.random((8, 8, 1)), GENERATOR.standard_normal((1, 8, 8))
    assert drawn(photograph, gradient).tobytes() == drawn(photograph, gradient).tobytes()
