"""bfloat16 products for the layers' own lines: arrays whose namespace rounds the operands of `matmul`, nothing else.

Sums inside a product, and everything outside products (norms, softmax, GELU, the residual stream), are float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from vjproof.layers import array
from vjproof.vit.params import Array

Product = Callable[[Array, Array], Array]


class MixedArray:
    """An array of a library, `value`, with that library's operators, and the namespace of `MixedNamespace`."""

    def __init__(self, value: Array, product: Product) -> None:
        self.value, self.product = value, product

    def __array_namespace__(self, api_version: str | None = None) -> MixedNamespace:
        return _namespace(array.namespace(self.value), self.product)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape."""
        return tuple(self.value.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.value.ndim)

    @property
    def dtype(self) -> Any:
        """The dtype outside products."""
        return self.value.dtype

    def __getitem__(self, place: Any) -> MixedArray:
        return MixedArray(self.value[place], self.product)

    def __neg__(self) -> MixedArray:
        return MixedArray(-self.value, self.product)

    def __add__(self, other: Any) -> MixedArray:
        return MixedArray(self.value + bare(other), self.product)

    def __sub__(self, other: Any) -> MixedArray:
        return MixedArray(self.value - bare(other), self.product)

    def __rsub__(self, other: Any) -> MixedArray:
        return MixedArray(bare(other) - self.value, self.product)

    def __mul__(self, other: Any) -> MixedArray:
        return MixedArray(self.value * bare(other), self.product)

    def __truediv__(self, other: Any) -> MixedArray:
        return MixedArray(self.value / bare(other), self.product)

    def __rtruediv__(self, other: Any) -> MixedArray:
        return MixedArray(bare(other) / self.value, self.product)

    __radd__, __rmul__ = __add__, __mul__


class MixedNamespace:
    """The functions of the declared subset on mixed arrays; `matmul` is the given product."""

    __name__ = "vjproof.mixed"

    def __init__(self, library: Any, product: Product) -> None:
        self._library, self._product = library, product

    def __getattr__(self, name: str) -> Callable[..., MixedArray]:
        if name in array.SUBSET:
            function = getattr(self._library, name)
        elif name in ("erf", "erfc", "logistic"):
            function = getattr(array, name)
        else:
            raise AttributeError(f"{name} is outside the layers' declared subset")

        def mixed(*arguments: Any, **choices: Any) -> MixedArray:
            return MixedArray(function(*map(bare, arguments), **choices), self._product)

        return mixed

    def matmul(self, x: MixedArray, y: MixedArray) -> MixedArray:
        """Return the product of x (..., m, k) and y (..., k, n), its operands rounded."""
        return MixedArray(self._product(x.value, y.value), self._product)


@cache
def _namespace(library: Any, product: Product) -> MixedNamespace:
    return MixedNamespace(library, product)


def bare(value: Any) -> Any:
    """Return the array inside a mixed array, also in lists and tuples; anything else as it is."""
    if isinstance(value, MixedArray):
        return value.value
    if isinstance(value, list | tuple):
        return type(value)(map(bare, value))
    return value
