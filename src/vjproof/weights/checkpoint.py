"""Loading a checkpoint: files, layout, choices, and what was made of them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from vjproof.errors import VjproofError
from vjproof.images.preprocessing import Preprocessing
from vjproof.vit.config import Config
from vjproof.vit.params import Params
from vjproof.weights.choices import Choices, pair, settle
from vjproof.weights.declared import Declared, Transform
from vjproof.weights.foreign import read_foreign
from vjproof.weights.hf_config import read_hf_config, read_preprocessor
from vjproof.weights.json_file import printable, read_json
from vjproof.weights.locate import Place, locate, open_tensors
from vjproof.weights.native import KEY, read_native
from vjproof.weights.positions import check_method, resize_positions
from vjproof.weights.report import LoadReport, Notes
from vjproof.weights.tensor_file import TensorFile
from vjproof.weights.timm_config import is_timm, read_timm_config
from vjproof.weights.transform import settle_preprocessing


@dataclass(frozen=True)
class Checkpoint:
    """A network ready to run: numpy parameters, class names, pre-processing, and the report of the loading.

    `source` is the path as given, `sha256` the digest of the weights file, `metadata` its own free text.
    """

    config: Config
    params: Params
    labels: tuple[str, ...]
    preprocessing: Preprocessing
    notes: LoadReport
    source: str
    sha256: str
    metadata: Mapping[str, str] = field(default_factory=dict)


def load(
    path: str | os.PathLike[str], *, heads: int | None = None, eps: float | None = None, gelu: str | None = None,
    image_size: int | tuple[int, int] | None = None, positions: str = "bicubic-antialias",
    mean: float | Sequence[float] | None = None, std: float | Sequence[float] | None = None,
    labels: Sequence[str] | None = None, pooling: str | None = None, grid: tuple[int, int] | None = None,
) -> Checkpoint:  # fmt: skip
    """Return the network stored at `path`: a folder, a .safetensors file, or a PyTorch file.

    Layouts by tensor names: timm, Hugging Face ViT (before and since version 5), DeiT, DINOv2, and our own.
    `heads`, `eps`, `gelu`, `pooling`, `mean`, `std`, `labels` override what the files declare; `grid` is the (rows,
    columns) of the stored positions when they are no square. `image_size`, (H, W) or one number in pixels, resizes the
    position embeddings by the method `positions`: "bicubic-antialias" (timm) or "bicubic" (Hugging Face).
    Tensors keep the file's float32 or float64; float16 and bfloat16 become float32 exactly.
    Raises VjproofError, one line, for anything that cannot be read as exactly one such network.
    """
    check_method(positions)
    choices = Choices(heads, eps, gelu, pooling, grid, image_size, positions, mean, std, labels)
    place, notes = locate(path), Notes()
    declared = _declared(place)
    with open_tensors(place.weights) as file:
        config, params, names, transform, metadata = _read(file, declared, choices, notes)
        digest = file.sha256
    config, params = _to_image_size(config, params, choices, notes)
    if labels is not None:
        names = tuple(map(str, labels))
        if len(names) != config.classes:
            raise VjproofError("labels", expected=f"{config.classes} names", got=str(len(names)))
    preprocessing = settle_preprocessing(transform, config, choices, notes.layout, notes)
    return Checkpoint(config, params, names, preprocessing, notes.freeze(), os.fspath(path), digest, metadata)


def _declared(place: Place) -> Declared:
    if place.config is None:
        declared = Declared()
    else:
        fields = read_json(place.config)
        declared = read_timm_config(fields) if is_timm(fields) else read_hf_config(fields)
    if place.preprocessor is not None:
        declared = dataclasses.replace(declared, transform=read_preprocessor(read_json(place.preprocessor)))
    return declared


def _read(
    file: TensorFile, declared: Declared, choices: Choices, notes: Notes
) -> tuple[Config, Params, tuple[str, ...], Transform, Mapping[str, str]]:
    if KEY in file.metadata:
        config, params, labels, transform, about = read_native(file, notes)
        stated = (("heads", choices.heads), ("eps", choices.eps), ("gelu", choices.gelu), ("pooling", choices.pooling))
        changes = {
            name: settle(notes, name, given, getattr(config, name), "the file", given, "")
            for name, given in stated if given is not None
        }  # fmt: skip
        return dataclasses.replace(config, **changes), params, labels, transform, about
    config, params, classifier = read_foreign(file, declared, choices, notes)
    numbers = tuple(map(str, range(config.classes)))
    if not classifier or declared.labels is None:
        if choices.labels is None:
            notes.assumed.append("class names are numbers: no file states names")
        return config, params, numbers, declared.transform, {}
    if len(declared.labels) != config.classes:
        raise VjproofError(
            f"{declared.where}: class names", expected=f"{config.classes} (the classifier's rows)",
            got=str(len(declared.labels)),
        )  # fmt: skip
    return config, params, tuple(map(printable, declared.labels)), declared.transform, {}


def _to_image_size(config: Config, params: Params, choices: Choices, notes: Notes) -> tuple[Config, Params]:
    """Return the network for the requested image size, its position embeddings resized."""
    size = choices.image_size
    if size is None:
        return config, params
    height, width = pair("image_size", size)
    target = dataclasses.replace(config, height=height, width=width)
    position = resize_positions(params.position, config.prefix, config.grid, target.grid, choices.positions)
    if target.grid != config.grid:
        notes.recognised.append(
            f"positions resized from {config.grid} to {target.grid} patches, {choices.positions} (argument)"
        )
    return target, params._replace(position=position)
