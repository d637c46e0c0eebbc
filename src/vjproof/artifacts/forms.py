"""The files of one program in each format, as bytes, and how they keep the error function."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vjproof.artifacts.choices import Choices
from vjproof.classifier import Classifier

FORMS = {"stablehlo": {"text": ".mlir", "artifact": ".mlirbc", "exported": ".jax"}, "onnx": {"model": ".onnx"}}


def file_names(choices: Choices, what: str, batch: int | None) -> dict[str, str]:
    """Return the file's name for each form of a program."""
    stem = what if batch is None else f"{what}-batch{batch}"
    return {form: stem + suffix for form, suffix in FORMS[choices.kind].items()}


def versions(choices: Choices) -> dict[str, Any]:
    """Return the versions that the files are written in; VjproofError where they cannot be."""
    if choices.kind == "onnx":
        from onnx import helper

        from vjproof.onnx_graph.export import check_opset

        opset = check_opset(choices.opset)
        return {"opset": opset, "ir_version": helper.find_min_ir_version_for([helper.make_opsetid("", opset)])}
    from vjproof.stablehlo.portable import check_target, versions

    return {"stablehlo": versions()["newest"], "stablehlo_target": check_target(choices.target_version)}


def make_forms(
    network: Classifier, choices: Choices, what: str, batch: int | None, model: Mapping[str, Any]
) -> tuple[dict[str, bytes], Any, dict[str, Any]]:
    """Return (bytes of each form, how erf is kept in each, further versions) of one program."""
    inside = choices.weights_inside
    if choices.kind == "onnx":
        from vjproof.onnx_graph.export import export_model

        made = export_model(
            network.config, network.params, what, batch=batch, weights_inside=inside, opset=choices.opset,
            metadata=model,
        )  # fmt: skip
        has_erf = network.config.gelu == "erf" and network.config.depth > 0
        return {"model": made}, {"model": "1 - Erf" if has_erf else "none"}, {}
    from vjproof.stablehlo.export import export_module

    module = export_module(
        network.config, network.params, what, batch=batch, weights_inside=inside, target_version=choices.target_version
    )
    forms = {"text": module.text.encode(), "artifact": module.artifact, "exported": module.exported}
    return forms, module.special, {"calling_convention": module.calling_convention}
