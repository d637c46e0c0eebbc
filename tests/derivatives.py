"""Dense Jacobians for tests: by complex step, and column by column of a linear map."""

import numpy as np

STEP = 1e-30  # far below rounding: the complex step has no cancellation


def complex_step(function, x):
    """Return the Jacobian (size out, size in) of an analytic `function` at the real array x."""
    x = np.asarray(x, np.complex128)
    columns = []
    for index in np.ndindex(x.shape):
        moved = x.copy()
        moved[index] += 1j * STEP
        columns.append(np.imag(np.asarray(function(moved))).ravel() / STEP)
    return np.stack(columns, axis=1)


def matrix(linear, shape):
    """Return the matrix (size out, size in) of the linear map `linear` on real arrays of `shape`."""
    columns = []
    for index in np.ndindex(*shape):
        unit = np.zeros(shape)
        unit[index] = 1.0
        columns.append(np.asarray(linear(unit)).ravel())
    return np.stack(columns, axis=1)
