"""MLIR attributes, types and locations as plain data."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.stablehlo.limits import MOST_RANK, MOST_STATIC
from vjproof.stablehlo.module_document import FLOATS, INTEGERS, Dense, TensorType

_FILE = re.compile(r'"([^"\n]{0,300})":(\d+):\d+')
_ENUM = re.compile(r"^#\w+<\w+ (\w+)>$")
_NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?\d[\d.]*(?:[eE][-+]?\d+)?")
_DIMENSIONS = {
    "dot_dimension_numbers": (
        "DotDimensionNumbers",
        ("lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions",
         "rhs_contracting_dimensions"),
    ),
    "dimension_numbers": (
        "ConvDimensionNumbers",
        ("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions",
         "kernel_input_feature_dimension", "kernel_output_feature_dimension", "kernel_spatial_dimensions",
         "output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"),
    ),
    "gather": (
        "GatherDimensionNumbers",
        ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims",
         "start_index_map", "index_vector_dim"),
    ),
    "scatter_dimension_numbers": (
        "ScatterDimensionNumbers",
        ("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims",
         "scattered_dims_to_operand_dims", "index_vector_dim"),
    ),
}  # fmt: skip


def type_of(mlir_type: Any) -> TensorType:
    """Return a type as data; one that is no tensor of static shape has shape None."""
    from jaxlib.mlir import ir

    try:
        tensor = ir.RankedTensorType(mlir_type)
    except ValueError:
        return TensorType(None, excerpt(mlir_type, 40))
    if not tensor.has_static_shape or len(tensor.shape) > MOST_RANK:
        return TensorType(None, excerpt(mlir_type, 40))
    return TensorType(tuple(tensor.shape), str(tensor.element_type))


def place_of(location: Any) -> str:
    """Return where an operation stands: the source line that its location names, else the line of the text."""
    found = _FILE.search(str(location)[:20_000])
    if not found:
        return ""
    name, line = found.groups()
    return f"line {line}" if name == "-" else f"{re.split(r'[/]', name)[-1]}:{line}"


def attributes_of(operation: Any) -> dict[str, Any]:
    """Return an operation's attributes as data."""
    from jaxlib.mlir import ir

    attributes = {}
    for name in operation.attributes:
        attribute = operation.attributes[name]
        key = "gather" if name == "dimension_numbers" and operation.name.endswith("gather") else name
        if operation.name.startswith("stablehlo.") and key in _DIMENSIONS:
            from jaxlib.mlir.dialects import stablehlo

            kind, fields = _DIMENSIONS[key]
            numbers = getattr(stablehlo, kind)(attribute)
            attributes[name] = {field: _numbers(getattr(numbers, field)) for field in fields}
        else:
            attributes[name] = _plain(ir, attribute)
    return attributes


def _numbers(value: Any) -> Any:
    return value if isinstance(value, int) else list(value)


def _plain(ir: Any, attribute: Any) -> Any:
    if isinstance(attribute, ir.DenseElementsAttr | ir.DenseResourceElementsAttr):
        return dense_of(attribute)
    if isinstance(attribute, ir.IntegerAttr | ir.BoolAttr | ir.FloatAttr | ir.StringAttr | ir.FlatSymbolRefAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr | ir.DenseBoolArrayAttr | ir.DenseI32ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(ir, item) for item in attribute]
    text = excerpt(attribute, 200)
    found = _ENUM.match(text)
    return found.group(1) if found else text


def dense_of(attribute: Any) -> Any:
    """Return a constant's numbers; text where the element type has none that the reader knows."""
    import numpy as np
    from jaxlib.mlir import ir

    kind = type_of(attribute.type)
    if kind.shape is None or kind.element not in (*FLOATS, *INTEGERS):
        return excerpt(attribute, 80)
    number = np.float64 if kind.is_float else bool if kind.element == "i1" else np.int64
    if getattr(attribute, "is_splat", False):
        value = attribute.get_splat_value()
        unsigned = value.value if not kind.element.startswith("ui") else value.value % 2 ** int(kind.element[2:])
        return Dense(kind, np.asarray(unsigned, dtype=number))
    if prod(kind.shape) > MOST_STATIC * 4:
        raise VjproofError(f"a constant {kind}", expected=f"at most {MOST_STATIC * 4} elements")
    if kind.element == "bf16":
        return Dense(kind, _brain_floats(str(attribute), kind))
    if isinstance(attribute, ir.DenseResourceElementsAttr) or kind.element in ("i2", "i4", "ui2", "ui4"):
        return excerpt(attribute, 80)
    return Dense(kind, np.array(attribute).astype(number).reshape(kind.shape))


def _brain_floats(text: str, kind: TensorType) -> Any:
    """Read bfloat16 numbers from the printed attribute, for which the bindings have no buffer."""
    import numpy as np

    body = text.partition("<")[2].rpartition(">")[0].rpartition(">")[0]
    if body.startswith('"0x'):
        bits = np.frombuffer(bytes.fromhex(body.strip('"')[2:]), dtype="<u2")
    else:
        words = _NUMBER.findall(body)
        floats = np.array([0.0 if word.startswith("0x") else float(word) for word in words], dtype=np.float32)
        raw = floats.view(np.uint32)
        bits = (raw + 0x7FFF + ((raw >> 16) & 1)) >> 16  # to nearest, ties to even
        for place, word in enumerate(words):
            if word.startswith("0x"):
                bits[place] = int(word, 16)
    return (bits.astype(np.uint32) << 16).view(np.float32).astype(np.float64).reshape(kind.shape)
