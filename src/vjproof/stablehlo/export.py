"""The forward pass and the input gradient of a network as StableHLO modules, through `jax.export`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from vjproof.stablehlo import network, portable
from vjproof.stablehlo.composites import keep_special_functions
from vjproof.vit.config import Config
from vjproof.vit.params import Array, Params, named_tensors

# Plain array operations, the same on every device; XLA compiles them where the artifact is loaded.
PLATFORM = "cpu"


class Module(NamedTuple):
    """One exported program in three forms, and how each keeps the error function."""

    text: str  # StableHLO text
    artifact: bytes  # versioned portable artifact
    exported: bytes  # what jax.export.deserialize reads
    special: dict[str, str]  # form: "operation", "composite", "expanded", or "none" where the program has no erf
    calling_convention: int  # of jax.export


def export_module(
    config: Config,
    params: Params,
    what: str,
    *,
    batch: int | None = None,
    weights_inside: bool = True,
    target_version: str | None = None,
) -> Module:
    """Return the module of `forward` or `gradient` in float32, for `batch` images or, for None, any number of them.

    Arguments: images (B, C, H, W), the dict of weights where they are not inside, and for the gradient d_logits (B, K).
    Matrix products ask for the highest precision. VjproofError for a target version that cannot be written.
    """
    import jax
    import jax.numpy as jnp

    version = portable.check_target(target_version)
    tensors = dict(named_tensors(params))
    with jax.default_matmul_precision("highest"):
        inside = {name: jnp.asarray(tensor, "float32") for name, tensor in tensors.items()} if weights_inside else None
        shapes = None if weights_inside else {name: tuple(tensor.shape) for name, tensor in tensors.items()}
        function = network.program(config, what, inside)
        size = batch if batch is not None else jax.export.symbolic_shape("b")[0]
        arguments = network.arguments(config, what, shapes, size)
        kept = batch is not None and portable.keeps_composites(version)
        exported = _exported(_ready(function, what, batch, kept), arguments)
        text, artifact = portable.rewrite(exported.mlir_module_serialized, version)
        if batch is not None:  # the text of a fixed batch has the operation itself
            text = jax.jit(_named(function, what), keep_unused=True).lower(*arguments).as_text()
    exported = dataclasses.replace(exported, mlir_module_serialized=artifact)
    has_erf = config.gelu == "erf" and config.depth > 0
    how = {
        "text": "operation" if batch is not None else "expanded", "artifact": "composite" if kept else "expanded",
        "exported": "composite" if kept else "expanded",
    }  # fmt: skip
    return Module(
        text, artifact, bytes(exported.serialize(vjp_order=0)),
        how if has_erf else dict.fromkeys(how, "none"), exported.calling_convention_version,
    )  # fmt: skip


def _ready(function: Callable[..., Array], what: str, batch: int | None, kept: bool) -> Callable[..., Array]:
    """Return the function as it is exported, under the program's name."""
    import jax

    if kept:
        return _named(keep_special_functions(function), what)
    if batch is not None:
        return _named(function, what)

    # One example mapped over a symbolic batch: slices stay slices, where an index into a symbolic shape is a gather.
    def mapped(images: Array, *rest: Any) -> Array:
        axes = (0, *(None if isinstance(argument, Mapping) else 0 for argument in rest))
        result: Array = jax.vmap(function, axes)(images, *rest)
        return result

    return _named(mapped, what)


def _named(function: Callable[..., Array], what: str) -> Callable[..., Array]:
    def program(*arguments: Any) -> Array:
        return function(*arguments)

    program.__name__ = program.__qualname__ = what
    return program


def _exported(function: Callable[..., Array], arguments: list[Any]) -> Any:
    import jax
    import jax.export

    free = [jax.export.DisabledSafetyCheck.platform()]
    # Arguments that the program does not read stay: the gradient does not depend on the head's bias.
    compiled = jax.jit(function, keep_unused=True)
    return jax.export.export(compiled, platforms=[PLATFORM], disabled_checks=free)(*arguments)
