"""One call for every format: arguments by name, weights by name where they are not inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from vjproof.layers.array import Array

FORM = {"stablehlo": "exported", "onnx": "model"}
Weights: TypeAlias = Mapping[str, Array] | None
Runner: TypeAlias = Callable[[Mapping[str, Array], Weights], Array]


def load(form: str, data: bytes, name: str, versions: Mapping[str, Any]) -> Runner:
    """Return the runner of a program from its bytes; VjproofError where this installation cannot read it.

    `versions` are those that the manifest says it was written with.
    """
    if form == "model":
        from vjproof.onnx_graph.run import load_model

        model = load_model(data, name, versions)
        return lambda arguments, weights: model({**arguments, **(weights or {})})
    from vjproof.stablehlo.run import load_exported

    program = load_exported(data, name, versions)

    def run(arguments: Mapping[str, Array], weights: Weights) -> Array:
        given: list[Any] = [arguments["images"], *([] if weights is None else [dict(weights)])]
        return program(*given, *(arguments[name] for name in arguments if name != "images"))

    return run
