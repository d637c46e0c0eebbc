"""The one comparison that the gradient tests use; a test that must turn red raises here."""

import numpy as np


def relative_error(got, want):
    """Return max |got - want| / max |want| (the plain maximum where want is 0), of arrays of any shape."""
    got, want = np.asarray(got), np.asarray(want)
    scale = np.max(np.abs(want), initial=0.0)
    return float(np.max(np.abs(got - want), initial=0.0) / (scale if scale > 0 else 1.0))


def assert_close(got, want, tolerance):
    """Return the relative error; AssertionError for other shapes, a value that is not finite, or a larger error."""
    got, want = np.asarray(got), np.asarray(want)
    if got.shape != want.shape:
        raise AssertionError(f"shape {got.shape}, expected {want.shape}")
    if not (np.all(np.isfinite(got)) and np.all(np.isfinite(want))):
        raise AssertionError("a value is not finite")
    error = relative_error(got, want)
    if not error <= tolerance:
        raise AssertionError(f"relative error {error:.3e} > {tolerance:.0e}")
    return error
