"""Run a program on numbers: NumPy, JAX and PyTorch arrays, or NumPy arrays of objects such as fractions or balls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.kernel.program import Operation, Program, parts_of
from vjproof.layers.array import Array, namespace
from vjproof.program.arithmetic import Arithmetic, Constant, ObjectArithmetic
from vjproof.program.axis_sizes import AxisSizes

Symbols = Mapping[str, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]]


def run(
    program: Program,
    inputs: Mapping[str, Array],
    sizes: Mapping[str, int] | None = None,
    symbols: Symbols | None = None,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    constant: Constant | None = None,
) -> list[Array]:
    """Return the outputs of `program` on `inputs`, by name, freeing values early; arguments and errors as `run_all`."""
    lines = program.operations.values()
    last = {name: op.name for op in lines for name in (op.name, *op.arguments)}
    kept = set(program.outputs)

    def free(op: Operation, values: dict[str, Array]) -> None:
        for name in {op.name, *op.arguments} - kept:
            if last[name] == op.name:
                del values[name]

    values = _values(program, inputs, sizes, symbols, functions, constant, free)
    return [values[name] for name in program.outputs]


def run_all(
    program: Program,
    inputs: Mapping[str, Array],
    sizes: Mapping[str, int] | None = None,
    symbols: Symbols | None = None,
    *,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    constant: Constant | None = None,
) -> dict[str, Array]:
    """Return every value of `program` on `inputs`, by name.

    Inputs are arrays of one library, shaped as the program says; `sizes` gives atomic axes that their shapes leave
    open; `symbols` gives (f, f_back) of each opaque function: f(x), f_back(x, d_y), leading axes independent.
    For arrays of objects `functions` gives exp, erf, erfc, tanh, logistic, power(x, Fraction) and max(x, y) of one
    element as far as needed, and may give matmul(x, y) of two matrices; `constant(rational, powers)` gives an element
    from an exact constant, a Fraction times base ** exponent, a base being "pi" or a positive integer as text.
    VjproofError where anything does not fit.
    """
    return _values(program, inputs, sizes, symbols, functions, constant, lambda _op, _values: None)


def _values(
    program: Program,
    inputs: Mapping[str, Array],
    sizes: Mapping[str, int] | None,
    symbols: Symbols | None,
    functions: Mapping[str, Callable[..., Any]] | None,
    constant: Constant | None,
    after: Callable[[Operation, dict[str, Array]], None],
) -> dict[str, Array]:
    if set(inputs) != set(program.inputs):
        raise VjproofError("inputs", expected=excerpt(sorted(program.inputs)), got=excerpt(sorted(inputs)))
    arrays = list(inputs.values())
    if not arrays:
        import numpy

        arrays = [numpy.zeros(())]
    try:
        xp = namespace(*arrays)
    except TypeError as error:
        raise VjproofError("inputs", expected="arrays of one library", got=excerpt(error)) from None
    axis_sizes = AxisSizes(program, {name: tuple(array.shape) for name, array in inputs.items()}, sizes or {})
    is_object = any(str(array.dtype) == "object" for array in arrays)
    arithmetic = ObjectArithmetic(functions or {}, constant) if is_object else Arithmetic(xp, arrays[0])
    values: dict[str, Array] = {}
    for name, op in program.operations.items():
        arguments = [values[argument] for argument in op.arguments]
        if op.kind == "input":
            values[name] = inputs[name]
        elif op.kind in ("call", "call_back"):
            values[name] = _called(op, arguments, symbols or {}, axis_sizes)
        else:
            shapes = [program.shape(argument) for argument in op.arguments]
            values[name] = evaluate_operation(op, arguments, shapes, axis_sizes, arithmetic)
        after(op, values)
    return values


def _called(op: Operation, arguments: list[Array], symbols: Symbols, sizes: AxisSizes) -> Array:
    symbol = op.attributes["symbol"]
    if symbol not in symbols:
        raise VjproofError(f"symbol {excerpt(symbol, 40)}", expected="a pair (f, f_back)", got="none",
                           remedy="pass symbols={name: (f, f_back)}")  # fmt: skip
    result = symbols[symbol][op.kind == "call_back"](*arguments)
    if tuple(result.shape) != sizes.shape(op.shape):
        shape = sizes.shape(op.shape)
        raise VjproofError(f"symbol {symbol}", expected=f"an array {shape}", got=str(tuple(result.shape)))
    return result


def evaluate_operation(
    op: Operation, arguments: list[Array], shapes: Sequence[tuple[Any, ...]], sizes: AxisSizes, a: Arithmetic
) -> Array:
    """Return the value of one line, no input or call, from those of its arguments, whose axes are `shapes`."""
    kind, attributes, shape = op.kind, op.attributes, sizes.shape(op.shape)
    if kind == "const":
        rational, powers = attributes["value"]
        return a.constant(Fraction(rational), {base: Fraction(exponent) for base, exponent in powers.items()})
    if kind == "size":
        return a.size(sizes.count(_frozen(attributes["axis"])), Fraction(attributes["exponent"]))
    if kind == "power":
        return a.power(arguments[0], Fraction(attributes["exponent"]))
    if kind in ("add", "sub", "mul", "div", "neg"):
        return a.operate(kind, *arguments)
    if kind in ("exp", "erf", "erfc", "tanh", "logistic"):
        return a.function(kind, arguments[0])
    if kind in ("sum", "max"):
        return a.reduce(kind, arguments[0], tuple(attributes["axes"])) if attributes["axes"] else arguments[0]
    if kind == "dot":
        left, right = arguments
        return a.dot(left, right, (attributes["batch"], attributes["contract"]), shape)
    xp = a.xp
    if kind == "transpose":
        return xp.permute_dims(arguments[0], tuple(attributes["order"]))
    if kind == "reshape":
        return xp.reshape(arguments[0], shape)
    if kind == "concat":
        return xp.concat(arguments, axis=attributes["axis"])
    if kind == "broadcast":
        places = attributes["places"]
        order = sorted(range(len(places)), key=places.__getitem__)
        ordered = xp.permute_dims(arguments[0], tuple(order)) if order else arguments[0]
        unit = tuple(size if place in places else 1 for place, size in enumerate(shape))
        return xp.broadcast_to(xp.reshape(ordered, unit), shape)
    if kind == "slice":
        at, parts = attributes["axis"], parts_of(shapes[0][attributes["axis"]])
        start, stop = (sum(map(sizes.count, parts[: attributes[bound]])) for bound in ("start", "stop"))
        return arguments[0][(*[slice(None)] * at, slice(start, stop), ...)]
    raise VjproofError(f"operation {excerpt(kind, 40)}", expected="an operation of kernel.program")


def _frozen(axis: Any) -> tuple[Any, ...]:
    return tuple(factor if isinstance(factor, str) else tuple(_frozen(part) for part in factor) for factor in axis)
