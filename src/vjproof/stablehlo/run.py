"""Run a program that `jax.export` serialised."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from vjproof.errors import VjproofError, excerpt
from vjproof.layers.array import Array

REMEDY = "export the model again, or install the jax that wrote it"


def load_exported(data: bytes, name: str, versions: Mapping[str, Any]) -> Callable[..., Array]:
    """Return the function that the bytes of the file `name` hold, of NumPy arrays and dicts of them.

    `versions` are those of the manifest. VjproofError where this jax cannot read the file, which it promises for about
    six months, and from the function for arguments that do not fit.
    """
    import jax
    import jax.export
    import numpy as np

    convention = versions.get("calling_convention")
    low = jax.export.minimum_supported_calling_convention_version
    high = jax.export.maximum_supported_calling_convention_version
    writer = f"calling convention {excerpt(convention, 20)} of jax {excerpt(versions.get('jax'), 20)}"
    if type(convention) is not int or not low <= convention <= high:
        raise VjproofError(
            name, expected=f"calling conventions {low} to {high}, which jax {jax.__version__} reads", got=writer,
            remedy=REMEDY,
        )  # fmt: skip
    try:
        exported = jax.export.deserialize(bytearray(data))
    except Exception as problem:  # JAX and its parser of flat buffers raise whatever they meet
        raise _refusal(name, f"a program that jax {jax.__version__} reads", problem, writer) from None

    def run(*arguments: Any) -> Array:
        try:
            return np.asarray(exported.call(*arguments))
        except (ValueError, TypeError) as problem:
            raise _refusal(name, "arguments and a program that jax runs", problem, writer) from None

    return run


def _refusal(name: str, expected: str, problem: Exception, writer: str) -> VjproofError:
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    return VjproofError(name, expected=expected, got=f"{excerpt(lines[0], 160)} (written with {writer})", remedy=REMEDY)
