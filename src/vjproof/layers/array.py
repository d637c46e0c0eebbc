"""The declared subset of the Array API standard that layers may use, and three functions it lacks.

Layers may call, on the namespace of their arguments: `exp`, `sqrt`, `sum`, `mean`, `max`, `matmul`, `reshape`,
`permute_dims`, `matrix_transpose`, `concat`, `broadcast_to`, `zeros`; the operators + - * /; slices with `...`;
and `erf`, `erfc` and `logistic` of this module. A size may be a symbol, known to + * // == and to size ** -0.5
alone, so sizes are never subtracted or ordered; an array may be divided by a size.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from array_api_compat import array_namespace

Array: TypeAlias = Any
Size: TypeAlias = Any  # an int, or the symbolic size of a recorded array

SUBSET = frozenset({
    "broadcast_to", "concat", "exp", "matmul", "matrix_transpose", "max", "mean", "permute_dims", "reshape",
    "sqrt", "sum", "zeros",
})  # fmt: skip


def namespace(*arrays: Array) -> Any:
    """Return the Array API namespace of `arrays` (None is skipped); TypeError where they do not share one."""
    return array_namespace(*(array for array in arrays if array is not None))


def erf(x: Array) -> Array:
    """Return the error function of x; any shape, dtype kept."""
    return _special(x, "erf", "erf")


def erfc(x: Array) -> Array:
    """Return 1 - erf(x), accurate in both tails; any shape, dtype kept."""
    return _special(x, "erfc", "erfc")


def logistic(x: Array) -> Array:
    """Return 1 / (1 + exp(-x)), without overflow; any shape, dtype kept."""
    return _special(x, "logistic", "expit")


def _special(x: Array, name: str, scipy_name: str) -> Array:
    xp = namespace(x)
    family = xp.__name__.partition(".")[2] if xp.__name__.startswith("array_api_compat.") else xp.__name__
    root = family.partition(".")[0]
    if root == "numpy":
        import scipy.special

        return getattr(scipy.special, scipy_name)(x).astype(x.dtype)  # SciPy widens float16
    if root == "jax":
        import jax.lax

        return getattr(jax.lax, name)(x)
    if root == "torch":
        import torch

        return getattr(torch.special, scipy_name)(x)
    if root == "cupy":
        import cupyx.scipy.special

        return getattr(cupyx.scipy.special, scipy_name)(x)
    if hasattr(xp, name):
        return getattr(xp, name)(x)
    import numpy
    import scipy.special

    return xp.asarray(getattr(scipy.special, scipy_name)(numpy.from_dlpack(x)), dtype=x.dtype)


def zeros(x: Array, shape: tuple[Size, ...]) -> Array:
    """Return zeros of `shape` with the dtype of `x`, on its device."""
    xp = namespace(x)
    # Other libraries move an uncommitted array to its neighbours; PyTorch refuses to mix devices.
    where = {"device": x.device} if xp.__name__.endswith("torch") else {}
    return xp.zeros(shape, dtype=x.dtype, **where)


def permute_trailing(x: Array, order: tuple[int, ...]) -> Array:
    """Return `x` with its last len(order) axes permuted by `order`; leading axes stay."""
    lead = x.ndim - len(order)
    axes = (*range(lead), *(lead + axis for axis in order))
    return namespace(x).permute_dims(x, axes)


def reshape_trailing(x: Array, count: int, sizes: tuple[Size, ...]) -> Array:
    """Return `x` with its last `count` axes replaced by axes of `sizes` (row-major); leading axes stay."""
    return namespace(x).reshape(x, (*x.shape[: x.ndim - count], *sizes))
