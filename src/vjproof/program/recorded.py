"""Recorded arrays: what layer code computes with while a tape writes down what it does."""

from __future__ import annotations

import math
from fractions import Fraction
from numbers import Rational
from typing import TYPE_CHECKING, Any

from vjproof.errors import VjproofError, excerpt
from vjproof.program.size import Size

if TYPE_CHECKING:
    from vjproof.program.recorder import Tape

MOST = 64  # the kernel takes exponents with numerator and denominator up to this
_UFUNCS = {"add": "add", "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div"}


class NotRecordableError(VjproofError, AttributeError):
    """Code did something that a program cannot say; an AttributeError too, so that `hasattr` answers."""


def refusal(what: str, why: str, remedy: str = "") -> NotRecordableError:
    """Return the error for code that cannot be recorded: what it did, why no program says that, what to do."""
    return NotRecordableError(
        f"{what} is not recordable", expected=f"code that a program can state: {why}", remedy=remedy
    )


def _exponent(value: Any) -> Fraction:
    """Return the exponent as the kernel takes it: a whole number or a small fraction, not 0, a float exactly."""
    number = isinstance(value, Rational | float) and not isinstance(value, bool) and math.isfinite(value)
    exponent = Fraction(value) if number else Fraction(0)
    if not exponent or abs(exponent) > MOST or exponent.denominator > MOST:
        raise refusal(
            f"x ** {excerpt(repr(value), 40)}", f"exponents are fractions of numbers up to {MOST}, and not 0",
            "write x ** 2, x ** -0.5 or x ** Fraction(1, 3)",
        )  # fmt: skip
    return exponent


class RecordedArray:
    """One value on a tape: `axes` is its shape in the kernel's form, `shape` the same as Sizes.

    Takes + - * / with recorded arrays, Python numbers and Sizes, ** with a small rational, unary minus, @, and slices
    on part boundaries.
    """

    __slots__ = ("axes", "name", "tape")

    def __init__(self, tape: Tape, name: str, axes: tuple[Any, ...]) -> None:
        self.tape, self.name, self.axes = tape, name, axes

    @property
    def shape(self) -> tuple[Size, ...]:
        """The size of each axis."""
        return tuple(Size(axis) for axis in self.axes)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.axes)

    @property
    def dtype(self) -> str:
        """A token; a program speaks of real numbers."""
        return "real"

    def __repr__(self) -> str:
        return f"RecordedArray({self.name}: {', '.join(map(repr, self.shape))})"

    def __array_namespace__(self, *, api_version: str | None = None) -> Any:
        return self.tape.namespace

    def __add__(self, other: Any) -> RecordedArray:
        return self.tape.binary("add", self, other)

    def __radd__(self, other: Any) -> RecordedArray:
        return self.tape.binary("add", other, self)

    def __sub__(self, other: Any) -> RecordedArray:
        return self.tape.binary("sub", self, other)

    def __rsub__(self, other: Any) -> RecordedArray:
        return self.tape.binary("sub", other, self)

    def __mul__(self, other: Any) -> RecordedArray:
        return self.tape.binary("mul", self, other)

    def __rmul__(self, other: Any) -> RecordedArray:
        return self.tape.binary("mul", other, self)

    def __truediv__(self, other: Any) -> RecordedArray:
        return self.tape.binary("div", self, other)

    def __rtruediv__(self, other: Any) -> RecordedArray:
        return self.tape.binary("div", other, self)

    def __neg__(self) -> RecordedArray:
        return self.tape.line("neg", [self])

    def __pos__(self) -> RecordedArray:
        return self

    def __matmul__(self, other: Any) -> RecordedArray:
        result: RecordedArray = self.tape.namespace.matmul(self, other)
        return result

    def __rmatmul__(self, other: Any) -> RecordedArray:
        result: RecordedArray = self.tape.namespace.matmul(other, self)
        return result

    def __getitem__(self, key: Any) -> RecordedArray:
        from vjproof.program.shaping import take_slices

        return take_slices(self, key)

    def __array_ufunc__(self, ufunc: Any, method: str, *operands: Any, **options: Any) -> RecordedArray:
        if method == "__call__" and not options and ufunc.__name__ in _UFUNCS:
            return self.tape.binary(_UFUNCS[ufunc.__name__], *operands)
        raise refusal(f"numpy.{ufunc.__name__}", "NumPy computes numbers", "use array_namespace(x)")

    def __array_function__(self, function: Any, *_: Any) -> Any:
        raise refusal(f"numpy.{function.__name__}", "NumPy computes numbers", "use array_namespace(x)")

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise refusal("conversion to a NumPy array", "a recorded array holds no numbers")

    def __getattr__(self, name: str) -> Any:
        raise refusal(f"x.{name}", "methods of arrays are outside the declared subset", "see layers.array.SUBSET")

    def __bool__(self) -> bool:
        raise refusal("a condition on an array", "a program has no branches")

    def _is_no_number(self) -> Any:
        raise refusal("conversion to a Python number", "a recorded array holds no numbers")

    __float__ = __int__ = __index__ = __complex__ = _is_no_number

    def _is_not_compared(self, _: Any) -> Any:
        raise refusal("a comparison of arrays", "a program has no branches")

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _is_not_compared
    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Any:
        raise refusal("iteration over an array", "its length is a symbol", "let leading axes stand for the loop")

    def __len__(self) -> int:
        raise refusal("len() of an array", "its length is a symbol", "use x.shape")

    def __contains__(self, _: Any) -> bool:
        raise refusal("`in` of an array", "a program has no branches")

    def __setitem__(self, _: Any, __: Any) -> None:
        raise refusal("assignment into an array", "a program defines each value once", "use concat")

    def __pow__(self, exponent: Any) -> RecordedArray:
        value = _exponent(exponent)
        return self if value == 1 else self.tape.line("power", [self], {"exponent": str(value)})

    def __rpow__(self, base: Any) -> Any:
        raise refusal(f"{base!r} ** x", "exponents are numbers", "write xp.exp(x * c)")

    def __abs__(self) -> Any:
        raise refusal("abs(x)", "no rule differentiates it where x is 0")
