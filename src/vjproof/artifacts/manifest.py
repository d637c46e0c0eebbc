"""The manifest of an export: all that one must know to run it, and to know that it is whole."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import version
from typing import Any

from vjproof.artifacts.choices import SYMBOLIC, Choices
from vjproof.classifier import Classifier
from vjproof.vit.config import Config
from vjproof.vit.params import count, named_tensors, shapes

NAME = "manifest.json"
FORMAT = 1  # of this document
WEIGHTS_FILE = "weights.safetensors"
MEANING = {
    "images": "pre-processed pixels, (pixel - mean) / std per channel",
    "d_logits": "cotangent of the logits: row b holds the factors of image b's logits in the sum whose gradient is "
    "returned; 1 at one class gives that logit's gradient, 1 and -1 at two classes their margin's",
    "logits": "scores of the classes, before any softmax",
    "d_images": "gradient of sum(d_logits * logits) with respect to the images; nothing is averaged over the batch",
}


def describe_model(network: Classifier) -> dict[str, Any]:
    """Return the JSON-ready description of a network: sizes, eps, GELU, labels, pre-processing, digest."""
    config = network.config
    return {
        "name": network.name, "weights_sha256": network.sha256, "parameters": count(config), "config": asdict(config),
        "labels": list(network.labels), "preprocessing": asdict(network.preprocessing),
        "assumed": list(network.notes.assumed),
    }  # fmt: skip


def describe_program(
    config: Config, choices: Choices, what: str, batch: int | None, files: Mapping[str, str], special: Any
) -> dict[str, Any]:
    """Return the JSON-ready description of one program: its files by form, arguments in order, its result."""
    lead: Any = SYMBOLIC if batch is None else batch
    images, classes = [lead, *config.image_shape], [lead, config.classes]
    weights = {name: list(shape) for name, shape in named_tensors(shapes(config))}
    arguments = [_array("images", images)]
    if choices.kind == "stablehlo":  # JAX flattens a dict in the order of its keys
        weights = dict(sorted(weights.items()))
    rest = [] if choices.weights_inside else [_array(name, shape) for name, shape in weights.items()]
    cotangent = [_array("d_logits", classes)] if what == "gradient" else []
    arguments += rest + cotangent if choices.kind == "stablehlo" else cotangent + rest
    result = _array("d_images", images) if what == "gradient" else _array("logits", classes)
    return {
        "program": what, "batch": lead, "files": dict(files), "arguments": arguments, "result": result,
        "error_function": special,
    }  # fmt: skip


def _array(name: str, shape: list[Any]) -> dict[str, Any]:
    meaning = MEANING.get(name)
    return {"name": name, "shape": shape, "dtype": "float32", **({"meaning": meaning} if meaning else {})}


def describe_tools(choices: Choices, versions: Mapping[str, Any]) -> dict[str, Any]:
    """Return the versions of what wrote the export, and of what its files are written in."""
    tools = ("jax", "jaxlib") if choices.kind == "stablehlo" else ("onnx",)
    return {"vjproof": version("vjproof"), **{name: version(name) for name in tools}, **versions}
