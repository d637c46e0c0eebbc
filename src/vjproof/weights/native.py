"""Our own layout: the tensors of `vit.params.named_tensors`, and one JSON text that states every choice.

The text stands in the safetensors metadata under "vjproof": {format, config, labels, preprocessing, about}.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from vjproof.errors import VjproofError
from vjproof.files import bytes_writer, write_together
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.vit.params import Params, named_tensors, shapes, unflatten
from vjproof.weights.assemble import check_tensors, refuse_non_finite
from vjproof.weights.declared import Transform
from vjproof.weights.json_file import Fields, parse, printable
from vjproof.weights.report import Notes
from vjproof.weights.tensor_file import TensorFile

KEY = "vjproof"
FORMAT = 1
WHOLE = ("channels", "height", "width", "patch", "hidden", "heads", "mlp", "depth", "classes", "prefix", "readout")


def save(
    path: str | os.PathLike[str], config: Config, params: Params, labels: Sequence[str],
    preprocessing: Preprocessing, metadata: Mapping[str, str] | None = None,
) -> None:  # fmt: skip
    """Write a network to one safetensors file; the same arguments give the same bytes.

    Tensors keep their dtype (float32 or float64). `metadata` is free text, kept under "about".
    Raises VjproofError when shapes, labels or image size disagree with `config`, or a number is not finite.
    """
    import numpy as np
    from safetensors.numpy import save as encode

    tensors = {name: np.ascontiguousarray(tensor) for name, tensor in named_tensors(params)}
    check_tensors(dict(named_tensors(shapes(config))), {n: t.shape for n, t in tensors.items()}, (), str(path))
    for name, tensor in tensors.items():
        if tensor.dtype not in (np.float32, np.float64):
            raise VjproofError(f"tensor {name}", expected="float32 or float64", got=str(tensor.dtype))
        refuse_non_finite(tensor, name, str(path))
    if len(labels) != config.classes:
        raise VjproofError("labels", expected=f"{config.classes} names", got=str(len(labels)))
    if (preprocessing.channels, *preprocessing.size) != config.image_shape:
        raise VjproofError("preprocessing", expected=str(config.image_shape), got=f"size {preprocessing.size}")
    document = {
        "format": FORMAT, "config": dataclasses.asdict(config), "labels": list(labels),
        "preprocessing": dataclasses.asdict(preprocessing), "about": dict(metadata or {}),
    }  # fmt: skip
    # One entry only: the order of several would change from run to run, and with it the file's digest.
    write_together({Path(path): bytes_writer(encode(tensors, {KEY: json.dumps(document, sort_keys=True)}))})


def read_native(file: TensorFile, notes: Notes) -> tuple[Config, Params, tuple[str, ...], Transform, dict[str, str]]:
    """Return config, parameters, labels, pre-processing and free text of a file in our layout."""
    notes.layout = "vjproof"
    where = f"{file.where}: metadata {KEY}"
    fields = Fields(where, parse(file.metadata[KEY].encode(), where))
    if fields.integer("format") != FORMAT:
        raise fields.wrong("format", f"{FORMAT}, the format of this version")
    config = _config(fields.needed("config"), len(file.shapes))
    needed = dict(named_tensors(shapes(config)))
    check_tensors(needed, file.shapes, (), file.where)
    tensors = {name: file.read(name) for name in needed}
    for name, tensor in tensors.items():
        refuse_non_finite(tensor, name, file.where)
    labels = fields.texts("labels")
    if labels is None or len(labels) != config.classes:
        raise fields.wrong("labels", f"{config.classes} names")
    transform = _transform(fields.needed("preprocessing"))
    notes.recognised.append(f"all choices are stated in the file: eps {config.eps}, GELU {config.gelu}")
    about = fields.section("about")
    text = {printable(key): str(value) for key, value in about.values.items()} if about else {}
    return config, unflatten(config, tensors), labels, transform, text


def _config(fields: Fields, tensors: int) -> Config:
    names = {field.name for field in dataclasses.fields(Config)}
    if set(fields.values) != names:
        raise VjproofError(fields.where, expected=f"the fields {', '.join(sorted(names))}", got="other fields")
    whole = {name: fields.integer(name, low=0) for name in WHOLE}
    depth, eps, gelu, pooling = whole["depth"], fields.number("eps"), fields.text("gelu"), fields.text("pooling")
    layer_scale = fields.flag("layer_scale")
    # Every block has sixteen tensors or more: a depth beyond that lies, and is not expanded.
    if None in whole.values() or depth is None or 16 * depth > tensors:
        raise VjproofError(fields.where, expected="sizes that fit the tensors", got=f"depth {depth}, {tensors} tensors")
    if eps is None or gelu is None or pooling is None or layer_scale is None:
        raise VjproofError(fields.where, expected="eps, gelu, pooling and layer_scale", got="null")
    sizes = {name: value for name, value in whole.items() if value is not None}
    return Config(**sizes, eps=eps, gelu=gelu, pooling=pooling, layer_scale=layer_scale)


def _transform(fields: Fields) -> Transform:
    resize = fields.values.get("resize")
    return Transform(
        "the file", fields.size("size"),
        fields.size("resize") if isinstance(resize, list) else fields.integer("resize", high=65536),
        fields.text("resample"), fields.numbers("mean"), fields.numbers("std"),
    )  # fmt: skip
