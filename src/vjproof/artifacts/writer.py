"""Write the programs of a network into a folder, with a manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO, Any

from vjproof.artifacts import manifest
from vjproof.artifacts.choices import SYMBOLIC, Choices, parse_choices
from vjproof.artifacts.forms import file_names, make_forms, versions
from vjproof.classifier import Classifier
from vjproof.explain.output import write_atomically
from vjproof.files import Writer
from vjproof.vit.params import named_tensors

Advance = Callable[[int, int], None]


def export(
    model: Classifier,
    out: str | Path,
    *,
    format: str,  # noqa: A002 - the word that everybody expects
    what: str = "both",
    batch: str | int | Sequence[str | int] = SYMBOLIC,
    weights: str = "inside",
    target_version: str | None = None,
    opset: int | None = None,
    advance: Advance | None = None,
) -> dict[str, Any]:
    """Write forward pass and input gradient of `model` into the folder `out`, and return the manifest.

    `format` stablehlo or onnx; `what` gradient, forward or both; `batch` symbolic, a number of images, or several of
    these; `weights` inside or arguments. Programs take and give float32: images (B, C, H, W), d_logits (B, K).
    `advance` is told (programs done, programs in all). Files are whole or absent, the manifest is the last.
    VjproofError for bad arguments, a network or a version that the format cannot hold, and where the disk refuses.
    """
    choices = parse_choices(
        kind=format, what=what, batch=batch, weights=weights, target_version=target_version, opset=opset
    )
    return _Export(model, Path(out), choices, advance).write()


class _Export:
    """One export on its way: each program is made when its first file is written, so that one is held at a time."""

    def __init__(self, network: Classifier, folder: Path, choices: Choices, advance: Advance | None) -> None:
        self._network, self._folder, self._choices = network, folder, choices
        self._advance = advance or (lambda _done, _all: None)
        self._model = manifest.describe_model(network)
        self._versions = versions(choices)
        self._programs: list[dict[str, Any]] = []
        self._files: dict[str, dict[str, Any]] = {}
        self._forms: dict[str, bytes] = {}
        self.record: dict[str, Any] = {}

    def write(self) -> dict[str, Any]:
        jobs = [(what, batch) for what in self._choices.programs for batch in self._choices.batches]
        writers: dict[Path, Writer] = {}
        if not self._choices.weights_inside:
            writers[self._folder / manifest.WEIGHTS_FILE] = self._weights
        for number, (what, batch) in enumerate(jobs):
            names = file_names(self._choices, what, batch)
            for form, name in names.items():
                first = form == next(iter(names))
                writers[self._folder / name] = self._writer(form, name, (number, jobs) if first else None)
        writers[self._folder / manifest.NAME] = self._manifest
        write_atomically(writers)
        return self.record

    def _writer(self, form: str, name: str, making: tuple[int, list[Any]] | None) -> Writer:
        def write(file: IO[bytes]) -> None:
            if making is not None:
                number, jobs = making
                self._advance(number, len(jobs))
                self._make(*jobs[number])
            self._put(file, name, self._forms.pop(form))

        return write

    def _make(self, what: str, batch: int | None) -> None:
        self._forms, special, more = make_forms(self._network, self._choices, what, batch, self._model)
        self._versions |= more
        names = file_names(self._choices, what, batch)
        self._programs.append(
            manifest.describe_program(self._network.config, self._choices, what, batch, names, special)
        )

    def _weights(self, file: IO[bytes]) -> None:
        import numpy as np
        from safetensors.numpy import save

        tensors = {name: np.ascontiguousarray(t, np.float32) for name, t in named_tensors(self._network.params)}
        self._put(file, manifest.WEIGHTS_FILE, save(tensors))

    def _manifest(self, file: IO[bytes]) -> None:
        document = {
            "format": manifest.FORMAT, "kind": self._choices.kind,
            "versions": manifest.describe_tools(self._choices, self._versions), "model": self._model,
            "weights": "inside" if self._choices.weights_inside else manifest.WEIGHTS_FILE,
            "programs": self._programs, "files": self._files,
        }  # fmt: skip
        text = json.dumps(document, indent=2, allow_nan=False) + "\n"
        file.write(text.encode())
        self.record = json.loads(text)
        self._advance(len(self._programs), len(self._programs))

    def _put(self, file: IO[bytes], name: str, data: bytes) -> None:
        file.write(data)
        self._files[name] = {"bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
