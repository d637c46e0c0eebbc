"""Parsing: StableHLO text, bytecode or portable artifact to plain data, by jaxlib's MLIR bindings."""

from __future__ import annotations

from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.stablehlo.limits import BYTECODE, MOST_OPERATIONS
from vjproof.stablehlo.mlir_attributes import attributes_of, place_of, type_of
from vjproof.stablehlo.module_document import Block, Function, Operation

WHERE = "StableHLO module"
DEEPEST_REGIONS = 64


def parse_module(text: bytes, where: str = WHERE) -> dict[str, Function]:
    """Return the functions of a module by name; VjproofError where it does not parse.

    Run on text that `limits.require_sane` has passed, and in a process of its own: see `isolated`.
    """
    from jaxlib.mlir import ir

    context = _context()
    try:
        with context:
            return _Reader().module(_parsed(context, text))
    except ir.MLIRError as error:
        raise VjproofError(where, expected="a StableHLO module that parses", got=_first_line(error)) from None


def _context() -> Any:
    from jaxlib.mlir import ir
    from jaxlib.mlir._mlir_libs import _jax_mlir_ext
    from jaxlib.mlir.dialects import chlo, sdy, stablehlo

    registry, context = ir.DialectRegistry(), ir.Context()
    _jax_mlir_ext.register_dialects(registry)
    context.append_dialect_registry(registry)
    for dialect in (stablehlo, chlo, sdy):
        dialect.register_dialect(context)
    context.load_all_available_dialects()
    context.allow_unregistered_dialects = True
    return context


def _parsed(context: Any, text: bytes) -> Any:
    from jaxlib.mlir import ir
    from jaxlib.mlir.dialects import stablehlo

    if not text.startswith(BYTECODE):
        return ir.Module.parse(text.decode("utf-8"), context)
    try:
        return stablehlo.deserialize_portable_artifact(context, text)
    except (ir.MLIRError, ValueError):
        return ir.Module.parse(text, context)


def _first_line(error: Exception) -> str:
    lines = [line for line in str(error).splitlines() if "error:" in line] or [str(error).partition("\n")[0]]
    return excerpt(lines[0].replace('"-":', "line ").replace("error: ", "").strip(), 160)


class _Reader:
    """Numbers the values of a module, and counts its operations."""

    def __init__(self) -> None:
        self._values: dict[Any, int] = {}
        self._operations = 0

    def module(self, module: Any) -> dict[str, Function]:
        functions = {}
        for operation in module.body.operations:
            if operation.operation.name == "func.func":
                function = self._function(operation.operation)
                functions[function.name] = function
        return functions

    def _function(self, operation: Any) -> Function:
        attributes = attributes_of(operation)
        name = str(attributes.get("sym_name", ""))
        if len(operation.regions) != 1 or len(operation.regions[0].blocks) != 1:
            return Function(name, Block([], []), [], [])
        block = operation.regions[0].blocks[0]
        labels = [_label(argument) for argument in block.arguments]
        body = self._block(block)
        last = body.operations[-1] if body.operations else None
        returned = (
            [type_of(value.type) for value in block.operations[len(body.operations) - 1].operands] if last else []
        )
        return Function(name, body, labels, returned)

    def _block(self, block: Any, depth: int = 0) -> Block:
        if depth > DEEPEST_REGIONS:
            raise VjproofError(WHERE, expected=f"at most {DEEPEST_REGIONS} regions within regions", got="more")
        arguments = [self._define(argument) for argument in block.arguments]
        result = Block(arguments, [type_of(argument.type) for argument in block.arguments])
        for view in block.operations:
            operation = view.operation
            self._operations += 1
            if self._operations > MOST_OPERATIONS:
                raise VjproofError(WHERE, expected=f"at most {MOST_OPERATIONS} operations", got="more")
            regions = [self._block(inner, depth + 1) for region in operation.regions for inner in region.blocks]
            result.operations.append(
                Operation(
                    operation.name,
                    [self._values[operand] for operand in operation.operands],
                    [self._define(value) for value in operation.results],
                    [type_of(value.type) for value in operation.results],
                    attributes_of(operation),
                    regions,
                    place_of(operation.location),
                )
            )
        return result

    def _define(self, value: Any) -> int:
        self._values[value] = len(self._values)
        return self._values[value]


def _label(argument: Any) -> str:
    """Return the name that a location gives to an argument, such as `params['w']`; "" where it gives none."""
    text = str(getattr(argument, "location", ""))[:300]
    found = text.removeprefix('loc("').removesuffix('")')
    return found if text.startswith('loc("') and text.endswith('")') and '"' not in found else ""
