"""Run an export from its folder, the files checked against the manifest; what goes wrong is said in one line.

Nobody needs this to run an export: `jax.export.deserialize`, onnxruntime and IREE do it alone.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from vjproof.artifacts import manifest, runners
from vjproof.artifacts.choices import FORMATS, SYMBOLIC
from vjproof.classifier import cotangent
from vjproof.errors import VjproofError, excerpt
from vjproof.layers.array import Array
from vjproof.weights.json_file import Fields, read_json

MOST_BYTES = 2**34
REMEDY = "export the model again"


class ExportedNetwork:
    """The programs of one export; `manifest` is its document, runners are loaded when first used."""

    def __init__(self, folder: Path, document: Fields) -> None:
        self._folder, self._document = folder, document
        self._runners: dict[str, runners.Runner] = {}
        self._weights: dict[str, Array] | None = None
        self.manifest = dict(document.values)

    def logits(self, images: Array) -> Array:
        """Return logits (B, K) for pre-processed images (B, C, H, W); VjproofError where no program takes them."""
        images = self._checked(images)
        return self._run("forward", images, {})

    def input_gradient(self, images: Array, target: Any) -> Array:
        """Return the gradient (B, C, H, W) of the target's logit, or of <target, logits>, at each image.

        `images` (B, C, H, W); `target` one class, B classes, or a cotangent (B, K). VjproofError where no program
        takes them, or the runtime is absent, too old or too new.
        """
        images = self._checked(images)
        classes = self._shape("gradient", "d_logits")[1]
        return self._run("gradient", images, {"d_logits": cotangent(target, len(images), classes, "float32")})

    def _checked(self, images: Array) -> Array:
        import numpy as np

        given, shape = np.asarray(images), self._shape(None, "images")[1:]
        if given.ndim != 4 or list(given.shape[1:]) != shape or given.dtype.kind not in "fiu":
            raise VjproofError(
                "images", expected=f"an array (batch, {', '.join(map(str, shape))})", got=f"{given.dtype} {given.shape}"
            )
        if not np.isfinite(given).all():
            raise VjproofError("images", expected="finite pixels", got="a NaN or an infinity")
        return given.astype(np.float32)

    def _run(self, what: str, images: Array, more: dict[str, Array]) -> Array:
        entry = self._entry(what, len(images))
        form = runners.FORM[str(self._document.text("kind"))]
        files = entry.section("files")
        name = files and files.text(form)
        if not name:
            raise entry.wrong("files", f"a file in the form {form!r}")
        if name not in self._runners:
            made = self._document.section("versions") or Fields(manifest.NAME, {})
            self._runners[name] = runners.load(form, self._bytes(name), name, made.values)
        return self._runners[name]({"images": images, **more}, self._arguments())

    def _arguments(self) -> dict[str, Array] | None:
        """Return the weights that the programs take, None where they are inside."""
        if self._document.text("weights") != manifest.WEIGHTS_FILE:
            return None
        if self._weights is None:
            from safetensors import SafetensorError
            from safetensors.numpy import load

            try:
                self._weights = load(self._bytes(manifest.WEIGHTS_FILE))
            except SafetensorError as problem:
                raise VjproofError(manifest.WEIGHTS_FILE, expected="safetensors", got=excerpt(problem)) from None
        return self._weights

    def _programs(self) -> list[Fields]:
        given = self._document.values.get("programs")
        if not isinstance(given, list) or not all(isinstance(entry, dict) for entry in given) or not given:
            raise self._document.wrong("programs", "a list of programs")
        return [Fields(f"{manifest.NAME}: programs", entry) for entry in given]

    def _entry(self, what: str, count: int) -> Fields:
        """Return the program for `count` images: one of that batch, else one of any batch."""
        batches = {_batch(entry): entry for entry in self._programs() if entry.text("program") == what}
        if not batches:
            raise VjproofError(
                str(self._folder), expected=f"the program {what}", got="an export without it",
                remedy=f"export it: --what {what}",
            )  # fmt: skip
        fitting = batches.get(count, batches.get(SYMBOLIC))
        if count < 1 or fitting is None:
            made = "1 or more" if SYMBOLIC in batches else " or ".join(str(b) for b in batches)
            raise VjproofError(
                "images", expected=f"{made}, the number that the program was exported for", got=f"{count} images",
                remedy=f"export it for others: --batch {max(count, 1)}, or --batch symbolic",
            )  # fmt: skip
        return fitting

    def _shape(self, what: str | None, name: str) -> list[int]:
        for entry in self._programs():
            arguments = entry.values.get("arguments")
            for argument in arguments if isinstance(arguments, list) and what in (None, entry.text("program")) else ():
                fields = argument if isinstance(argument, dict) else {}
                shape = fields.get("shape")
                whole = isinstance(shape, list) and all(type(n) is int and 0 < n < 2**24 for n in shape[1:])
                if fields.get("name") == name and isinstance(shape, list) and whole and shape:
                    return shape
        raise VjproofError(
            str(self._folder), expected=f"a program with the argument {name}", got="none", remedy="see --what"
        )

    def _bytes(self, name: str) -> bytes:
        """Return a file's bytes once they are those that the manifest speaks of."""
        files = self._document.section("files") or Fields(manifest.NAME, {})
        entry, path = files.section(name), self._folder / name
        if entry is None or Path(name).name != name:
            raise files.wrong(name, "an entry for the file")
        size = entry.integer("bytes", 0, MOST_BYTES)
        try:
            if path.stat().st_size != size:
                raise VjproofError(str(path), expected=f"{size} bytes", got=str(path.stat().st_size), remedy=REMEDY)
            data = path.read_bytes()
        except OSError as problem:
            raise VjproofError(str(path), expected="a readable file", got=str(problem.strerror)) from None
        if hashlib.sha256(data).hexdigest() != entry.text("sha256"):
            raise VjproofError(
                str(path), expected="the SHA-256 of its manifest", got="another: the file was changed", remedy=REMEDY
            )
        return data


def read_export(folder: str | Path) -> ExportedNetwork:
    """Return the network that `export` wrote into `folder`; VjproofError where it is none, or of a later format."""
    place = Path(folder)
    document = read_json(place / manifest.NAME)
    number = document.integer("format")
    if number != manifest.FORMAT or document.text("kind") not in FORMATS:
        raise VjproofError(
            str(place / manifest.NAME), expected=f"the manifest of an export, format {manifest.FORMAT}",
            got=f"format {number}, kind {excerpt(document.values.get('kind'))}",
            remedy="use the release of vjproof that wrote it, or export the model again",
        )  # fmt: skip
    return ExportedNetwork(place, document)


def _batch(entry: Fields) -> str | int | None:
    return SYMBOLIC if entry.values.get("batch") == SYMBOLIC else entry.integer("batch")
