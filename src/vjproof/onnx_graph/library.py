"""The packages of the extra `onnx`, which may be absent."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from vjproof.errors import VjproofError, excerpt


def library(name: str) -> Any:
    """Return the module `onnx` or `onnxruntime`; VjproofError where it is not installed."""
    try:
        return import_module(name)
    except ImportError as problem:
        raise VjproofError(
            name, expected="the package to be installed", got=excerpt(problem), remedy="pip install 'vjproof[onnx]'"
        ) from None
