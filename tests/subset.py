"""Arrays that know the declared subset of `layers.array` and nothing else, with sizes that behave as symbols.

Anything outside the subset fails by itself: a missing function or operator, a size that is subtracted or ordered.
"""

import numpy as np
import scipy.special

from vjproof.layers.array import SUBSET


class Size:
    """A size that supports + * // == and ** -0.5, as the symbolic size of a recorded array does."""

    def __init__(self, value):
        self._value = plain(value)

    def __add__(self, other):
        return Size(self._value + plain(other))

    def __mul__(self, other):
        return Size(self._value * plain(other))

    def __floordiv__(self, other):
        quotient, rest = divmod(self._value, plain(other))
        if rest:
            raise TypeError("a symbolic size divides exactly")
        return Size(quotient)

    def __rfloordiv__(self, other):
        return Size(other) // self

    def __pow__(self, exponent):
        if exponent != -0.5:
            raise TypeError("a symbolic size has only the power -0.5")
        return self._value**exponent

    def __eq__(self, other):
        return self._value == plain(other)

    def __hash__(self):
        return hash(self._value)

    __radd__, __rmul__ = __add__, __mul__


def plain(value):
    """Return the NumPy array, int or float inside `value`, which may be a tuple, list or slice of wrapped ones."""
    if isinstance(value, (tuple, list)):
        return type(value)(plain(item) for item in value)
    if isinstance(value, slice):
        return slice(plain(value.start), plain(value.stop), plain(value.step))
    return value._value if isinstance(value, (Size, SubsetArray)) else value


class SubsetArray:
    """A NumPy array behind the declared subset: + - * / with arrays and numbers, slices that start with `...`."""

    __array_ufunc__ = None

    def __init__(self, value):
        self._value = np.asarray(value)

    @property
    def shape(self):
        return tuple(Size(n) for n in self._value.shape)

    @property
    def ndim(self):
        return self._value.ndim

    @property
    def dtype(self):
        return self._value.dtype

    def __getitem__(self, key):
        if not (isinstance(key, tuple) and key[0] is ... and all(isinstance(part, slice) for part in key[1:])):
            raise TypeError("the subset slices trailing axes only")
        return SubsetArray(self._value[plain(key)])

    def __array_namespace__(self, api_version=None):
        return NAMESPACE

    def __add__(self, other):
        return SubsetArray(self._value + plain(other))

    def __sub__(self, other):
        return SubsetArray(self._value - plain(other))

    def __mul__(self, other):
        return SubsetArray(self._value * plain(other))

    def __truediv__(self, other):
        return SubsetArray(self._value / plain(other))

    def __rsub__(self, other):
        return SubsetArray(plain(other) - self._value)

    def __rtruediv__(self, other):
        return SubsetArray(plain(other) / self._value)

    __radd__, __rmul__ = __add__, __mul__


class Namespace:
    """The functions of the subset, and the two of `layers.array` that the standard lacks."""

    __name__ = "subset"

    def __init__(self):
        self.erfc, self.logistic = wrapped(scipy.special.erfc), wrapped(scipy.special.expit)

    def __getattr__(self, name):
        if name not in SUBSET:
            raise AttributeError(f"{name} is not in the declared subset")
        return wrapped(getattr(np, name))


def wrapped(function):
    """Return `function` on wrapped arrays."""

    def call(*args, **kwargs):
        return SubsetArray(function(*map(plain, args), **{name: plain(value) for name, value in kwargs.items()}))

    return call


NAMESPACE = Namespace()
