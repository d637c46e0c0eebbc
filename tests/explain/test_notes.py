"""What is said of zero and one-signed gradients."""

import numpy as np

from vjproof.explain.notes import gradient_notes


def test_an_ordinary_gradient_needs_no_note() -> None:
    assert gradient_notes(np.array([[[1.0, -2.0]]])) == ()


def test_zero_one_sign_and_partly_zero_are_said() -> None:
    assert "exactly zero" in gradient_notes(np.zeros((1, 2, 2)))[0]
    assert "lowers" in gradient_notes(-np.ones((1, 2, 2)))[0]
    assert "raises" in gradient_notes(np.ones((1, 2, 2)))[0]
    assert gradient_notes(np.array([[[0.0, 1.0, -1.0]]])) == ("1 of 3 entries are exactly zero",)


def test_noise_of_rounding_is_not_called_zero() -> None:
    assert gradient_notes(np.array([[[1e-300, -1e-300]]])) == ()
