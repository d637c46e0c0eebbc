"""Run an ONNX model in onnxruntime, on the CPU."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.layers.array import Array
from vjproof.onnx_graph.library import library

REMEDY = "export the model again with an older --opset, or install another onnxruntime"


def load_model(data: bytes, name: str, versions: Mapping[str, Any]) -> Callable[[Mapping[str, Array]], Array]:
    """Return the function from inputs by name to the output that the bytes of the file `name` hold.

    `versions` are those of the manifest. VjproofError where onnxruntime is absent or cannot read the file, and from the
    function for inputs that do not fit.
    """
    runtime = library("onnxruntime")
    writer = f"opset {excerpt(versions.get('opset'), 20)}, file version {excerpt(versions.get('ir_version'), 20)}"

    def refusal(expected: str, problem: Exception) -> VjproofError:
        lines = str(problem).strip().splitlines() or [type(problem).__name__]
        got = f"{excerpt(lines[0], 160)} (written with {writer})"
        return VjproofError(name, expected=expected, got=got, remedy=REMEDY)

    try:
        session = runtime.InferenceSession(data, providers=["CPUExecutionProvider"])
    except Exception as problem:  # the errors of onnxruntime have no class in common
        raise refusal(f"a model that onnxruntime {runtime.__version__} reads", problem) from None

    def run(inputs: Mapping[str, Array]) -> Array:
        try:
            (result,) = session.run(None, dict(inputs))
        except Exception as problem:
            raise refusal("inputs that the model takes", problem) from None
        array: Array = result
        return array

    return run
