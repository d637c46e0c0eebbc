"""This package as its users call it: an engine, or the ONNX export in onnxruntime."""

from __future__ import annotations

from tempfile import TemporaryDirectory
from typing import Any

from vjproof.classifier import Classifier
from vjproof.vit.params import Array


class Ours:
    """One engine in one dtype."""

    def __init__(self, model: Classifier, engine: str, dtype: str) -> None:
        self.model, self.how = model, {"engine": engine, "dtype": dtype}

    def gradient(self, images: Array, d_logits: Array) -> Array:
        """Return the input gradient (B, C, H, W) for images (B, C, H, W) and cotangents (B, K)."""
        return self.model.input_gradient(images, d_logits, **self.how)

    def rows(self, image: Array, d_logits: Array) -> Array:
        """Return the gradients (T, C, H, W) at one image (1, C, H, W) for cotangents (T, K)."""
        return self.model.jacobian(image, d_logits, **self.how)[0]


class OnnxExport:
    """The exported gradient program, any batch."""

    def __init__(self, model: Classifier) -> None:
        import numpy as np

        from vjproof.artifacts.reader import read_export
        from vjproof.artifacts.writer import export

        with TemporaryDirectory() as folder:
            export(model, folder, format="onnx", batch="symbolic", what="gradient")
            self.program: Any = read_export(folder)
            image = np.zeros((1, *model.config.image_shape), np.float32)
            self.gradient(image, np.zeros((1, model.config.classes), np.float32))  # reads the file, which then goes

    def gradient(self, images: Array, d_logits: Array) -> Array:
        """Return the input gradient (B, C, H, W) for images (B, C, H, W) and cotangents (B, K)."""
        return self.program.input_gradient(images, d_logits)
