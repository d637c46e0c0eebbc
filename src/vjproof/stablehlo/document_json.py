"""The plain data of a module as JSON, to hand it from the process that parses to the one that reads."""

from __future__ import annotations

import base64
import json
from typing import Any

from vjproof.stablehlo.module_document import Block, Dense, Function, Operation, TensorType


def functions_to_json(functions: dict[str, Function]) -> bytes:
    """Return the functions of a module as JSON."""
    return json.dumps([_function(function) for function in functions.values()], separators=(",", ":")).encode()


def functions_from_json(text: bytes) -> dict[str, Function]:
    """Return the functions that `functions_to_json` wrote."""
    functions = [
        Function(name, _block_from(block), labels, [_type_from(kind) for kind in results])
        for name, block, labels, results in json.loads(text)
    ]
    return {function.name: function for function in functions}


def _function(function: Function) -> list[Any]:
    return [function.name, _block(function.block), function.labels, [_type(kind) for kind in function.results]]


def _type(kind: TensorType) -> list[Any]:
    return [None if kind.shape is None else list(kind.shape), kind.element]


def _type_from(data: list[Any]) -> TensorType:
    shape, element = data
    return TensorType(None if shape is None else tuple(shape), element)


def _block(block: Block) -> list[Any]:
    return [block.arguments, [_type(kind) for kind in block.types], [_operation(one) for one in block.operations]]


def _block_from(data: list[Any]) -> Block:
    arguments, types, operations = data
    return Block(arguments, [_type_from(kind) for kind in types], [_operation_from(one) for one in operations])


def _operation(one: Operation) -> list[Any]:
    attributes = {name: _attribute(value) for name, value in one.attributes.items()}
    types, regions = [_type(kind) for kind in one.types], [_block(region) for region in one.regions]
    return [one.name, one.operands, one.results, types, attributes, regions, one.place]


def _operation_from(data: list[Any]) -> Operation:
    name, operands, results, types, attributes, regions, place = data
    values = {key: _attribute_from(value) for key, value in attributes.items()}
    kinds, blocks = [_type_from(kind) for kind in types], [_block_from(region) for region in regions]
    return Operation(name, operands, results, kinds, values, blocks, place)


def _attribute(value: Any) -> Any:
    if not isinstance(value, Dense):
        return value
    array = value.values
    text = base64.b64encode(array.tobytes()).decode()
    return {"dense": [_type(value.type), array.dtype.str, list(array.shape), text]}


def _attribute_from(value: Any) -> Any:
    if not isinstance(value, dict) or set(value) != {"dense"}:
        return value
    import numpy as np

    kind, number, shape, text = value["dense"]
    return Dense(_type_from(kind), np.frombuffer(base64.b64decode(text), dtype=np.dtype(number)).reshape(shape))
