"""Claims about anybody's own functions: recorded on symbolic shapes, proved or refuted as they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from vjproof.errors import VjproofError, excerpt
from vjproof.program.axes import format_shape
from vjproof.program.recorded import RecordedArray
from vjproof.program.recorder import Tape
from vjproof.prover.claim import Pair, prove_claim, readings
from vjproof.prover.result import Result

Array: TypeAlias = Any
Shapes: TypeAlias = Mapping[str, Sequence[Any]]


def prove_vjp(
    forward: Callable[..., Any],
    reverse: Callable[..., Any],
    shapes: Shapes,
    *,
    wrt: str | Sequence[str] | None = None,
    cotangent: str = "d_y",
    positive: Sequence[str] = (),
    axes: Mapping[str, int | None] | None = None,
) -> Result:
    """Return whether reverse(d_y, *inputs) is the vector-Jacobian product of forward(*inputs), for all sizes and reals.

    `shapes` maps each input's name, in the order of the arguments, to its axes: texts such as ("B", "n"), () for a
    number; equal names are equal sizes. `forward` returns an array, or a tuple of arrays, and d_y is shaped as that.
    `reverse` returns the gradient with respect to the input `wrt` (None: the first), shaped as it; a tuple of
    gradients where `wrt` is a sequence of names. `cotangent` is the name of d_y (of several: d_y_0, d_y_1 ...).
    Inputs in `positive` are > 0 in every entry by hypothesis; `axes` fixes sizes, as {"n": 4}. Both functions get
    recorded arrays: they compute with operators and with functions of the Array API namespace of their arguments.
    Formula: d_x[i] = sum_j d_y[j] d forward(x)[j] / d x[i]. VjproofError for a name that is unknown or taken,
    results of other shapes or number, or code that no program can state.
    """
    _require(shapes)
    names = _inputs_named("wrt", list(shapes)[:1] if wrt is None else wrt, shapes)
    hypotheses = _inputs_named("positive", positive, shapes) if positive else ()
    first, second = Tape(axes), Tape(axes)
    result = forward(*_declared(first, shapes))
    outputs = _arrays("forward", result)
    several = isinstance(result, tuple | list)
    labels = [f"{cotangent}_{place}" for place in range(len(outputs))] if several else [cotangent]
    inputs = _declared(second, shapes)
    d_y = tuple(second.input(name, output.axes) for name, output in zip(labels, outputs, strict=True))
    gradients = _arrays("reverse", reverse(d_y if several else d_y[0], *inputs))
    if len(gradients) != len(names):
        raise VjproofError(
            "reverse", expected=f"a gradient for each of {', '.join(names)}", got=f"{len(gradients)} arrays"
        )
    for name, gradient in zip(names, gradients, strict=True):
        _same_shape(f"reverse, gradient of {name}", inputs[list(shapes).index(name)], gradient)
    pair = Pair(
        first.program(outputs), second.program(gradients), wrt=names, cotangents=tuple(labels), positive=hypotheses,
        notes=readings(first, second),
    )  # fmt: skip
    return _answer(pair)


def prove_equal(
    left: Callable[..., Any],
    right: Callable[..., Any],
    shapes: Shapes,
    *,
    positive: Sequence[str] = (),
    axes: Mapping[str, int | None] | None = None,
) -> Result:
    """Return whether left(*inputs) equals right(*inputs), for all sizes and all reals where both are defined.

    Arguments as for `prove_vjp`; both functions return an array, or a tuple of arrays. VjproofError likewise.
    """
    _require(shapes)
    hypotheses = _inputs_named("positive", positive, shapes) if positive else ()
    first, second = Tape(axes), Tape(axes)
    ours = _arrays("left", left(*_declared(first, shapes)))
    theirs = _arrays("right", right(*_declared(second, shapes)))
    if len(ours) != len(theirs):
        raise VjproofError("right", expected=f"{len(ours)} arrays, as left returns", got=str(len(theirs)))
    for place, (here, there) in enumerate(zip(ours, theirs, strict=True)):
        _same_shape(f"right, output {place}", here, there)
    notes = readings(first, second)
    return _answer(Pair(first.program(ours), second.program(theirs), positive=hypotheses, notes=notes))


def _answer(pair: Pair) -> Result:
    return replace(prove_claim(pair), programs=(pair.forward, pair.second))


def _require(shapes: Shapes) -> None:
    if not isinstance(shapes, Mapping) or not shapes:
        example = '{"x": ("B", "n")}'
        raise VjproofError(
            "shapes", expected=f"the axes of each input, such as {example}", got=excerpt(repr(shapes), 60)
        )


def _declared(tape: Tape, shapes: Shapes) -> list[Array]:
    return [tape.input(name, (shape,) if isinstance(shape, str) else shape) for name, shape in shapes.items()]


def _inputs_named(where: str, given: str | Sequence[str], shapes: Shapes) -> tuple[str, ...]:
    """Return names as a tuple; VjproofError where one is no input or comes twice, or there is none."""
    names = (given,) if isinstance(given, str) else tuple(given)
    known = ", ".join(shapes)
    for name in names:
        if name not in shapes or names.count(name) > 1:
            raise VjproofError(
                where, expected=f"names among {excerpt(known, 200)}, each once", got=excerpt(repr(name), 40)
            )
    if not names:
        raise VjproofError(where, expected=f"one or more of {excerpt(known, 200)}", got="none")
    return names


def _arrays(where: str, result: Any) -> list[RecordedArray]:
    """Return what a function returned as a list of recorded arrays."""
    arrays = list(result) if isinstance(result, tuple | list) else [result]
    for array in arrays:
        if not isinstance(array, RecordedArray):
            expected = "an array that it computed from its arguments, or a tuple of them"
            raise VjproofError(where, expected=expected, got=excerpt(repr(array)))
    return arrays


def _same_shape(where: str, wanted: RecordedArray, got: RecordedArray) -> None:
    if wanted.axes != got.axes:
        raise VjproofError(where, expected=f"shape {format_shape(wanted.axes)}", got=format_shape(got.axes))
