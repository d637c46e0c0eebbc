"""Linear maps that know their shapes: a pullback at its saved activations, together with its transpose.

A pullback x -> d_x is linear in the cotangent; its transpose is the pushforward (JVP). The reverse of a whole net
then reads as a product, last layer rightmost: `patch_embed_back @ tower_back @ head_back`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from vjproof.errors import VjproofError
from vjproof.layers.array import Array

Function = Callable[[Array], Array]
Shape = tuple[int, ...]


@dataclass(frozen=True)
class LinearMap:
    """The map `apply` from arrays of shape `domain` to `codomain`, and `transpose_apply` the other way."""

    domain: Shape
    codomain: Shape
    apply: Function
    transpose_apply: Function

    def __call__(self, d_y: Array) -> Array:
        """Return the image of d_y (domain) as an array of shape `codomain`; VjproofError for another shape."""
        if tuple(d_y.shape) != self.domain:
            raise VjproofError("linear map", expected=f"an array {self.domain}", got=str(tuple(d_y.shape)))
        return self.apply(d_y)

    @property
    def transpose(self) -> LinearMap:
        """The adjoint, codomain to domain: <A v, w> = <v, A^T w>."""
        return LinearMap(self.codomain, self.domain, self.transpose_apply, self.apply)

    def __matmul__(self, inner: LinearMap) -> LinearMap:
        """Compose: (A @ B)(v) = A(B(v)); VjproofError where the shapes do not meet."""
        if inner.codomain != self.domain:
            raise VjproofError("composition of linear maps", expected=str(self.domain), got=str(inner.codomain))
        return LinearMap(
            inner.domain,
            self.codomain,
            lambda v: self.apply(inner.apply(v)),
            lambda w: inner.transpose_apply(self.transpose_apply(w)),
        )

    def __add__(self, other: LinearMap) -> LinearMap:
        """Add two maps of the same shapes (fan-in); VjproofError where the shapes differ."""
        if (self.domain, self.codomain) != (other.domain, other.codomain):
            raise VjproofError(
                "sum of linear maps",
                expected=f"{self.domain} -> {self.codomain}",
                got=f"{other.domain} -> {other.codomain}",
            )
        return LinearMap(
            self.domain,
            self.codomain,
            lambda v: self.apply(v) + other.apply(v),
            lambda w: self.transpose_apply(w) + other.transpose_apply(w),
        )

    def residual(self) -> LinearMap:
        """Return v -> v + A v; VjproofError unless the map is square."""
        return identity(self.domain) + self

    def per_row(self, rows: int) -> LinearMap:
        """Return the map on each of `rows` rows, (rows, *domain) to (rows, *codomain).

        Layers act on trailing axes, so a further leading axis needs no loop.
        """
        return LinearMap((rows, *self.domain), (rows, *self.codomain), self.apply, self.transpose_apply)

    def batch_map(self, batch: int) -> LinearMap:
        """Return the map on each of `batch` examples; the same lift as `per_row`, at the batch axis."""
        return self.per_row(batch)

    def flat(self, dtype: Any = "float64") -> Any:
        """Return the map on flattened NumPy vectors as a `scipy.sparse.linalg.LinearOperator`."""
        import numpy as np
        from scipy.sparse.linalg import LinearOperator

        def along(function: Function, shape: Shape) -> Function:
            return lambda v: np.asarray(function(np.reshape(np.asarray(v, dtype), shape))).reshape(-1)

        return LinearOperator(
            (math.prod(self.codomain), math.prod(self.domain)),
            matvec=along(self.apply, self.domain),
            rmatvec=along(self.transpose_apply, self.codomain),
            dtype=np.dtype(dtype),
        )


def identity(shape: Shape) -> LinearMap:
    """Return the identity on arrays of `shape`."""
    return LinearMap(shape, shape, lambda v: v, lambda w: w)


def batch_map_aux(batch: int, family: Callable[[Any], LinearMap], aux: Any) -> LinearMap:
    """Return example b's own map family(aux[b]) at each of `batch` examples.

    `aux` holds the saved arrays of all examples with a leading batch axis, which the layers treat as independent
    examples; `family` is called once, on all of them, and must return the map of the batched shapes.
    """
    batched = family(aux)
    if batched.domain[:1] != (batch,) or batched.codomain[:1] != (batch,):
        raise VjproofError(
            "batch_map_aux", expected=f"maps with a leading axis {batch}",
            got=f"{batched.domain} -> {batched.codomain}",
        )  # fmt: skip
    return batched


def compose(*maps: LinearMap) -> LinearMap:
    """Return maps[0] @ maps[1] @ ...; at least one map."""
    total, *rest = maps
    for inner in rest:
        total = total @ inner
    return total
