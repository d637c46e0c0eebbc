"""The Array API namespace of recorded arrays: `layers.array.SUBSET`, and erf, erfc, logistic, tanh; nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vjproof.errors import VjproofError
from vjproof.program import shaping
from vjproof.program.axes import axis_data, format_shape
from vjproof.program.recorded import RecordedArray, refusal

if TYPE_CHECKING:
    from vjproof.program.recorder import Tape


class Namespace:
    """Functions that write their line on one tape; arguments as in the Array API standard."""

    __name__ = "vjproof.program"

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def __getattr__(self, name: str) -> Any:
        raise refusal(f"xp.{name}", "the function is outside the declared subset", "see layers.array.SUBSET")

    def exp(self, x: RecordedArray, /) -> RecordedArray:
        """Return e ** x: any shape."""
        return self._tape.line("exp", [x])

    def erf(self, x: RecordedArray, /) -> RecordedArray:
        """Return erf(x): any shape."""
        return self._tape.line("erf", [x])

    def erfc(self, x: RecordedArray, /) -> RecordedArray:
        """Return 1 - erf(x): any shape."""
        return self._tape.line("erfc", [x])

    def tanh(self, x: RecordedArray, /) -> RecordedArray:
        """Return tanh(x): any shape."""
        return self._tape.line("tanh", [x])

    def logistic(self, x: RecordedArray, /) -> RecordedArray:
        """Return 1 / (1 + exp(-x)): any shape."""
        return self._tape.line("logistic", [x])

    def sqrt(self, x: RecordedArray, /) -> RecordedArray:
        """Return x ** (1/2): any shape."""
        return self._tape.line("power", [x], {"exponent": "1/2"})

    def sum(self, x: RecordedArray, /, *, axis: Any = None, keepdims: bool = False) -> RecordedArray:
        """Return the sum over `axis`, an int or ints (None: all)."""
        return self._kept(self._reduced("sum", x, axis), x, axis, keepdims)

    def max(self, x: RecordedArray, /, *, axis: Any = None, keepdims: bool = False) -> RecordedArray:
        """Return the maximum over `axis`, an int or ints (None: all)."""
        return self._kept(self._reduced("max", x, axis), x, axis, keepdims)

    def mean(self, x: RecordedArray, /, *, axis: Any = None, keepdims: bool = False) -> RecordedArray:
        """Return the sum over `axis` times the number of its elements to the -1."""
        counted = tuple(factor for place in shaping.places_of(axis, x.ndim) for factor in x.axes[place])
        scale = self._tape.line("size", [], {"axis": axis_data(counted), "exponent": "-1"})
        return self._kept(self._reduced("sum", x, axis) * scale, x, axis, keepdims)

    def _reduced(self, kind: str, x: RecordedArray, axis: Any) -> RecordedArray:
        places = shaping.places_of(axis, x.ndim)
        return self._tape.line(kind, [x], {"axes": places}) if places else x

    def _kept(self, y: RecordedArray, x: RecordedArray, axis: Any, keepdims: bool) -> RecordedArray:
        places = shaping.places_of(axis, x.ndim)
        return shaping.reshape(y, tuple(() if p in places else a for p, a in enumerate(x.axes))) if keepdims else y

    def reshape(self, x: RecordedArray, /, shape: Any) -> RecordedArray:
        """Return x with the factors of its axes grouped anew, row-major."""
        return shaping.reshape(x, shaping.shape_from(shape))

    def broadcast_to(self, x: RecordedArray, /, shape: Any) -> RecordedArray:
        """Return x repeated along new leading axes and along its unit axes."""
        return shaping.broadcast_to(x, shaping.shape_from(shape))

    def permute_dims(self, x: RecordedArray, /, axes: Sequence[int]) -> RecordedArray:
        """Return x with axis axes[i] at place i."""
        return shaping.permute(x, axes)

    def matrix_transpose(self, x: RecordedArray, /) -> RecordedArray:
        """Return x (..., m, n) as (..., n, m)."""
        if x.ndim < 2:
            raise VjproofError("matrix_transpose", expected="two axes or more", got=format_shape(x.axes))
        return shaping.permute(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))

    def zeros(self, shape: Any, *, dtype: Any = None) -> RecordedArray:  # noqa: ARG002
        """Return zeros of `shape`."""
        return shaping.broadcast_to(self._tape.constant(0), shaping.shape_from(shape))

    def concat(self, arrays: Sequence[RecordedArray], /, *, axis: int = 0) -> RecordedArray:
        """Return the arrays one after another along `axis`, which becomes the union of their axes."""
        arrays = list(arrays)
        if not arrays or not all(isinstance(array, RecordedArray) for array in arrays):
            raise VjproofError("concat", expected="recorded arrays, at least one", got=repr(arrays)[:60])
        (place,) = shaping.places_of(axis, arrays[0].ndim)
        if len(arrays) == 1:
            return arrays[0]
        if len({(*a.axes[:place], *a.axes[place + 1 :], len(a.axes)) for a in arrays}) > 1:
            shapes = " and ".join(format_shape(array.axes) for array in arrays)
            raise VjproofError("concat", expected=f"the same axes but at place {place}", got=shapes)
        return self._tape.line("concat", arrays, {"axis": place})

    def matmul(self, x: RecordedArray, y: RecordedArray, /) -> RecordedArray:
        """Return x y, x (..., m, k) or (k,) and y (..., k, n) or (k,); leading axes broadcast."""
        for operand in (x, y):
            if not isinstance(operand, RecordedArray) or operand.ndim == 0:
                raise VjproofError("matmul", expected="recorded arrays with one axis or more", got=repr(operand)[:60])
        columns, rows = x.axes[-1], y.axes[max(y.ndim - 2, 0)]
        if columns != rows:
            raise VjproofError(
                "matmul", expected="the same axis to sum over", got=f"{format_shape(x.axes)} @ {format_shape(y.axes)}"
            )
        lead = shaping.common_shape(x.axes[:-2], y.axes[:-2])
        x, ours = _labelled(x, lead, ["row", "sum"][-min(x.ndim, 2) :])
        y, theirs = _labelled(y, lead, ["sum", "column"][: min(y.ndim, 2)])
        shared = [label for label in ours if label in theirs and label != "sum"]
        places = {
            "batch": [[ours.index(label) for label in shared], [theirs.index(label) for label in shared]],
            "contract": [[ours.index("sum")], [theirs.index("sum")]],
        }
        free = [label for label in (*ours, *theirs) if label not in (*shared, "sum")]
        result = self._tape.line("dot", [x, y], places)
        order = {"row": len(lead), "column": len(lead) + 1}
        labels = [order.get(label, label) if isinstance(label, str) else label for label in (*shared, *free)]
        return shaping.permute(result, sorted(range(len(labels)), key=labels.__getitem__))


def _labelled(x: RecordedArray, lead: tuple[Any, ...], matrix: list[str]) -> tuple[RecordedArray, list[int | str]]:
    """Drop the leading unit axes that broadcasting repeats; name each axis left by its place in `lead`."""
    count = x.ndim - len(matrix)
    offset = len(lead) - count
    kept = [place for place in range(count) if x.axes[place] == lead[offset + place]]
    bare = shaping.reshape(x, (*(x.axes[place] for place in kept), *x.axes[count:]))
    return bare, [*(offset + place for place in kept), *matrix]
